package resultstore

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// modelStep is what a series says of a step, from the rows themselves.
type modelStep struct {
	counts  availability.Counts
	totals  []float64
	phases  [5]float64 // sums
	revised bool
}

// modelSeries folds rows by region and, as region "", of all.
func modelSeries(rows []uptime.Result, s Series) map[string][]modelStep {
	kept := map[uptime.Slot]uptime.Result{}
	for _, r := range rows {
		if old, found := kept[r.Slot()]; !found || r.Revision() > old.Revision() {
			kept[r.Slot()] = r
		}
	}
	model := map[string][]modelStep{}
	for slot, r := range kept {
		if slot.ScheduledAt.Before(s.From) || !slot.ScheduledAt.Before(s.To) {
			continue
		}
		for _, region := range []string{"", slot.Region} {
			if model[region] == nil {
				model[region] = make([]modelStep, len(s.At))
			}
			step := &model[region][slot.ScheduledAt.Sub(s.At[0])/s.Step]
			step.counts = step.counts.Add(countOf(r.Status))
			if r.Status <= uptime.StatusDegraded {
				step.totals = append(step.totals, float64(r.TotalUS))
				for i, us := range []uint32{r.Phases.DNS, r.Phases.Connect, r.Phases.TLS, r.Phases.Wait, r.Phases.Transfer} {
					step.phases[i] += float64(us)
				}
			}
		}
	}
	return model
}

// compare holds a series against the model: counts and means exactly, percentiles to the
// given part of them.
func compare(t *testing.T, name string, s Series, want []modelStep, tolerance float64) {
	t.Helper()
	for i, w := range want {
		got := availability.Counts{Up: s.Up[i], Degraded: s.Degraded[i], Down: s.Down[i], Unknown: s.Unknown[i], Missed: s.Missed[i]}
		if got != w.counts || s.Count[i] != w.counts.Planned() {
			t.Errorf("%s: step %v counts %+v, want %+v", name, s.At[i], got, w.counts)
		}
		if s.RevisedAt[i].IsZero() == w.revised {
			t.Errorf("%s: step %v was revised at %v, want it %v", name, s.At[i], s.RevisedAt[i], w.revised)
		}
		slices.Sort(w.totals)
		for p, column := range map[float64][]float64{0.5: s.P50, 0.95: s.P95, 0.99: s.P99} {
			if n := len(w.totals); n == 0 && !math.IsNaN(column[i]) {
				t.Errorf("%s: step %v has a percentile of nothing", name, s.At[i])
			} else if n > 0 {
				// between the neighbours of the rank: definitions differ in the last place
				low, high := w.totals[max(0, int(p*float64(n-1))-1)], w.totals[min(n-1, int(p*float64(n))+1)]
				if column[i] < low*(1-tolerance) || column[i] > high*(1+tolerance) || math.IsNaN(column[i]) {
					t.Errorf("%s: step %v has p%v %v, want %v to %v", name, s.At[i], p*100, column[i], low, high)
				}
			}
		}
		for phase, column := range [][]float64{s.DNS, s.Connect, s.TLS, s.Wait, s.Transfer} {
			mean := w.phases[phase] / float64(len(w.totals))
			if math.IsNaN(mean) != math.IsNaN(column[i]) || math.Abs(mean-column[i]) > 1e-6*mean {
				t.Errorf("%s: step %v has a mean of phase %d of %v, want %v", name, s.At[i], phase, column[i], mean)
			}
		}
	}
}

// seriesRows are five days of a target in three regions, without what comes late.
func seriesRows(random *rand.Rand, start, end time.Time) (rows []uptime.Result) {
	us := func(most uint32) uint32 { return 1 + random.Uint32N(most) }
	for at := start; at.Before(end); at = at.Add(9*time.Minute + time.Duration(random.IntN(60_000))*time.Millisecond) {
		for _, region := range []string{"ap", "eu", "us"}[:1+random.IntN(3)] {
			r := up(1, region, at)
			r.IngestedAt = at.Add(time.Second)
			r.Phases = uptime.Phases{DNS: us(900), Connect: us(9000), TLS: us(20_000), Wait: us(90_000), Transfer: us(2000)}
			r.TotalUS = r.Phases.DNS + r.Phases.Connect + r.Phases.TLS + r.Phases.Wait + r.Phases.Transfer
			switch random.IntN(8) {
			case 0:
				r.Status, r.Failure, r.TotalUS = uptime.StatusDown, uptime.FailureTimeout, 10_000_000
			case 1:
				r.Status = uptime.StatusDegraded
			case 2:
				r = missed(1, region, at)
				r.IngestedAt = at.Add(time.Second)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Whatever tiers a series is made of, it is that of the rows; hours that were corrected are
// marked in it; and the server says what it took.
func TestSeriesOfEveryTier(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	random := rand.New(rand.NewPCG(7, 8))
	now := time.Now().UTC().Truncate(time.Second)
	s.now = func() time.Time { return now }
	start := now.Truncate(day).Add(-5 * day)
	if testing.Short() {
		start = start.Add(2 * day)
	}
	rows := seriesRows(random, start, now.Add(-time.Minute))
	other := up(2, "eu", start.Add(hour))
	insert(t, s, batchOf(rows[:len(rows)/2]...), batchOf(rows[len(rows)/2:]...), batchOf(other))
	version := now.Add(-time.Minute)
	for h := start; h.Before(now); h = h.Add(hour) {
		recompute(t, s, Rollup{Bucket: h, Version: version})
	}
	late := map[time.Time]bool{}
	for _, h := range []time.Time{start.Add(27 * time.Hour), now.Truncate(hour).Add(-6 * time.Hour)} { // one for rollups, one for results
		r := up(1, "eu", h.Add(14*time.Minute+30*time.Second))
		r.IngestedAt = now
		rows, late[h] = append(rows, r), true
		insert(t, s, batchOf(r))
		if done := recompute(t, s, Rollup{Bucket: h, Version: now, Closed: true}); done.Revised != 2 {
			t.Fatalf("%d rows were revised", done.Revised)
		}
	}
	for d := start; d.Before(now.Truncate(day)); d = d.Add(day) {
		if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: d, Version: now}); err != nil {
			t.Fatal(err)
		}
	}
	s.RolledUp(now)
	for name, c := range map[string]struct {
		q         SeriesQuery
		tier      Tier
		tolerance float64
	}{
		"a day":               {SeriesQuery{From: now.Add(-day), To: now}, TierRaw, 0},
		"odd edges":           {SeriesQuery{From: now.Add(-30 * time.Hour).Add(1234 * time.Millisecond), To: now.Add(-time.Hour - time.Millisecond), Step: 7 * time.Minute}, TierRaw, 0},
		"all, by ten minutes": {SeriesQuery{From: start, To: now, Step: 10 * time.Minute}, TierRaw, 0},
		"all":                 {SeriesQuery{From: start.Add(20 * time.Minute), To: now}, TierHourly, 0.02},
		"all, by six hours":   {SeriesQuery{From: start.Add(20 * time.Minute), To: now, Step: 6 * time.Hour}, TierHourly, 0.02},
		"all, by days":        {SeriesQuery{From: start, To: now, Step: day}, TierDaily, 0.02},
		"by two days":         {SeriesQuery{From: start.Add(time.Minute), To: now.Add(-time.Minute), Step: 2 * day}, TierDaily, 0.02},
	} {
		c.q.TargetID = 1
		matrix, err := s.Matrix(t.Context(), c.q)
		if err != nil || len(matrix) != 3 {
			t.Fatalf("%s: %d regions, %v", name, len(matrix), err)
		}
		for _, region := range []string{"", "ap", "eu", "us"} {
			c.q.Region = region
			got, err := s.Series(t.Context(), c.q)
			if err != nil || got.Tier != c.tier {
				t.Fatalf("%s of %q: tier %s, %v", name, region, got.Tier, err)
			}
			model := modelSeries(rows, got)[region]
			marked := 0
			for i, at := range got.At {
				for h := range late {
					if region == "" || region == "eu" {
						model[i].revised = model[i].revised || h.Before(at.Add(got.Step)) && at.Before(h.Add(hour)) && h.Add(hour).After(got.From) && h.Before(got.To)
					}
				}
				if model[i].revised {
					marked++
				}
			}
			if wanted := region == "" || region == "eu"; wanted != (marked > 0) {
				t.Errorf("%s of %q: %d steps are marked", name, region, marked)
			}
			compare(t, name+" of "+region, got, model, c.tolerance)
			if region != "" {
				if diff := cmp.Diff(got, matrix[region], cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })); diff != "" {
					t.Errorf("%s of %q is not as in the matrix: %s", name, region, diff)
				}
			}
		}
		c.q.Region, c.q.Whole = "", true
		whole, err := s.Series(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		model := modelSeries(rows, whole)[""]
		for i := range model {
			model[i].counts, model[i].revised = availability.Counts{}, !whole.RevisedAt[i].IsZero()
		}
		cells := modelCells(of1(rows), CellQuery{From: whole.From, To: whole.To, Width: whole.Step})
		for span, counts := range cells[cellSeries{1, ""}] {
			step := &model[span.From.Sub(whole.At[0])/whole.Step]
			step.counts = step.counts.Add(counts)
		}
		compare(t, name+" as a whole", whole, model, c.tolerance)
	}
	nobody, err := s.Series(t.Context(), SeriesQuery{TargetID: 9, From: now.Add(-day), To: now})
	if err != nil || len(nobody.At) < 288 || nobody.Tier != TierRaw || slices.Max(nobody.Count) != 0 {
		t.Errorf("of a target without results: %+v, %v", nobody, err)
	}
}

func of1(rows []uptime.Result) []uptime.Result {
	return slices.DeleteFunc(slices.Clone(rows), func(r uptime.Result) bool { return r.TargetID != 1 })
}

// Whose hours were corrected is known as of the last run that was told, and each time asked while none was.
func TestCorrectionsOfALaterRunAreMarked(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	now := time.Now().UTC().Truncate(time.Second)
	s.now = func() time.Time { return now }
	corrected := now.Truncate(hour).Add(-2 * hour)
	var rows []uptime.Result
	for i := range 10 {
		rows = append(rows, up(1, "eu", corrected.Add(time.Duration(i)*time.Minute)), up(2, "eu", corrected.Add(time.Duration(i)*time.Minute)))
	}
	insert(t, s, batchOf(rows...))
	recompute(t, s, Rollup{Bucket: corrected, Version: now.Add(-time.Minute)})
	marked := func(s *Store, id int64) bool {
		t.Helper()
		got, err := s.Series(t.Context(), SeriesQuery{TargetID: id, From: now.Add(-day), To: now})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(got.RevisedAt, func(at time.Time) bool { return !at.IsZero() })
	}
	s.RolledUp(now.Add(-time.Minute))
	if marked(s, 1) || marked(s, 2) {
		t.Error("what was not corrected is marked")
	}
	late := up(1, "eu", corrected.Add(20*time.Minute))
	late.IngestedAt = now
	insert(t, s, batchOf(late))
	if done := recompute(t, s, Rollup{Bucket: corrected, Version: now, Closed: true}); done.Revised != 2 {
		t.Fatalf("%d rows were revised", done.Revised)
	}
	s.RolledUp(now)
	if !marked(s, 1) || marked(s, 2) {
		t.Errorf("after a run that corrected the first of two: %v and %v", marked(s, 1), marked(s, 2))
	}
	silent, err := Open(t.Context(), s.url) // nobody told it of a run
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	if !marked(silent, 1) || marked(silent, 2) {
		t.Errorf("of a run that nobody told: %v and %v", marked(silent, 1), marked(silent, 2))
	}
}
