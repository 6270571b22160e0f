package availability

import (
	"strings"
	"testing"
	"time"
)

func TestDaysAreAsLongAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, day, from string
		hours           float64
	}{
		{"", "2026-03-29", "2026-03-29T00:00:00Z", 24},
		{"UTC", "2024-02-29", "2024-02-29T00:00:00Z", 24},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", 25},
		{"Asia/Kolkata", "2026-03-29", "2026-03-28T18:30:00Z", 24},
		{"Asia/Kathmandu", "2026-03-29", "2026-03-28T18:15:00Z", 24},
		{"Pacific/Chatham", "2026-04-05", "2026-04-04T10:15:00Z", 25},
		{"Pacific/Chatham", "2026-09-27", "2026-09-26T11:15:00Z", 23},
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", 24.5},
		{"Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00Z", 23.5},
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", 24},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", 24},
		{"Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00Z", 24},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", 23}, // midnight was skipped: the day begins at 01:00
		{"America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", 25}, // its last hour came twice
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", 25},    // its first hour comes twice
		{"America/St_Johns", "2010-11-07", "2010-11-07T02:30:00Z", 25},  // it began, ended after a minute, and began again
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", 23},
	} {
		from := at(c.from)
		days := Periods(Span{from.Add(-72 * time.Hour), from.Add(72 * time.Hour)}, zone(t, c.zone), ByDay)
		found := false
		for _, day := range days {
			if day.Name == c.day {
				found = true
				if hours := day.To.Sub(day.From).Hours(); !day.From.Equal(from) || hours != c.hours || day.Partial {
					t.Errorf("%s in %s is %+v, %v hours", c.day, c.zone, day, hours)
				}
			}
		}
		if !found {
			t.Errorf("%s is not among %v", c.day, days)
		}
	}
}

func TestSkippedDayIsNotThere(t *testing.T) {
	t.Parallel()
	days := Periods(Span{at("2011-12-28T10:00:00Z"), at("2011-12-31T10:00:00Z")}, zone(t, "Pacific/Apia"), ByDay)
	var names []string
	for _, d := range days {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != "2011-12-28 2011-12-29 2011-12-31" {
		t.Error(got)
	}
	month, err := Month("2011-12", zone(t, "Pacific/Apia"))
	if err != nil || month.To.Sub(month.From) != 30*24*time.Hour {
		t.Errorf("December has %v, %v", month.To.Sub(month.From), err)
	}
}

// Over decades and every awkward zone: days and months cover the time without gap or
// overlap, begin on quarter hours, and begin where the clock on the wall says so.
func TestPeriodsCoverTheTime(t *testing.T) {
	t.Parallel()
	window := Span{at("2005-06-15T12:34:56Z"), at("2035-01-02T03:04:05Z")}
	for _, name := range []string{
		"UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/St_Johns", "America/Havana", "America/Sao_Paulo", "America/Asuncion", "America/Santiago",
		"America/Caracas", "Africa/Cairo", "Africa/Casablanca", "Asia/Beirut", "Asia/Gaza", "Asia/Tehran", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Pyongyang", "Asia/Amman",
		"Australia/Lord_Howe", "Australia/Eucla", "Pacific/Chatham", "Pacific/Apia", "Pacific/Fakaofo", "Pacific/Kiritimati", "Pacific/Marquesas", "Antarctica/Troll", "Antarctica/Casey",
	} {
		zone := zone(t, name)
		for _, by := range []By{ByDay, ByMonth} {
			layout := map[By]string{ByDay: "2006-01-02", ByMonth: "2006-01"}[by]
			end, last := window.From, ""
			periods := Periods(window, zone, by)
			for i, p := range periods {
				if !p.From.Equal(end) || p.Empty() || p.Name <= last {
					t.Fatalf("%s: %+v follows %s, which ends %v", name, p, last, end)
				}
				if p.Partial != (i == 0 || i == len(periods)-1) {
					t.Fatalf("%s: %+v", name, p)
				}
				if i > 0 && !p.From.Equal(p.From.Truncate(Quarter)) {
					t.Fatalf("%s: %+v does not begin on a quarter hour", name, p)
				}
				if wall := p.From.In(zone).Format(layout); wall != p.Name {
					t.Fatalf("%s: %s begins when it is %s", name, p.Name, wall)
				}
				if before := p.From.Add(-time.Millisecond).In(zone).Format(layout); i > 0 && before >= p.Name {
					t.Fatalf("%s: before %s begins it is %s", name, p.Name, before)
				}
				end, last = p.To, p.Name
			}
			if !end.Equal(window.To) {
				t.Fatalf("%s: ends %v", name, end)
			}
		}
	}
}

func TestZonesAndMonthsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Local", "localtime", "posixrules", "right/Europe/Berlin", "posix/UTC", "Europe/Nowhere", "../../etc/passwd", "/etc/localtime", "Europe", "\x00", strings.Repeat("x", 5000)} {
		if zone, err := Zone(name); err == nil {
			t.Errorf("%.20q is %v", name, zone)
		} else if len(err.Error()) > 200 {
			t.Errorf("%.20q: an error of %d characters", name, len(err.Error()))
		}
	}
	for _, name := range []string{"", "2026", "2026-13", "2026-3", "2026-03-01", "26-03", "-026-03"} {
		if month, err := Month(name, time.UTC); err == nil {
			t.Errorf("%q is %v", name, month)
		}
	}
	if none := Periods(Span{at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z")}, time.UTC, ByNone); none != nil {
		t.Error(none)
	}
	if none := Periods(Span{at("2026-03-01T00:00:00Z"), at("2026-03-01T00:00:00Z")}, time.UTC, ByDay); none != nil {
		t.Error(none)
	}
}
