package selfdoubt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fleet is what each region sees of n targets, in rounds of a minute.
type fleet struct {
	watch   *Watch
	targets int
	perHost int
	regions []string
	lag     time.Duration // by which each region is behind the one before; 0: a tenth of a second
	fails   func(region string, target int, at time.Time) bool
	changes []string
}

func (f *fleet) play(rounds int) *fleet {
	if f.lag == 0 {
		f.lag = 100 * time.Millisecond
	}
	var all []Result
	for round := range rounds {
		for i := range f.targets {
			slot := noon.Add(time.Duration(round)*time.Minute + time.Duration(i)*time.Minute/time.Duration(f.targets))
			for n, region := range f.regions {
				all = append(all, Result{TargetID: int64(i), Host: fmt.Sprint("h", i/f.perHost), Region: region, Slot: slot, At: slot.Add(100*time.Millisecond + time.Duration(n)*f.lag), Failing: f.fails(region, i, slot)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Result) int { return a.At.Compare(b.At) })
	for _, r := range all {
		if f.watch.Take(r) {
			f.changes = append(f.changes, fmt.Sprintf("%.1f", r.At.Sub(noon).Seconds()))
		}
	}
	return f
}

func (f *fleet) windows() string {
	var all []string
	for _, b := range f.watch.Windows() {
		text := fmt.Sprintf("%s %.0f-", b.Region, b.From.Sub(noon).Seconds())
		if !b.To.IsZero() {
			text += fmt.Sprintf("%.0f", b.To.Sub(noon).Seconds())
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func between(from, to float64, region string, below int) func(string, int, time.Time) bool {
	return func(r string, target int, at time.Time) bool {
		s := at.Sub(noon).Seconds()
		return (region == "" || strings.Contains(region, r)) && target < below && s >= from && s < to
	}
}

func TestMassChange(t *testing.T) {
	t.Parallel()
	three := []string{"ap", "eu", "us"}
	for name, c := range map[string]struct {
		fleet
		want string
	}{
		"a region that fails everything":      {fleet{targets: 60, perHost: 1, regions: three, fails: between(120, 300, "eu", 60)}, "eu 120-330"}, // more than half of 60 are good again 30 s later
		"a third of its targets":              {fleet{targets: 60, perHost: 1, regions: three, fails: between(120, 300, "eu", 20)}, "eu 120-310"},
		"a fifth is not more than a fifth":    {fleet{targets: 60, perHost: 1, regions: three, fails: between(120, 300, "eu", 12)}, ""},
		"13 of 60 are":                        {fleet{targets: 60, perHost: 1, regions: three, fails: between(120, 300, "eu", 13)}, "eu 120-306"},
		"nine are too few":                    {fleet{targets: 9, perHost: 1, regions: three, fails: between(120, 300, "eu", 9)}, ""},
		"ten are enough":                      {fleet{targets: 10, perHost: 1, regions: three, fails: between(120, 300, "eu", 10)}, "eu 120-330"},
		"two hosts are too few":               {fleet{targets: 60, perHost: 30, regions: three, fails: between(120, 300, "eu", 60)}, ""},
		"what all see is true":                {fleet{targets: 60, perHost: 1, regions: three, fails: between(120, 300, "", 60)}, ""},
		"and one of them sees it long before": {fleet{targets: 60, perHost: 1, regions: three, lag: 20 * time.Second, fails: between(120, 300, "", 60)}, ""},
		"what two of three see is true":       {fleet{targets: 60, perHost: 1, regions: three, fails: between(120, 300, "eu us", 60)}, ""},
		"nor is the last to recover in doubt": {fleet{targets: 60, perHost: 1, regions: []string{"eu", "us"}, lag: 40 * time.Second, fails: between(120, 150, "", 60)}, ""},
		"one of two":                          {fleet{targets: 60, perHost: 1, regions: []string{"eu", "us"}, fails: between(120, 300, "us", 60)}, "us 120-330"},
		"a region alone":                      {fleet{targets: 60, perHost: 1, regions: []string{"eu"}, fails: between(120, 300, "eu", 60)}, ""},
		"twice": {fleet{targets: 60, perHost: 1, regions: three, fails: func(r string, i int, at time.Time) bool {
			return between(60, 120, "eu", 60)(r, i, at) || between(300, 360, "eu", 60)(r, i, at)
		}}, "eu 60-150 eu 300-390"},
		"one after the other, three in a minute": {fleet{targets: 60, perHost: 1, regions: three, fails: func(r string, i int, at time.Time) bool { return r == "eu" && int(at.Sub(noon)/time.Minute) > i/3 }}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := c.fleet
			f.watch = New()
			if got := f.play(20).windows(); got != c.want {
				t.Errorf("blind %q, want %q; changes %v", got, c.want, f.changes)
			}
		})
	}
}

func TestFoundWithinSeconds(t *testing.T) {
	t.Parallel()
	f := fleet{watch: New(), targets: 1000, perHost: 2, regions: []string{"ap", "eu", "us"}, fails: between(120, 300, "eu", 1000)}
	f.play(4)
	if len(f.changes) != 1 || f.changes[0] > "132.9" {
		t.Errorf("found at %v", f.changes)
	}
}

func TestCanaries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rounds, want string }{
		"good":                      {"0 a good, 5 a good", ""},
		"one bad round":             {"0 a good, 5 a bad, 10 a good", "eu 0-10"},
		"still bad":                 {"0 a good, 5 a bad, 10 a bad", "eu 0-"},
		"one of two probers":        {"0 a good, 1 b good, 5 a bad, 6 b good, 10 a bad", ""},
		"both":                      {"0 a good, 1 b good, 5 a bad, 6 b bad, 10 a good", "eu 1-10"},
		"the other one is gone":     {"0 a good, 1 b good, 20 b bad, 31 b bad", "eu 1-"},
		"never good":                {"3 a bad, 8 a good", "eu 3-8"},
		"a repeat and an older one": {"0 a good, 5 a bad, 5 a good, 4 a good", "eu 0-"},
		"two windows":               {"0 a good, 5 a bad, 10 a good, 15 a bad, 20 a good", "eu 0-10 eu 10-20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fleet{watch: New()}
			for _, round := range strings.Split(c.rounds, ", ") {
				var at int
				var who, how string
				fmt.Sscan(round, &at, &who, &how)
				f.watch.Canary(Round{Region: "eu", Prober: who, At: noon.Add(time.Duration(at) * time.Second), Good: how == "good"})
			}
			if got := f.windows(); got != c.want {
				t.Errorf("blind %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever happens, windows do not overlap themselves, end, and what is kept is bounded.
func TestItForgets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var bad [3]bool
	minute := -1
	f := fleet{watch: New(), targets: 50, perHost: 1, regions: []string{"ap", "eu", "us"}, fails: func(r string, i int, at time.Time) bool {
		if now := int(at.Sub(noon) / time.Minute); now != minute && now < 480 {
			minute = now
			bad[random.IntN(3)] = random.IntN(2) == 0
		} else if now >= 480 {
			bad = [3]bool{}
		}
		return bad[strings.Index("ap eu us", r)/3] && i%2 == 0
	}}
	f.play(500)
	if len(f.changes) < 50 {
		t.Errorf("%d changes: this proves little", len(f.changes))
	}
	for _, b := range f.watch.Windows() {
		if b.To.IsZero() || !b.To.After(b.From) {
			t.Errorf("window %v", b)
		}
	}
	for name, r := range f.watch.regions {
		if len(r.measured) > 51 || len(r.times) > 51 || len(r.doubted) > 0 {
			t.Errorf("%s keeps %d, %d, %d", name, len(r.measured), len(r.times), len(r.doubted))
		}
	}
	f.watch.Remove(0)
	if len(f.watch.targets) != 49 {
		t.Error("a target that is no more is kept")
	}
}

// Nobody is blind for ever who says nothing any more, and a pause of the listener is no silence.
func TestSilenceIsNotBlindness(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	f := fleet{watch: New()}
	bad := Round{Region: "eu", Prober: "a", At: noon}
	f.watch.Canary(bad)
	for s := 0; s <= 120; s += 10 {
		f.watch.Pass(at(s))
	}
	if got := f.windows(); got != "eu 0-" {
		t.Errorf("blind %q", got)
	}
	if f.watch.Pass(at(600)) || f.windows() != "eu 0-" {
		t.Errorf("nobody listened, and %q", f.windows())
	}
	for s := 600; s <= 721; s++ {
		f.watch.Pass(at(s))
	}
	if got := f.windows(); got != "eu 0-721" {
		t.Errorf("blind %q", got)
	}
	bad.At = at(800)
	if f.watch.Canary(bad); !f.watch.Retire("eu", at(810)) || f.windows() != "eu 0-721 eu 721-810" || f.watch.Retire("eu", at(811)) {
		t.Errorf("retired, and blind %q", f.windows())
	}
}

// Suspects that are measured no more say nothing; of a mass change of which none is left, and of
// one that was resumed, the rest goes on as it was.
func TestMassChangeIsForgotten(t *testing.T) {
	t.Parallel()
	f := fleet{watch: New(), targets: 20, perHost: 1, regions: []string{"ap", "eu", "us"}, fails: between(120, 1e9, "eu", 20)}
	f.play(4)
	resumed := New()
	resumed.Resume(f.watch.Windows(), noon.Add(4*time.Minute))
	if diff := cmp.Diff(f.watch.Windows(), resumed.Windows()); diff != "" || f.windows() != "eu 120-" {
		t.Errorf("blind %q: %s", f.windows(), diff)
	}
	for name, w := range map[string]*Watch{"the first": f.watch, "resumed": resumed} {
		for s := 240; s <= 240+3700; s += 20 {
			w.Pass(noon.Add(time.Duration(s) * time.Second))
		}
		all := w.Windows()
		if len(all) != 1 || all[0].To.Before(noon.Add(time.Hour)) {
			t.Errorf("%s: %v", name, all)
		}
	}
}
