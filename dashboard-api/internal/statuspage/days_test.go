package statuspage

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
)

// There are ninety days whatever the clocks do at their midnights, each from its first instant
// to that of the next, and the last is today.
func TestNinetyDaysInAnyZone(t *testing.T) {
	t.Parallel()
	for zone, around := range map[string]time.Time{
		"America/Havana": time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC),   // of which the first hour is skipped
		"Pacific/Apia":   time.Date(2011, 12, 30, 0, 0, 0, 0, time.UTC), // which is skipped
		"UTC":            time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	} {
		page := pagestore.Page{Terms: pagestore.Terms{Zone: zone}}
		for at := around.Add(7 * time.Hour); at.Before(around.AddDate(0, 0, 2*daysShown)); at = at.AddDate(0, 0, 1) {
			window, days := Days(page, at)
			whole := availability.Periods(availability.Span{From: window.From.Add(-time.Millisecond), To: at}, zoneOf(page), availability.ByDay)
			if today := at.In(zoneOf(page)).Format(time.DateOnly); len(days) != daysShown || days[daysShown-1].Name != today {
				t.Fatalf("%s, %v: %d days, the last %s", zone, at, len(days), days[len(days)-1].Name)
			}
			if !window.From.Equal(days[0].From) || !window.To.Equal(at) || days[0].Partial || len(whole) != daysShown+1 {
				t.Fatalf("%s, %v: %v begins with %+v", zone, at, window, days[0])
			}
		}
	}
	_, days := Days(pagestore.Page{Terms: pagestore.Terms{Zone: "America/Havana"}}, time.Date(2026, 6, 5, 15, 0, 0, 0, time.UTC))
	if first := days[0]; first.Name != "2026-03-08" || !first.From.Equal(time.Date(2026, 3, 8, 5, 0, 0, 0, time.UTC)) {
		t.Errorf("the first is %+v", first)
	}
}
