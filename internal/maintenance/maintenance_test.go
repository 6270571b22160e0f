package maintenance

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/verdict"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func must(t *testing.T, w Window) *Schedule {
	t.Helper()
	s, found := New(w)
	if found != nil {
		t.Fatalf("%+v: %v", w, found)
	}
	return s
}

func text(all []verdict.Span) string {
	var lines []string
	for _, s := range all {
		lines = append(lines, s.From.Format("01-02T15:04")+"/"+s.To.Format("01-02T15:04"))
	}
	return strings.Join(lines, " ")
}

// A weekly window at 02:30, on both days on which the clocks change, in three zones.
func TestClocksChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, starts string
		minutes      int
		want         string // three weeks, in UTC
	}{
		{"Europe/Berlin", "2026-03-22T02:30:00", 120, "03-22T01:30/03-22T03:30 03-29T01:00/03-29T02:30 04-05T00:30/04-05T02:30"}, // 02:30 is skipped: from the change to 04:30
		{"Europe/Berlin", "2026-10-18T02:30:00", 120, "10-18T00:30/10-18T02:30 10-25T00:30/10-25T03:30 11-01T01:30/11-01T03:30"}, // the first 02:30 to 04:30: three hours
		{"Europe/Berlin", "2026-03-22T01:30:00", 60, "03-22T00:30/03-22T01:30 03-29T00:30/03-29T01:00 04-05T-1"},                 // until the change
		{"Europe/Berlin", "2026-10-18T01:30:00", 60, "10-17T23:30/10-18T00:30 10-24T23:30/10-25T01:30 11-01T00:30/11-01T01:30"},  // to the last 02:30
		{"Europe/Berlin", "2026-03-22T02:10:00", 20, "03-22T01:10/03-22T01:30 04-05T00:10/04-05T00:30 04-12T00:10/04-12T00:30"},  // wholly skipped on the 29th
		{"America/New_York", "2026-03-01T02:30:00", 120, "03-01T07:30/03-01T09:30 03-08T07:00/03-08T08:30 03-15T06:30/03-15T08:30"},
		{"America/New_York", "2026-10-25T02:30:00", 120, "10-25T06:30/10-25T08:30 11-01T07:30/11-01T09:30 11-08T07:30/11-08T09:30"}, // 01:00 to 02:00 comes twice there
		{"America/New_York", "2026-10-25T01:30:00", 120, "10-25T05:30/10-25T07:30 11-01T05:30/11-01T08:30 11-08T06:30/11-08T08:30"},
		{"Australia/Lord_Howe", "2026-09-27T02:00:00", 120, "09-26T15:30/09-26T17:30 10-03T15:30/10-03T17:00 10-10T15:00/10-10T17:00"}, // half an hour is skipped
		{"Australia/Lord_Howe", "2026-03-29T01:30:00", 120, "03-28T14:30/03-28T16:30 04-04T14:30/04-04T17:00 04-11T15:00/04-11T17:00"}, // and comes twice
	} {
		day, _ := time.Parse(wallLayout, c.starts)
		s := must(t, Window{Scope: Scope{Everything: true}, StartsAt: c.starts, Zone: c.zone, DurationS: c.minutes * 60, RRule: "FREQ=WEEKLY;BYDAY=SU"})
		all := s.Between(day.Add(-48*time.Hour), day.Add(40*24*time.Hour))
		want := strings.Split(c.want, " 04-05T-1")[0]
		if got := text(all); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s, %d min:\n got %s\nwant %s", c.zone, c.starts, c.minutes, got, want)
		}
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		starts, zone, rule string
		minutes            int
		from, to, want     string
	}{
		"once":                 {"2026-03-01T10:00:00", "", "", 60, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "03-01T10:00/03-01T11:00"},
		"cut at the edges":     {"2026-03-01T10:00:00", "", "", 60, "2026-03-01T10:15:00Z", "2026-03-01T10:45:00Z", "03-01T10:15/03-01T10:45"},
		"half open":            {"2026-03-01T10:00:00", "", "", 60, "2026-03-01T11:00:00Z", "2026-03-02T10:00:00Z", ""},
		"daily, touching":      {"2026-03-01T00:00:00", "", "FREQ=DAILY;COUNT=3", 1440, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "03-01T00:00/03-04T00:00"},
		"overlapping":          {"2026-03-01T12:00:00", "", "FREQ=DAILY;COUNT=2", 2000, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "03-01T12:00/03-03T21:20"},
		"first Sunday":         {"2026-03-01T12:00:00", "", "FREQ=MONTHLY;BYDAY=1SU", 60, "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z", "03-01T12:00/03-01T13:00 04-05T12:00/04-05T13:00 05-03T12:00/05-03T13:00"},
		"not on its own start": {"2026-03-03T12:00:00", "", "FREQ=WEEKLY;BYDAY=SU;COUNT=2", 60, "2026-03-01T00:00:00Z", "2027-01-01T00:00:00Z", "03-03T12:00/03-03T13:00 03-08T12:00/03-08T13:00 03-15T12:00/03-15T13:00"},
		"until an instant":     {"2026-03-01T23:30:00", "Asia/Tokyo", "FREQ=DAILY;UNTIL=20260303T143000Z", 60, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "03-01T14:30/03-01T15:30 03-02T14:30/03-02T15:30 03-03T14:30/03-03T15:30"},
		"until a day":          {"2026-03-01T23:30:00", "Asia/Tokyo", "FREQ=DAILY;UNTIL=20260302", 60, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "03-01T14:30/03-01T15:30 03-02T14:30/03-02T15:30"},
		"leap days":            {"2024-02-29T00:00:00", "", "FREQ=YEARLY", 1440, "2024-01-01T00:00:00Z", "2033-01-01T00:00:00Z", "02-29T00:00/03-01T00:00 02-29T00:00/03-01T00:00 02-29T00:00/03-01T00:00"},
		"last day of months":   {"2026-01-31T00:00:00", "", "FREQ=MONTHLY;BYMONTHDAY=-1", 60, "2026-02-01T00:00:00Z", "2026-05-01T00:00:00Z", "02-28T00:00/02-28T01:00 03-31T00:00/03-31T01:00 04-30T00:00/04-30T01:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := must(t, Window{Scope: Scope{Everything: true}, StartsAt: c.starts, Zone: c.zone, RRule: c.rule, DurationS: c.minutes * 60})
			if got := text(s.Between(at(c.from), at(c.to))); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMistakesPointAtTheirField(t *testing.T) {
	t.Parallel()
	good := Window{Scope: Scope{Tags: []string{"db"}}, StartsAt: "2026-03-01T12:00:00", Zone: "Europe/Berlin", DurationS: 3600, RRule: "FREQ=WEEKLY;BYDAY=SU"}
	must(t, good)
	for name, c := range map[string]struct {
		change func(*Window)
		want   string
	}{
		"nothing":              {func(w *Window) { w.Scope = Scope{} }, "/everything required"},
		"two":                  {func(w *Window) { w.TargetID = 5 }, "/everything conflict"},
		"a long tag":           {func(w *Window) { w.Tags = append(w.Tags, strings.Repeat("x", 41), "a b") }, "/tags/1 invalid_text /tags/2 invalid_text"},
		"many tags":            {func(w *Window) { w.Tags = slices.Repeat(w.Tags, 21) }, "/tags too_long"},
		"no such target":       {func(w *Window) { w.Scope = Scope{TargetID: -1} }, "/target_id out_of_range"},
		"a zone in it":         {func(w *Window) { w.StartsAt += "Z" }, "/starts_at invalid_text"},
		"long ago":             {func(w *Window) { w.StartsAt = "0001-03-01T12:00:00" }, "/starts_at invalid_text"},
		"no zone":              {func(w *Window) { w.Zone = "Europe/Nowhere" }, "/zone unknown_value"},
		"this machine's":       {func(w *Window) { w.Zone = "Local" }, "/zone unknown_value"},
		"too short":            {func(w *Window) { w.DurationS = 59 }, "/duration_s out_of_range"},
		"too long":             {func(w *Window) { w.DurationS = 31*86400 + 1 }, "/duration_s out_of_range"},
		"everything":           {func(w *Window) { *w = Window{} }, "/everything required /starts_at invalid_text /duration_s out_of_range"},
		"skipped":              {func(w *Window) { w.StartsAt, w.DurationS, w.RRule = "2026-03-29T02:10:00", 600, "" }, "/starts_at conflict"},
		"hourly":               {func(w *Window) { w.RRule = "FREQ=HOURLY" }, "/rrule invalid_text"},
		"every second":         {func(w *Window) { w.RRule = "FREQ=DAILY;BYSECOND=1,2" }, "/rrule invalid_text"},
		"another start":        {func(w *Window) { w.RRule = "FREQ=DAILY;DTSTART=20200101T000000Z" }, "/rrule invalid_text"},
		"two lines":            {func(w *Window) { w.RRule = "DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY" }, "/rrule invalid_text"},
		"the 30th of February": {func(w *Window) { w.RRule = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" }, "/rrule invalid_text"},
		"by days, too":         {func(w *Window) { w.RRule = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30" }, "/rrule invalid_text"},
		"month 13":             {func(w *Window) { w.RRule = "FREQ=YEARLY;BYMONTH=13" }, "/rrule invalid_text"},
		"no interval":          {func(w *Window) { w.RRule = "FREQ=DAILY;INTERVAL=0" }, "/rrule invalid_text"},
		"a huge interval":      {func(w *Window) { w.RRule = "FREQ=DAILY;INTERVAL=1001" }, "/rrule invalid_text"},
		"a huge count":         {func(w *Window) { w.RRule = "FREQ=DAILY;COUNT=10001" }, "/rrule invalid_text"},
		"a negative count":     {func(w *Window) { w.RRule = "FREQ=DAILY;COUNT=-1" }, "/rrule invalid_text"},
		"count and until":      {func(w *Window) { w.RRule = "FREQ=DAILY;COUNT=3;UNTIL=20270101" }, "/rrule invalid_text"},
		"until before":         {func(w *Window) { w.RRule = "FREQ=DAILY;UNTIL=20200101" }, "/rrule invalid_text"},
		"twice":                {func(w *Window) { w.RRule = "FREQ=DAILY;COUNT=3;COUNT=4" }, "/rrule invalid_text"},
		"long":                 {func(w *Window) { w.RRule = "FREQ=YEARLY;BYYEARDAY=" + strings.Repeat("1,", 200) + "1" }, "/rrule invalid_text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := good
			c.change(&w)
			_, found := New(w)
			var all []string
			for _, p := range found {
				all = append(all, p.Pointer+" "+p.Code)
			}
			if got := strings.Join(all, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for id, want := range map[int64][]bool{7: {true, false, true}, 8: {false, false, true}} {
		for i, scope := range []Scope{{TargetID: 7}, {Tags: []string{"db"}}, {Everything: true}} {
			if scope.Names(id) != want[i] {
				t.Errorf("%+v and target %d", scope, id)
			}
		}
	}
}

// Active, At, Between and Next agree, and the clock on the wall agrees with them.
func TestAllAnswersAgree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca"}
	rules := []string{"", "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;BYDAY=MO,SU", "FREQ=MONTHLY;BYDAY=-1SU", "FREQ=MONTHLY;BYMONTHDAY=1,15;COUNT=5", "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU"}
	windows := 150
	if testing.Short() {
		windows = 15
	}
	for range windows {
		w := Window{Scope: Scope{Everything: true}, Zone: zones[random.IntN(len(zones))], RRule: rules[random.IntN(len(rules))], DurationS: 60 + random.IntN(30*3600)}
		w.StartsAt = time.Date(2025, 1, 1+random.IntN(600), random.IntN(24), random.IntN(60), 0, 0, time.UTC).Format(wallLayout)
		s, found := New(w)
		if found != nil {
			continue // skipped by the clocks
		}
		zone, _ := availability.Zone(w.Zone)
		from := at("2025-01-01T00:00:00Z")
		to := from.Add(2 * 366 * 24 * time.Hour)
		all := s.Between(from, to)
		for i, one := range all {
			if !one.To.After(one.From) || i > 0 && !one.From.After(all[i-1].To) {
				t.Fatalf("%+v: %v after %v", w, one, all[max(0, i-1)])
			}
			if !s.Active(one.From) || !s.Active(one.To.Add(-1)) || i > 0 && s.Active(one.From.Add(-1)) || one.To.Before(to) && s.Active(one.To) {
				t.Fatalf("%+v: Active disagrees with %v", w, one)
			}
			if next, ok := s.Next(one.From); i > 0 && (!ok || !next.From.Equal(one.From)) {
				t.Fatalf("%+v: next at %v is %v", w, one.From, next)
			}
			before, shown := onWall(one.From.Add(-time.Second), zone), onWall(one.From, zone)
			if clock := shown.Format("15:04:05"); clock != w.StartsAt[11:] && shown.Sub(before) == time.Second && i > 0 {
				t.Fatalf("%+v: begins when it is %s", w, clock)
			}
			for range 3 {
				t1 := from.Add(time.Duration(random.Int64N(int64(to.Sub(from)))))
				inside := false
				for _, other := range all {
					inside = inside || other.Holds(t1)
				}
				holds, now := s.At(t1)
				if inside != s.Active(t1) || inside != now {
					t.Fatalf("%+v: at %v", w, t1)
				}
				if now && (!holds.Holds(t1) || !slices.Contains(s.within(holds.From, holds.To), span{holds.From, holds.To})) {
					t.Fatalf("%+v: at %v is %v", w, t1, holds)
				}
			}
		}
	}
}

// What was accepted before stays readable: one window that is not would take all others with it.
func TestStoredRulesStayReadable(t *testing.T) {
	t.Parallel()
	for rule, starts := range map[string]int{
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1":        1,
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=19750101": 1,
		"FREQ=YEARLY;INTERVAL=20;COUNT=1":                   1,
		"FREQ=DAILY;BYDAY=MO,MO;COUNT=2":                    3,
		"FREQ=DAILY;BYDAY=MO;BYSETPOS=1;COUNT=2":            3,
	} {
		w := Window{Scope: Scope{Everything: true}, StartsAt: "1970-01-01T00:00:00", DurationS: 60, RRule: rule}
		if _, found := New(w); found == nil {
			t.Errorf("%s is taken still", rule)
		}
		s, found := Stored(w)
		if found != nil {
			t.Errorf("%s: %v", rule, found)
			continue
		}
		if got := s.Between(at("1970-01-01T00:00:00Z"), at("1979-01-01T00:00:00Z")); len(got) != starts {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

// No rule is looked for without end, whatever it asks for.
func TestRulesAreBounded(t *testing.T) {
	t.Parallel()
	late := at("2199-01-01T00:00:00Z")
	if testing.Short() {
		late = at("1999-01-01T00:00:00Z")
	}
	for rule, refused := range map[string]bool{
		"FREQ=DAILY":                                                 false,
		"FREQ=DAILY;INTERVAL=1000":                                   false,
		"FREQ=DAILY;COUNT=1":                                         false,
		"FREQ=DAILY;UNTIL=19700101":                                  false,
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU":               false, // 1976, and then 2004
		"FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU;INTERVAL=7":                false,
		"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1":              false,
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30":                         true,
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=1":                 true,
		"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;UNTIL=19750101":          true,
		"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=366":       true,
		"FREQ=YEARLY;INTERVAL=1000;COUNT=1":                          true,
		"FREQ=DAILY;BYDAY=MO;BYSETPOS=2":                             true,
		"FREQ=WEEKLY;BYDAY=MO;BYSETPOS=1" + strings.Repeat(",1", 99): true,
	} {
		s, found := New(Window{Scope: Scope{Everything: true}, StartsAt: "1970-01-01T00:00:00", DurationS: 60, RRule: rule})
		if (found != nil) != refused {
			t.Errorf("%s: %v", rule, found)
		}
		if s == nil {
			continue
		}
		s.Next(late)
		s.Active(late)
		if !s.Active(at("1970-01-01T00:00:30Z")) {
			t.Errorf("%s does not hold when it starts", rule)
		}
	}
}
