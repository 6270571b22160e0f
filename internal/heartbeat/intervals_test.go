package heartbeat

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A down slot stands until the next slot: not for the longest time that ever is between two.
func TestIntervalsAreTheTimeBetweenSlots(t *testing.T) {
	t.Parallel()
	// March 2026 begins on a Sunday; clocks in Berlin go forward on the 29th.
	month := availability.Span{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC) }
	for cron, c := range map[string]struct {
		zone    string
		changes int
		want    map[time.Time]time.Duration
	}{
		"30 2 * * 1-5": {"", 9, map[time.Time]time.Duration{at(2, 2, 30): 24 * time.Hour, at(5, 2, 30): 24 * time.Hour, at(6, 2, 30): 72 * time.Hour, at(9, 2, 30): 24 * time.Hour}},
		"37 2 * * 1-5": {"", 9, map[time.Time]time.Duration{at(5, 2, 37): 24 * time.Hour, at(6, 2, 37): 72 * time.Hour, at(6, 2, 30): 72 * time.Hour, at(9, 2, 30): 24 * time.Hour}},
		"0 1 * * *":    {"Europe/Berlin", 3, map[time.Time]time.Duration{at(27, 0, 0): 24 * time.Hour, at(29, 0, 0): 23 * time.Hour, at(29, 23, 0): 24 * time.Hour}},
		"*/7 * * * *":  {"", 1, map[time.Time]time.Duration{at(3, 4, 0): 400 * time.Second}}, // nine an hour, the last for four minutes
		"*/5 * * * *":  {"", 1, map[time.Time]time.Duration{at(3, 4, 5): 5 * time.Minute}},
		"0 0 1 1 *":    {"", 1, map[time.Time]time.Duration{at(3, 4, 5): 365 * 24 * time.Hour}},
		"0 9,17 * * *": {"", 63, map[time.Time]time.Duration{at(3, 9, 0): 8 * time.Hour, at(3, 17, 0): 16 * time.Hour}},
	} {
		s, err := New(uptime.HeartbeatSpec{Cron: cron, Zone: c.zone, GraceS: 60})
		if err != nil {
			t.Fatal(err)
		}
		got := s.Intervals(month)
		if len(got) > c.changes || len(got) < min(c.changes, 2) {
			t.Errorf("%s: %d changes: %v", cron, len(got), got)
		}
		for slot, want := range c.want {
			if every := got.At(slot); every != want {
				t.Errorf("%s: %v stands for %v, want %v", cron, slot, every, want)
			}
		}
	}
	s, err := New(uptime.HeartbeatSpec{Cron: "*/1 * * * *"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Intervals(availability.Span{From: month.From.AddDate(-5, 0, 0), To: month.From}); len(got) != 1 || got[0].Every != time.Minute {
		t.Errorf("years of minutes: %v", got)
	}
	if s, err = New(uptime.HeartbeatSpec{PeriodS: 600}); err != nil {
		t.Fatal(err)
	}
	if got := s.Intervals(month); len(got) != 1 || got[0].Every != 10*time.Minute {
		t.Errorf("a period: %v", got)
	}
}
