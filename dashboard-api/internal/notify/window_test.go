package notify

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

type (
	window = incidentstore.Window
	terms  = incidentstore.Terms
)

func clock(hour, minute int) int { return hour*60 + minute }

// Sunday, 1 March 2026.
func TestWhenARuleSpeaks(t *testing.T) {
	t.Parallel()
	weekdays := []time.Weekday{1, 2, 3, 4, 5}
	office := terms{Zone: "Europe/Berlin", Schedule: []window{{Days: weekdays, From: clock(9, 0), To: clock(17, 0)}}}
	night := terms{Zone: "Europe/Berlin", Quiet: []window{{From: clock(22, 0), To: clock(7, 0)}}, QuietLets: []incidentstore.Severity{incidentstore.Down}}
	friday := terms{Quiet: []window{{Days: []time.Weekday{5}, From: clock(18, 0), To: clock(8, 0)}}}
	both := terms{Schedule: []window{{From: clock(8, 0), To: clock(20, 0)}}, Quiet: []window{{From: clock(12, 0), To: clock(13, 0)}}}
	for name, c := range map[string]struct {
		terms    terms
		severity incidentstore.Severity
		at, want string
	}{
		"always":                      {terms{}, incidentstore.Down, "2026-03-01T03:00:07Z", "2026-03-01T03:00:07Z"},
		"in office hours":             {office, incidentstore.Down, "2026-03-02T08:00:00Z", "2026-03-02T08:00:00Z"},
		"before them":                 {office, incidentstore.Down, "2026-03-02T07:59:59Z", "2026-03-02T08:00:00Z"},
		"at their end":                {office, incidentstore.Down, "2026-03-02T16:00:00Z", "2026-03-03T08:00:00Z"},
		"over the weekend":            {office, incidentstore.Down, "2026-03-06T16:30:00Z", "2026-03-09T08:00:00Z"},
		"after the clocks went ahead": {office, incidentstore.Down, "2026-03-28T16:30:00Z", "2026-03-30T07:00:00Z"},
		"an hour the clocks skip":     {terms{Zone: "Europe/Berlin", Schedule: []window{{Days: []time.Weekday{0}, From: clock(2, 15), To: clock(2, 45)}}}, incidentstore.Down, "2026-03-22T02:00:00Z", "2026-04-05T00:15:00Z"},
		"quiet":                       {night, incidentstore.Degraded, "2026-03-01T23:00:00Z", "2026-03-02T06:00:00Z"},
		"quiet lets through":          {night, incidentstore.Down, "2026-03-01T23:00:00Z", "2026-03-01T23:00:00Z"},
		"quiet before midnight":       {night, incidentstore.Degraded, "2026-03-01T21:00:01Z", "2026-03-02T06:00:00Z"},
		"short night of the clocks":   {night, incidentstore.Degraded, "2026-03-28T23:00:00Z", "2026-03-29T05:00:00Z"},
		"long night of the clocks":    {night, incidentstore.Degraded, "2026-10-24T23:00:00Z", "2026-10-25T06:00:00Z"},
		"of friday into saturday":     {friday, incidentstore.Down, "2026-03-07T07:59:00Z", "2026-03-07T08:00:00Z"},
		"not of saturday into sunday": {friday, incidentstore.Down, "2026-03-08T07:00:00Z", "2026-03-08T07:00:00Z"},
		"schedule and quiet":          {both, incidentstore.Down, "2026-03-01T12:30:00Z", "2026-03-01T13:00:00Z"},
		"unknown zone":                {terms{Zone: "Mars/Base", Schedule: []window{{From: 0, To: 60}}}, incidentstore.Down, "2026-03-01T02:00:00Z", "2026-03-02T00:00:00Z"},
		"whole days":                  {terms{Schedule: []window{{Days: []time.Weekday{3}, From: 0, To: 0}}}, incidentstore.Down, "2026-03-01T02:00:00Z", "2026-03-04T00:00:00Z"},
	} {
		got, ever := next(c.terms, c.severity, instant(t, c.at))
		if !ever || !got.Equal(instant(t, c.want)) {
			t.Errorf("%s: %v %v, want %s", name, got, ever, c.want)
		}
	}
	never := terms{Schedule: []window{{From: 60, To: 120}}, Quiet: []window{{From: 0, To: 180}}}
	if !NeverSpeaks(never, time.Now()) || NeverSpeaks(night, time.Now()) {
		t.Error("who never speaks is not told")
	}
}

// Whatever the windows are and the clocks do: the first minute is that which is found by trying each.
func TestTheFirstMinuteIsFound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 46))
	some := func(least, most, until int) (all []window) {
		for range least + random.IntN(most+1) {
			w := window{From: random.IntN(until), To: random.IntN(until + 1)}
			for day := range time.Weekday(7) {
				if random.IntN(3) > 0 {
					w.Days = append(w.Days, day)
				}
			}
			all = append(all, w)
		}
		return all
	}
	for _, of := range [][2]string{
		{"Europe/Berlin", "2026-03-29T01:00:00Z"}, {"Europe/Berlin", "2026-10-25T01:00:00Z"}, // when its clocks are put forward, and back
		{"America/St_Johns", "2026-03-08T05:30:00Z"}, {"America/St_Johns", "2026-11-01T04:30:00Z"},
		{"Australia/Lord_Howe", "2026-10-03T15:30:00Z"}, {"Australia/Lord_Howe", "2026-04-04T15:00:00Z"}, // by half an hour
		{"Asia/Kathmandu", "2026-06-01T00:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z"}, // a day is left out
	} {
		for i := range 200 {
			c := terms{Zone: of[0], Schedule: some(1, 2, 6*60), Quiet: some(0, 2, 12*60)} // in the hours about it
			at := instant(t, of[1]).Add(-time.Duration(random.IntN(8*3600)) * time.Second)
			if i%4 == 0 { // anywhere
				c, at = terms{Zone: of[0], Schedule: some(0, 3, dayMinutes), Quiet: some(0, 4, dayMinutes)}, at.Add(-time.Duration(random.IntN(7*24))*time.Hour)
			}
			zone := zoneOf(c)
			want, wanted := at, speaks(c, incidentstore.Down, at, zone)
			for n := 1; !wanted && n <= lookAhead; n++ {
				want = at.Truncate(time.Minute).Add(time.Duration(n) * time.Minute)
				wanted = speaks(c, incidentstore.Down, want, zone)
			}
			if got, ever := next(c, incidentstore.Down, at); ever != wanted || wanted && !got.Equal(want) {
				t.Fatalf("%+v after %v: %v %v, want %v %v", c, at, got, ever, want, wanted)
			} else if ever && got.Location() != at.Location() {
				t.Fatalf("%+v after %v: %v is of another zone", c, at, got)
			}
		}
	}
}

func TestDigestsComeTogether(t *testing.T) {
	t.Parallel()
	digest := terms{DigestMinutes: 30, Quiet: []window{{From: clock(22, 0), To: clock(7, 10)}}}
	for at, want := range map[string]string{
		"2026-03-01T10:00:00Z": "2026-03-01T10:00:00Z",
		"2026-03-01T10:00:01Z": "2026-03-01T10:30:00Z",
		"2026-03-01T23:00:00Z": "2026-03-02T07:30:00Z",
		"2026-03-01T21:45:00Z": "2026-03-02T07:10:00Z", // its time is in the quiet hours
	} {
		if got, _, ever := due(digest, incidentstore.Down, instant(t, at)); !ever || !got.Equal(instant(t, want)) {
			t.Errorf("%s: %v, want %s", at, got, want)
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
