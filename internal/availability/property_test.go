package availability

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

func rat(r Ratio) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(r.Num), new(big.Int).SetUint64(r.Den))
}

// fewer is how many of a property's cases are tried: a tenth of them in short runs.
func fewer(all int) int {
	if testing.Short() {
		return all / 10
	}
	return all
}

func atMost(a, b Ratio) bool { return rat(a).Cmp(rat(b)) <= 0 }

// Whatever the slots that nobody measured were in truth, the bounds hold the uptime
// there would have been, and the uptime shown.
func TestBoundsHoldEveryResolution(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range fewer(20_000) {
		n := func() uint64 { return random.Uint64N(1 + random.Uint64N(40)) }
		c := Counts{n(), n(), n(), n(), n()}
		if c.Planned() == 0 {
			continue
		}
		open := c.Unknown + c.Missed
		for _, down := range []uint64{0, open, random.Uint64N(open + 1)} {
			truth := Counts{Up: c.Up + open - down, Degraded: c.Degraded, Down: c.Down + down}.Uptime()
			if !atMost(c.Low(), truth) || !atMost(truth, c.High()) {
				t.Fatalf("%+v, %d of the rest down: %v is not in [%v, %v]", c, down, truth, c.Low(), c.High())
			}
		}
		if shown := c.Uptime(); shown.Known() && (!atMost(c.Low(), shown) || !atMost(shown, c.High())) {
			t.Fatalf("%+v: %v is not in [%v, %v]", c, shown, c.Low(), c.High())
		}
	}
}

// history is a random one: slots every few minutes, phases of trouble, some of it late.
func history(random *rand.Rand) (rows []row, span Span, every Intervals) {
	start := at("2026-03-28T00:00:00Z")
	span = Span{start, start.Add(48 * time.Hour)}
	minutes := 5 + random.IntN(40)
	every = NewIntervals(Interval{start, time.Duration(minutes) * time.Minute})
	words := []string{"up", "up", "up", "degraded", "down", "unknown", "missed"}
	for _, region := range []string{"eu", "us", "ap"}[:1+random.IntN(3)] {
		word := "up"
		for when := start.Add(time.Duration(random.IntN(minutes*60)) * time.Second); when.Before(span.To); when = when.Add(every[0].Every) {
			if random.IntN(5) == 0 {
				word = words[random.IntN(len(words))]
			}
			rows = append(rows, row{region, when, word, "1"})
			if random.IntN(10) == 0 {
				rows = append(rows, row{region, when, words[random.IntN(len(words))], "2"})
			}
		}
	}
	return rows, span, every
}

func within(random *rand.Rand, s Span, step time.Duration) time.Time {
	return s.From.Add(time.Duration(random.Int64N(int64(s.To.Sub(s.From)/step)+1)) * step)
}

func someMaintenance(random *rand.Rand, s Span) Spans {
	var all []Span
	for range random.IntN(4) {
		from := within(random, s, time.Second)
		all = append(all, Span{from, from.Add(time.Duration(random.IntN(8000)) * time.Second)})
	}
	return NewSpans(all...)
}

// Splitting a window anywhere and adding the parts gives the whole, in any order of
// the cells, whether the cells are slots, quarters or hours.
func TestWindowsAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(fewer(60)) {
		random := rand.New(rand.NewPCG(3, seed))
		rows, span, every := history(random)
		edges := []time.Time{within(random, span, time.Second), within(random, span, time.Second), within(random, span, time.Second)}
		slices.SortFunc(edges, time.Time.Compare)
		window := Terms{Window: Span{edges[0], edges[2]}, Except: someMaintenance(random, span), Every: every}
		left, right := window, window
		left.Window.To, right.Window.From = edges[1], edges[1]
		var results []Figures
		for _, width := range []time.Duration{time.Millisecond, Quarter, time.Hour, 1000 * time.Hour} {
			cuts := append(window.Cuts(nil), edges...)
			series := count(rows, width, cuts)
			for region, cells := range series {
				whole := window.Sum(cells)
				if parts := left.Sum(cells).Add(right.Sum(cells)); parts != whole {
					t.Fatalf("seed %d, %v, %q: %+v in parts, %+v in one", seed, width, region, parts, whole)
				}
				random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
				if again := window.Sum(cells); again != whole {
					t.Fatalf("seed %d: %+v in another order, %+v", seed, again, whole)
				}
			}
			results = append(results, window.Sum(series[""]))
		}
		if slices.ContainsFunc(results, func(f Figures) bool { return f != results[0] }) {
			t.Fatalf("seed %d: slots, quarters, hours, one cell give %+v", seed, results)
		}
	}
}

// The order in which rows came changes nothing, and neither does a row that comes twice.
func TestOrderOfRowsChangesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(fewer(100)) {
		random := rand.New(rand.NewPCG(4, seed))
		rows, span, every := history(random)
		terms := Terms{Window: span, Except: someMaintenance(random, span), Every: every}
		figures := func() (Figures, []Incident) {
			cells := count(rows, Quarter, terms.Cuts(nil))[""]
			return terms.Sum(cells), terms.Incidents(cells)
		}
		before, incidents := figures()
		rows = append(rows, rows[:len(rows)/2]...)
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		after, again := figures()
		if before != after || !slices.Equal(incidents, again) {
			t.Fatalf("seed %d: %+v %v, then %+v %v", seed, before, incidents, after, again)
		}
		var down uint64
		for i, one := range incidents {
			down += one.Slots
			// The slots of regions are at times of their own here: together they are more than regular ones.
			if want := min(time.Duration(one.Slots)*every[0].Every, one.To.Sub(one.From)+every[0].Every); one.Downtime != want {
				t.Fatalf("seed %d: down for %v in %+v, want %v", seed, one.Downtime, one, want)
			}
			if one.Empty() || i > 0 && one.From.Before(incidents[i-1].To) {
				t.Fatalf("seed %d: incidents %v", seed, incidents)
			}
		}
		if down != before.Down {
			t.Fatalf("seed %d: incidents hold %d down slots; the figures %+v", seed, down, before)
		}
	}
}

func quarterEdges(s Span) []time.Time {
	var edges []time.Time
	for _, at := range []time.Time{s.From, s.To} {
		edges = append(edges, at.Truncate(Quarter), at.Truncate(Quarter).Add(Quarter))
	}
	return edges
}

// Where counts are too coarse for the edges, the bounds widen around the exact ones.
// With a grain all counts are too coarse in the same way.
func TestCoarseCountsWidenTheBounds(t *testing.T) {
	t.Parallel()
	wider := 0
	for seed := range uint64(fewer(120)) {
		random := rand.New(rand.NewPCG(5, seed))
		rows, span, every := history(random)
		terms := Terms{Window: Span{within(random, span, time.Second), span.To}, Except: someMaintenance(random, span), Every: every}
		exact := terms.Sum(count(rows, time.Millisecond, terms.Cuts(nil))[""])
		coarse := terms.Sum(count(rows, Quarter, nil)[""])
		if exact.Planned() == 0 {
			continue
		}
		if !atMost(coarse.Low(), exact.Low()) || !atMost(exact.High(), coarse.High()) {
			t.Fatalf("seed %d: [%v, %v] does not hold [%v, %v]", seed, coarse.Low(), coarse.High(), exact.Low(), exact.High())
		}
		if coarse != exact {
			wider++
		}
		terms.Grain = Quarter
		for _, width := range []time.Duration{time.Second, Quarter, time.Hour, 1000 * time.Hour} {
			if grained := terms.Sum(count(rows, width, append(terms.Cuts(nil), quarterEdges(terms.Window)...))[""]); grained != coarse {
				t.Fatalf("seed %d: with a grain, %v give %+v, quarters %+v", seed, width, grained, coarse)
			}
		}
	}
	if wider < fewer(50) {
		t.Errorf("only %d histories had an edge within a quarter: this proves little", wider)
	}
}

func TestPercentNeverFlatters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 7))
	for range fewer(50_000) {
		den := 1 + random.Uint64N(1+random.Uint64N(1<<random.IntN(60)))
		r := Ratio{den - random.Uint64N(1+random.Uint64N(den)), den}
		if random.IntN(2) == 0 {
			r.Num = random.Uint64N(den + 1)
		}
		digits := random.IntN(10)
		text := r.Percent(digits)
		number, small := strings.CutPrefix(text, "<")
		shown, ok := new(big.Rat).SetString(number)
		if !ok {
			t.Fatalf("%v: %q", r, text)
		}
		exact := rat(r)
		exact.Mul(exact, big.NewRat(100, 1))
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
		switch {
		case small && (shown.Cmp(unit) != 0 || exact.Cmp(shown) >= 0 || r.Num == 0):
			t.Fatalf("%v is %s", r, text)
		case !small && (shown.Cmp(exact) > 0 || new(big.Rat).Sub(exact, shown).Cmp(unit) >= 0):
			t.Fatalf("%v is %s", r, text)
		case r.Num < r.Den && strings.HasPrefix(number, "100"), r.Num > 0 && !small && shown.Sign() == 0:
			t.Fatalf("%v is %s", r, text)
		case r.Num < r.Den && r.Den < 1<<53 && r.Float() >= 1:
			t.Fatalf("%v is %v", r, r.Float())
		}
	}
}

// The fold is the one that pages show live, as long as anything was measured.
func TestFoldIsTheVerdict(t *testing.T) {
	t.Parallel()
	now := at("2026-03-01T12:00:00Z")
	rules := verdict.Rules{Interval: time.Minute, Timeout: time.Second, Active: true}
	folds := map[verdict.State]Counts{verdict.StateUp: one("up"), verdict.StateDegraded: one("degraded"), verdict.StateDown: one("down")}
	for code := range 5 * 5 * 5 * 5 * 5 {
		c := Counts{uint64(code % 5), uint64(code / 5 % 5), uint64(code / 25 % 5), uint64(code / 125 % 5), uint64(code / 625)}
		var seen []verdict.Observation
		for status, n := range map[uptime.Status]uint64{uptime.StatusUp: c.Up, uptime.StatusDegraded: c.Degraded, uptime.StatusDown: c.Down} {
			for range n {
				seen = append(seen, verdict.Observation{Status: status, ScheduledAt: now})
			}
		}
		want, measured := folds[verdict.Fold(rules, verdict.Conditions{}, seen, verdict.Verdict{}, now).State]
		switch {
		case measured:
		case c.Unknown > 0:
			want = one("unknown")
		case c.Missed > 0:
			want = one("missed")
		}
		if got := c.Fold(); got != want {
			t.Fatalf("%+v folds to %+v, want %+v", c, got, want)
		}
	}
}
