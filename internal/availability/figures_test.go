package availability

import (
	"slices"
	"testing"
	"time"
)

func TestPercentOfKnownRatios(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r      Ratio
		digits int
		want   string
	}{
		{Ratio{0, 0}, 2, ""},
		{Ratio{1, 1}, 2, "100.00"},
		{Ratio{0, 5}, 3, "0.000"},
		{Ratio{999_999, 1_000_000}, 2, "99.99"},
		{Ratio{9_995, 10_000}, 2, "99.95"},
		{Ratio{99_949_999, 100_000_000}, 2, "99.94"}, // not 99.95: the target was missed
		{Ratio{9_999, 10_000}, 2, "99.99"},
		{Ratio{1, 1_000_000}, 2, "<0.01"},
		{Ratio{1, 10_000}, 2, "0.01"},
		{Ratio{2, 3}, 0, "66"},
		{Ratio{1, 3}, 20, "33.333333333"},
		{Ratio{1<<64 - 2, 1<<64 - 1}, 9, "99.999999999"},
		{Ratio{9, 5}, 1, "100.0"},
	} {
		if got := c.r.Percent(c.digits); got != c.want {
			t.Errorf("%v with %d decimals: %q, want %q", c.r, c.digits, got, c.want)
		}
	}
	if (Ratio{}).Float() != 0 || (Ratio{1, 4}).Float() != 0.25 {
		t.Error("float")
	}
}

func TestMaintenanceAndEdges(t *testing.T) {
	t.Parallel()
	hour := at("2026-03-01T10:00:00Z")
	minute := func(n int) time.Time { return hour.Add(time.Duration(n) * time.Minute) }
	terms := Terms{
		Window: Span{hour, minute(120)},
		Except: NewSpans(Span{minute(40), minute(50)}, Span{minute(20), minute(30)}, Span{minute(30), minute(35)}, Span{minute(60), minute(60)}, Span{minute(110), minute(180)}),
		Every:  NewIntervals(Interval{minute(-600), time.Minute}),
	}
	if len(terms.Except) != 3 || !terms.Except[0].To.Equal(minute(35)) {
		t.Fatalf("merged to %v", terms.Except)
	}
	counts := Counts{Up: 3, Down: 2, Missed: 1}
	counted, unknown, excluded := Figures{Counts: counts, Downtime: 2 * time.Minute}, Figures{Counts: Counts{Unknown: 6}}, Figures{Excluded: 6}
	for name, c := range map[string]struct {
		from, to int
		want     Figures
	}{
		"inside":                             {0, 15, counted},
		"up to maintenance":                  {0, 20, counted},
		"between two":                        {35, 40, counted},
		"into maintenance":                   {10, 21, unknown},
		"around maintenance":                 {36, 60, unknown},
		"out of maintenance":                 {45, 51, unknown},
		"in maintenance":                     {40, 50, excluded},
		"in two that were merged":            {25, 33, excluded},
		"before the window":                  {-15, 0, Figures{}},
		"after the window":                   {120, 135, Figures{}},
		"into the window":                    {-10, 5, unknown},
		"around the window":                  {-10, 500, unknown},
		"out of the window, in maintenance":  {115, 130, Figures{}},
		"out of the window, half maintained": {100, 130, unknown},
	} {
		if got := terms.Of(Cell{Span{minute(c.from), minute(c.to)}, counts}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := terms.Cuts([]Period{{Span: Span{minute(-60), minute(60)}}, {Span: Span{minute(60), minute(120)}}}); !slices.Equal(got, []time.Time{minute(20), minute(35), minute(40), minute(50), minute(60), minute(110)}) {
		t.Errorf("cuts %v", got)
	}
}

// A cell over the edge of two days is known in total, but not how the days share it.
func TestCellOverTheEdgeOfPeriods(t *testing.T) {
	t.Parallel()
	window := Span{at("2026-03-01T00:00:00Z"), at("2026-03-04T00:00:00Z")}
	account := NewAccount(Terms{Window: window}, Periods(window, time.UTC, ByDay))
	account.Add(Cell{Span{at("2026-03-02T23:00:00Z"), at("2026-03-03T01:00:00Z")}, Counts{Up: 2}})
	account.Add(Cell{Span{at("2026-03-03T23:00:00Z"), at("2026-03-04T00:00:00Z")}, Counts{Down: 1}})
	account.Add(Cell{Span{at("2026-02-28T23:00:00Z"), at("2026-03-01T00:00:00Z")}, Counts{Down: 1}})
	account.Add(Cell{Span{at("2026-03-04T00:00:00Z"), at("2026-03-04T01:00:00Z")}, Counts{Down: 1}})
	want := []Figures{{}, {Counts: Counts{Unknown: 2}}, {Counts: Counts{Unknown: 2, Down: 1}}}
	if account.Total.Counts != (Counts{Up: 2, Down: 1}) || !slices.Equal(account.ByPeriod, want) {
		t.Errorf("%+v in total, %+v", account.Total, account.ByPeriod)
	}
}

// A checker from outside has slots of its own: in an outage all of them are down, and the time
// that was is not more for it: at most what the regular slots could come to, each stretch with
// what its last slot reaches beyond.
func TestDowntimeIsNeverMoreThanThereWasTime(t *testing.T) {
	t.Parallel()
	begin := at("2026-03-01T10:00:00Z")
	minute := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }
	terms := Terms{
		Window: Span{begin, minute(120)}, Except: NewSpans(Span{minute(90), minute(105)}, Span{minute(115), minute(300)}),
		Every: NewIntervals(Interval{minute(-600), time.Minute}),
	}
	periods := []Period{{Span: Span{begin, minute(60)}}, {Span: Span{minute(60), minute(120)}}}
	account := NewAccount(terms, periods)
	for quarter := range 8 {
		account.Add(Cell{Span{minute(15 * quarter), minute(15*quarter + 15)}, Counts{Down: 30}})
		account.Add(Cell{Span{minute(15 * quarter), minute(15*quarter + 15)}, Counts{Up: 1}})
	}
	for name, f := range map[string]struct {
		got  Figures
		want time.Duration
	}{
		"first hour": {account.ByPeriod[0], 61 * time.Minute}, "second hour": {account.ByPeriod[1], 43 * time.Minute}, "both": {account.Total, 103 * time.Minute},
	} {
		if f.got.Downtime != f.want || f.got.Down == 0 {
			t.Errorf("%s: down for %v in %d slots, want %v", name, f.got.Downtime, f.got.Down, f.want)
		}
	}
	incidents := terms.Incidents([]Cell{{Span{begin, minute(15)}, Counts{Down: 30}}, {Span{minute(15), minute(30)}, Counts{Down: 30}}})
	if len(incidents) != 1 || incidents[0].Downtime != 31*time.Minute {
		t.Errorf("incidents %+v", incidents)
	}
}

func TestDowntimeIsOfTheIntervalInForce(t *testing.T) {
	t.Parallel()
	start := at("2026-03-01T00:00:00Z")
	every := NewIntervals(Interval{start.Add(2 * time.Hour), time.Hour}, Interval{start, time.Minute}, Interval{start.Add(time.Hour), 10 * time.Minute}, Interval{start.Add(time.Hour), time.Minute}, Interval{start.Add(3 * time.Hour), time.Hour})
	if len(every) != 2 {
		t.Errorf("intervals that change nothing were kept: %v", every)
	}
	terms := Terms{Window: Span{start.Add(-time.Hour), start.Add(5 * time.Hour)}, Every: every}
	down := func(h float64) Cell {
		from := start.Add(time.Duration(h * float64(time.Hour)))
		return Cell{Span{from, from.Add(Quarter)}, Counts{Down: 2}}
	}
	for hour, want := range map[float64]time.Duration{-1: 2 * time.Minute, 0: 2 * time.Minute, 1.75: 2 * time.Minute, 2: 2 * time.Hour, 4: 2 * time.Hour} {
		if got := terms.Of(down(hour)).Downtime; got != want {
			t.Errorf("at %v h: %v, want %v", hour, got, want)
		}
	}
	if got := terms.Cuts(nil); len(got) != 1 || !got[0].Equal(start.Add(2*time.Hour)) {
		t.Errorf("cuts %v", got)
	}
	if none := (Terms{Window: terms.Window}).Of(down(0)); none.Downtime != 0 || none.Down != 2 {
		t.Errorf("without an interval: %+v", none)
	}
	for downtime, want := range map[time.Duration]float64{0: 0, time.Second: 0.02, 10 * time.Second: 0.17, time.Minute: 1, 24 * time.Hour: 1440} {
		if got := (Figures{Downtime: downtime}).DowntimeMinutes(); got != want {
			t.Errorf("%v is %v minutes, want %v", downtime, got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    Figures
		want State
	}{
		"nothing due":       {Figures{}, NoData},
		"all maintenance":   {Figures{Excluded: 96}, NoData},
		"one short outage":  {Figures{Counts: Counts{Up: 1439, Down: 1}}, Down},
		"down, else silent": {Figures{Counts: Counts{Down: 1, Missed: 1439}}, Down},
		"slow once":         {Figures{Counts: Counts{Up: 1439, Degraded: 1}}, Degraded},
		"mostly silent":     {Figures{Counts: Counts{Up: 719, Unknown: 1, Missed: 720}}, Unknown},
		"half silent":       {Figures{Counts: Counts{Up: 720, Missed: 720}}, Up},
		"never measured":    {Figures{Counts: Counts{Unknown: 3}}, Unknown},
		"up":                {Figures{Counts: Counts{Up: 1440}}, Up},
	} {
		if got := c.f.State(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for state, want := range map[State]State{Up: Unknown, Degraded: Unknown, Down: Down, NoData: NoData, Unknown: Unknown} {
		if fresh, old := state.AtAge(time.Minute, time.Minute), state.AtAge(time.Minute+1, time.Minute); fresh != state || old != want {
			t.Errorf("%s: %s within the limit, %s past it", state, fresh, old)
		}
	}
}

func TestIncidents(t *testing.T) {
	t.Parallel()
	start := at("2026-03-01T10:00:00Z")
	cells := func(words ...string) (cells []Cell) {
		for i, word := range words {
			if word != "" {
				from := start.Add(time.Duration(i) * Quarter)
				cells = append(cells, Cell{Span{from, from.Add(Quarter)}, one(word)})
			}
		}
		return cells
	}
	terms := Terms{Window: Span{start, start.Add(10 * Quarter)}, Every: NewIntervals(Interval{start, Quarter})}
	during := func(from, to int) Terms {
		with := terms
		with.Except = NewSpans(Span{start.Add(time.Duration(from) * Quarter), start.Add(time.Duration(to) * Quarter)})
		return with
	}
	for name, c := range map[string]struct {
		terms Terms
		cells []Cell
		want  [][3]int // first quarter, quarter after the last, slots
	}{
		"none":                   {terms, cells("up", "degraded", "unknown"), nil},
		"one":                    {terms, cells("up", "down", "down", "up"), [][3]int{{1, 3, 2}}},
		"two":                    {terms, cells("down", "up", "down"), [][3]int{{0, 1, 1}, {2, 3, 1}}},
		"degraded between":       {terms, cells("down", "degraded", "down"), [][3]int{{0, 1, 1}, {2, 3, 1}}},
		"nothing known between":  {terms, cells("down", "unknown", "missed", "", "down", "missed", "up"), [][3]int{{0, 5, 2}}},
		"maintenance between":    {during(1, 2), cells("down", "down", "down"), [][3]int{{0, 1, 1}, {2, 3, 1}}},
		"maintenance, no cells":  {during(1, 2), cells("down", "", "down"), [][3]int{{0, 1, 1}, {2, 3, 1}}},
		"maintenance before":     {during(0, 1), cells("down", "down", "down"), [][3]int{{1, 3, 2}}},
		"past the window":        {terms, cells("", "", "", "", "", "", "", "", "", "down", "down"), [][3]int{{9, 10, 1}}},
		"up in maintenance only": {during(1, 2), cells("down", "up"), [][3]int{{0, 1, 1}}},
	} {
		slices.Reverse(c.cells)
		got := c.terms.Incidents(c.cells)
		var seen [][3]int
		for _, i := range got {
			seen = append(seen, [3]int{int(i.From.Sub(start) / Quarter), int(i.To.Sub(start) / Quarter), int(i.Slots)})
			if i.Downtime != time.Duration(i.Slots)*Quarter {
				t.Errorf("%s: %+v", name, i)
			}
		}
		if !slices.Equal(seen, c.want) {
			t.Errorf("%s: %v, want %v", name, seen, c.want)
		}
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	now := at("2026-03-01T12:05:00Z")
	for to, want := range map[string]time.Duration{
		"2026-03-01T12:05:00Z": keepOpen,
		"2026-03-01T12:00:00Z": keepOpen, // its last rows may still be on their way
		"2026-03-01T11:00:00Z": keepClosed,
		"2026-02-01T00:00:00Z": keepClosed,
		"2026-03-02T00:00:00Z": keepOpen,
	} {
		if got := Keep(at(to), now); got != want {
			t.Errorf("until %s: %v, want %v", to, got, want)
		}
	}
	if got := Keep(at("2026-03-01T12:00:00Z"), at("2026-03-01T13:09:59Z")); got != keepClosed {
		t.Errorf("an hour and more after its end: %v", got)
	}
	if got := Keep(at("2026-03-01T12:00:00Z"), at("2026-03-01T12:10:00Z")); got != keepClosed {
		t.Errorf("ten minutes after its end: %v", got)
	}
}

// A region's slots while it was blind count nowhere; of the target as a whole nothing is known
// where the counts cannot be told apart.
func TestBlindRegions(t *testing.T) {
	t.Parallel()
	hour := at("2026-03-01T10:00:00Z")
	minute := func(n int) time.Time { return hour.Add(time.Duration(n) * time.Minute) }
	terms := Terms{
		Window: Span{hour, minute(120)}, Except: NewSpans(Span{minute(40), minute(50)}), Every: NewIntervals(Interval{minute(-600), time.Minute}),
		Blind: map[string]Spans{"eu": NewSpans(Span{minute(20), minute(30)}), "us": NewSpans(Span{minute(25), minute(45)})},
	}
	counts := Counts{Up: 3, Down: 2}
	counted, unknown, excluded := Figures{Counts: counts, Downtime: 2 * time.Minute}, Figures{Counts: Counts{Unknown: 5}}, Figures{Excluded: 5}
	for _, c := range []struct {
		region   string
		grain    time.Duration
		from, to int
		want     Figures
	}{
		{"eu", 0, 20, 30, excluded}, {"eu", 0, 30, 35, counted}, {"eu", 0, 15, 21, unknown}, {"eu", 0, 40, 50, excluded},
		{"us", 0, 20, 25, counted}, {"us", 0, 25, 50, excluded}, {"ap", 0, 20, 30, counted},
		{"", 0, 20, 30, counted}, {"", 0, 40, 50, excluded}, // they are those of the other regions already
		{"", Quarter, 20, 22, unknown}, {"", Quarter, 0, 15, counted}, {"", Quarter, 15, 16, unknown}, {"", Quarter, 60, 75, counted},
	} {
		of := terms
		of.Grain = c.grain
		if got := of.In(c.region).Of(Cell{Span{minute(c.from), minute(c.to)}, counts}); got != c.want {
			t.Errorf("%q by %v, %d to %d: %+v, want %+v", c.region, c.grain, c.from, c.to, got, c.want)
		}
	}
	if got := terms.Cuts(nil); !slices.Equal(got, []time.Time{minute(20), minute(25), minute(30), minute(40), minute(45), minute(50)}) {
		t.Errorf("cuts %v", got)
	}
}
