package availability

import (
	"bufio"
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of this test are those of the compiler, on any machine
)

// row is one stored row: of those of a slot the highest revision counts.
type row struct {
	region   string
	at       time.Time
	what     string // one of the statuses, or - for none
	revision string
}

// readRows reads a file as testdata/month/README.md describes it.
func readRows(t *testing.T, path string) (rows []row) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		f := strings.Split(lines.Text(), "\t")
		first, err1 := time.Parse(time.RFC3339, f[0])
		every, err2 := strconv.Atoi(f[1])
		n, err3 := strconv.Atoi(f[2])
		if err := cmp.Or(err1, err2, err3); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		for i := range n {
			rows = append(rows, row{f[3], first.Add(time.Duration(i*every) * time.Minute), f[4], f[5]})
		}
	}
	return rows
}

// slots keeps one row a slot.
func slots(rows []row) []row {
	type key struct {
		region string
		at     time.Time
	}
	kept := map[key]row{}
	for _, r := range rows {
		k := key{r.region, r.at}
		switch {
		case r.what == "-":
			delete(kept, k)
		case r.revision > kept[k].revision:
			kept[k] = r
		}
	}
	return slices.Collect(maps.Values(kept))
}

func one(what string) Counts {
	return map[string]Counts{"up": {Up: 1}, "degraded": {Degraded: 1}, "down": {Down: 1}, "unknown": {Unknown: 1}, "missed": {Missed: 1}}[what]
}

// count is the model of the store: cells of each region, and of region "" for the
// target as a whole, no longer than width and cut where cuts says.
func count(rows []row, width time.Duration, cuts []time.Time) map[string][]Cell {
	type key struct {
		region string
		at     time.Time
	}
	whole, cells := map[time.Time]Counts{}, map[key]Cell{}
	add := func(region string, at time.Time, c Counts) {
		span := Span{at.Truncate(width), at.Truncate(width).Add(width)}
		for _, cut := range cuts {
			if cut.After(span.From) && !cut.After(at) {
				span.From = cut
			}
			if cut.After(at) && cut.Before(span.To) {
				span.To = cut
			}
		}
		k := key{region, span.From}
		cells[k] = Cell{span, cells[k].Add(c)}
	}
	for _, r := range slots(rows) {
		add(r.region, r.at, one(r.what))
		whole[r.at] = whole[r.at].Add(one(r.what))
	}
	for at, c := range whole {
		add("", at, c.Fold())
	}
	series := map[string][]Cell{}
	for k, c := range cells {
		series[k.region] = append(series[k.region], c)
	}
	return series
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// march is the frame of testdata/month.
func march(t testing.TB) (Period, Terms) {
	t.Helper()
	month, err := Month("2026-03", zone(t, "Europe/Berlin"))
	if err != nil {
		t.Fatal(err)
	}
	return month, Terms{
		Window: month.Span,
		Except: NewSpans(Span{at("2026-03-12T22:05:00Z"), at("2026-03-13T00:25:00Z")}),
		Every:  NewIntervals(Interval{at("2026-01-01T00:00:00Z"), 30 * time.Minute}, Interval{at("2026-03-15T23:00:00Z"), time.Hour}),
	}
}

// reportOf reports on target 7 from cells for the figures and from quarters for the incidents.
func reportOf(month Period, terms Terms, cells map[string][]Cell, quarters []Cell) Report {
	target := TargetReport{TargetID: 7, Incidents: terms.Incidents(quarters)}
	for region, series := range cells {
		target.Series = append(target.Series, Series{region, terms.Sum(series)})
	}
	return Report{Month: month, Zone: "Europe/Berlin", Targets: []TargetReport{target}}
}

const goldenHash = "sha256:fdda5c6ee1d8aa78656fc14a7fb76a73c7e082f40a2d1faa085351642cb322e6"

// However the same results are counted, in whatever order they came, the report is the
// one that was worked out by hand.
func TestMonthWorkedOutByHand(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/month/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := readRows(t, "testdata/month/rows.tsv")
	month, terms := march(t)
	terms.Grain = Quarter
	quarters := count(rows, Quarter, nil) // as rollups have them
	for name, width := range map[string]time.Duration{"slots": time.Millisecond, "quarters": Quarter, "hours": time.Hour, "days": 24 * time.Hour, "a month": 366 * 24 * time.Hour} {
		cells := count(rows, width, append(terms.Cuts(nil), month.From, month.To))
		for range 3 {
			for _, series := range cells {
				rand.Shuffle(len(series), func(i, j int) { series[i], series[j] = series[j], series[i] })
			}
			report := reportOf(month, terms, cells, quarters[""])
			rand.Shuffle(len(report.Targets[0].Series), func(i, j int) {
				all := report.Targets[0].Series
				all[i], all[j] = all[j], all[i]
			})
			slices.Reverse(report.Targets[0].Incidents)
			if got := string(report.Canonical()); got != string(want) {
				t.Fatalf("from %s:\n%s\nwant\n%s", name, got, want)
			}
			if got := report.Hash(); got != goldenHash {
				t.Fatalf("from %s: %s", name, got)
			}
		}
	}
}

func TestFiguresOfTheMonth(t *testing.T) {
	t.Parallel()
	month, terms := march(t)
	rows := readRows(t, "testdata/month/rows.tsv")
	exact := terms.Sum(count(rows, time.Hour, terms.Cuts(nil))[""])
	if want := (Counts{Up: 1073, Degraded: 6, Down: 7, Unknown: 4, Missed: 8}); exact.Counts != want || exact.Excluded != 5 {
		t.Errorf("to the slot: %+v", exact)
	}
	coarse := terms.Sum(count(rows, Quarter, nil)[""])
	terms.Grain = Quarter
	if fine := terms.Sum(count(rows, time.Millisecond, nil)[""]); fine != coarse {
		t.Errorf("with a grain, slots give %+v, quarters %+v", fine, coarse)
	}
	for what, c := range map[string]struct{ got, want string }{
		"uptime":      {exact.Uptime().Percent(3), "99.355"},
		"coverage":    {exact.Coverage().Percent(3), "98.907"},
		"low":         {exact.Low().Percent(3), "98.269"},
		"high":        {exact.High().Percent(3), "99.362"},
		"coarse low":  {coarse.Low().Percent(3), "98.180"},
		"coarse high": {coarse.High().Percent(3), "99.363"},
		"hours":       {month.To.Sub(month.From).String(), "743h0m0s"},
	} {
		if c.got != c.want {
			t.Errorf("%s %s, want %s", what, c.got, c.want)
		}
	}
	if exact.DowntimeMinutes() != 270 {
		t.Errorf("downtime %v minutes", exact.DowntimeMinutes())
	}
	if want := (Counts{Up: 1073, Degraded: 6, Down: 7, Unknown: 5, Missed: 8}); coarse.Counts != want || coarse.Excluded != 4 {
		t.Errorf("by quarters alone: %+v", coarse)
	}
}

func TestDaysOfTheMonth(t *testing.T) {
	t.Parallel()
	month, terms := march(t)
	rows := readRows(t, "testdata/month/rows.tsv")
	day := func(zoneName, name string) Figures {
		window := terms
		if zoneName != "Europe/Berlin" {
			window.Window = Span{month.From.Add(24 * time.Hour), month.To.Add(-24 * time.Hour)}
		}
		days := Periods(window.Window, zone(t, zoneName), ByDay)
		account := NewAccount(window, days)
		for _, c := range count(rows, Quarter, window.Cuts(days))[""] {
			account.Add(c)
		}
		var sum Figures
		for _, f := range account.ByPeriod {
			sum = sum.Add(f)
		}
		if sum != account.Total {
			t.Errorf("days in %s add up to %+v, not to %+v", zoneName, sum, account.Total)
		}
		i := slices.IndexFunc(days, func(p Period) bool { return p.Name == name })
		return account.ByPeriod[i]
	}
	for _, c := range []struct {
		zone, name string
		want       Figures
		state      State
	}{
		{"Europe/Berlin", "2026-03-08", Figures{Counts: Counts{Up: 40, Missed: 8}}, Up},
		{"Europe/Berlin", "2026-03-10", Figures{Counts: Counts{Up: 44, Unknown: 4}}, Up},
		{"Europe/Berlin", "2026-03-12", Figures{Counts: Counts{Up: 45, Down: 1}, Excluded: 2, Downtime: 30 * time.Minute}, Down},
		{"Europe/Berlin", "2026-03-13", Figures{Counts: Counts{Up: 45}, Excluded: 3}, Up},
		{"Europe/Berlin", "2026-03-20", Figures{Counts: Counts{Up: 23, Degraded: 1}}, Degraded},
		{"Europe/Berlin", "2026-03-29", Figures{Counts: Counts{Up: 20, Degraded: 1, Down: 2}, Downtime: 2 * time.Hour}, Down},
		{"Asia/Kathmandu", "2026-03-29", Figures{Counts: Counts{Up: 21, Degraded: 1, Down: 2}, Downtime: 2 * time.Hour}, Down},
	} {
		if got := day(c.zone, c.name); got != c.want || got.State() != c.state {
			t.Errorf("%s in %s: %+v %s, want %+v %s", c.name, c.zone, got, got.State(), c.want, c.state)
		}
	}
}
