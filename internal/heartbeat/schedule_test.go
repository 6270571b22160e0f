package heartbeat_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/uptime"
)

func cronOf(t *testing.T, text, zone string) *heartbeat.Schedule {
	t.Helper()
	s, err := heartbeat.New(uptime.HeartbeatSpec{Cron: text, Zone: zone, GraceS: 600})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCronOverClockChanges: the slots of a stretch around a change, as instants.
func TestCronOverClockChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone, cron, from, to string
		want                 string // MM-DDTHH:MM in UTC
	}{
		// New York: 2026-03-08 02:00 EST (-5) becomes 03:00 EDT (-4) at 07:00 UTC; 2026-11-01 02:00 EDT becomes 01:00 EST at 06:00 UTC.
		"New York forward, in the hour left out":  {"America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z", "2026-03-10T00:00:00Z", "03-08T07:00 03-09T06:30"},
		"New York forward, several in that hour":  {"America/New_York", "0,15,30 2 * * *", "2026-03-08T00:00:00Z", "2026-03-09T06:20:00Z", "03-08T07:00 03-09T06:00 03-09T06:15"},
		"New York forward, at the jump itself":    {"America/New_York", "0 3 * * *", "2026-03-07T12:00:00Z", "2026-03-09T12:00:00Z", "03-08T07:00 03-09T07:00"},
		"New York forward, left out and the jump": {"America/New_York", "30 2,3 * * *", "2026-03-08T00:00:00Z", "2026-03-09T00:00:00Z", "03-08T07:00 03-08T07:30"},
		"New York forward, each hour":             {"America/New_York", "0 * * * *", "2026-03-08T05:30:00Z", "2026-03-08T08:30:00Z", "03-08T06:00 03-08T07:00 03-08T08:00"},
		"New York back, in the hour that repeats": {"America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z", "2026-11-03T00:00:00Z", "11-01T05:30 11-02T06:30"},
		"New York back, where the hour begins":    {"America/New_York", "0 1 * * *", "2026-10-31T12:00:00Z", "2026-11-03T00:00:00Z", "11-01T05:00 11-02T06:00"},
		"New York back, where it ends":            {"America/New_York", "0 2 * * *", "2026-10-31T12:00:00Z", "2026-11-03T00:00:00Z", "11-01T07:00 11-02T07:00"},
		"New York back, each hour":                {"America/New_York", "0 * * * *", "2026-11-01T04:30:00Z", "2026-11-01T07:30:00Z", "11-01T05:00 11-01T06:00 11-01T07:00"},
		"New York back, each half hour":           {"America/New_York", "*/30 * * * *", "2026-11-01T05:10:00Z", "2026-11-01T06:40:00Z", "11-01T05:30 11-01T06:00 11-01T06:30"},
		// Berlin: 2026-03-29 01:00 UTC forward, 2026-10-25 01:00 UTC back (03:00 CEST becomes 02:00 CET).
		"Berlin forward": {"Europe/Berlin", "15 2 * * *", "2026-03-28T12:00:00Z", "2026-03-31T00:00:00Z", "03-29T01:00 03-30T00:15"},
		"Berlin back":    {"Europe/Berlin", "15 2 * * *", "2026-10-24T12:00:00Z", "2026-10-27T00:00:00Z", "10-25T00:15 10-26T01:15"},
		"Berlin back, asked within the repetition": {"Europe/Berlin", "15 2 * * *", "2026-10-25T01:05:00Z", "2026-10-27T00:00:00Z", "10-26T01:15"},
		// Lord Howe: half an hour. 2026-10-04 02:00 (+10:30) becomes 02:30 (+11) at 10-03T15:30Z; 2026-04-05 02:00 (+11) becomes 01:30 at 04-04T15:00Z.
		"Lord Howe forward":            {"Australia/Lord_Howe", "10 2 * * *", "2026-10-03T00:00:00Z", "2026-10-05T00:00:00Z", "10-03T15:30 10-04T15:10"},
		"Lord Howe back":               {"Australia/Lord_Howe", "45 1 * * *", "2026-04-04T00:00:00Z", "2026-04-06T00:00:00Z", "04-04T14:45 04-05T15:15"},
		"Lord Howe back, each quarter": {"Australia/Lord_Howe", "*/15 * * * *", "2026-04-04T14:40:00Z", "2026-04-04T15:35:00Z", "04-04T14:45 04-04T15:00 04-04T15:15 04-04T15:30"},
		"UTC":                          {"", "0 0 1 * *", "2026-01-15T00:00:00Z", "2026-04-15T00:00:00Z", "02-01T00:00 03-01T00:00 04-01T00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cronOf(t, c.cron, c.zone)
			from, to := instant(t, c.from), instant(t, c.to)
			var got []string
			for at := s.After(from); at.Before(to) && len(got) < 50; at = s.After(at) {
				got = append(got, at.Format("01-02T15:04"))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

// TestCronSlotsAreMonotonic: whatever the zone and expression, asking from anywhere
// between two slots gives the later one.
func TestCronSlotsAreMonotonic(t *testing.T) {
	t.Parallel()
	slots := 600
	if testing.Short() {
		slots = 100
	}
	for _, zone := range []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"} {
		for _, text := range []string{"*/7 * * * *", "13 1-3 * * *", "0 2 * * 0", "30 */2 * * *"} {
			s := cronOf(t, text, zone)
			at := instant(t, "2026-03-01T00:00:00Z")
			for range slots {
				next := s.After(at)
				if !next.After(at) {
					t.Fatalf("%s in %s: after %v comes %v", text, zone, at, next)
				}
				for _, between := range []time.Time{at.Add(next.Sub(at) / 2), next.Add(-time.Millisecond), at.Add(time.Second)} {
					if again := s.After(between); !again.Equal(next) && between.Before(next) {
						t.Fatalf("%s in %s: after %v comes %v, after %v comes %v", text, zone, at, next, between, again)
					}
				}
				at = next
			}
		}
	}
}

func TestParseCronRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "* * * *", "* * * * * *", "@daily", "@every 1h", "TZ=Europe/Berlin 0 2 * * *", "CRON_TZ=UTC * * * *", "61 * * * *", "0 0 30 2 *", strings.Repeat("1,", 200) + "1 * * * *"} {
		if _, err := heartbeat.ParseCron(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	for _, zone := range []string{"Local", "localtime", "posixrules", "right/Europe/Berlin", "posix/Europe/Berlin", "Nowhere/Town", "../etc/passwd"} {
		if _, err := heartbeat.Zone(zone); err == nil {
			t.Errorf("zone %q was accepted", zone)
		}
	}
}

func TestLongest(t *testing.T) {
	t.Parallel()
	from := instant(t, "2026-01-01T00:00:00Z")
	for text, want := range map[string]time.Duration{
		"0 2 * * *": 24 * time.Hour, "0 2 1 * *": 31 * 24 * time.Hour, "0 9-17 * * 1-5": 64 * time.Hour, "* * 1-5 * *": 26*24*time.Hour + time.Minute, "*/5 * * * *": 5 * time.Minute,
	} {
		if got := cronOf(t, text, "").Longest(from); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
