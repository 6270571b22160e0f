package resultstore

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

var tierLength = map[tierOf]time.Duration{fromQuarters: availability.Quarter, fromHours: hour, fromDays: day}

// Whatever is asked: no stretch is counted twice or left out, every table is asked for
// stretches it knows, and no cell reaches across a cut unless it is a lone quarter of which
// no results are kept.
func TestPlannedCells(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	base := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	seen := map[tierOf]int{}
	for range 20_000 {
		moment := func() time.Time {
			at := base.Add(time.Duration(random.Int64N(int64(40 * day))))
			return at.Truncate([]time.Duration{time.Millisecond, availability.Quarter, hour, 30 * time.Minute, day}[random.IntN(5)])
		}
		q := CellQuery{From: moment(), To: moment(), Width: []time.Duration{0, 5 * time.Minute, availability.Quarter, hour, day}[random.IntN(5)]}
		if q.To.Before(q.From) {
			q.From, q.To = q.To, q.From
		}
		if !q.From.Before(q.To) {
			continue
		}
		for range random.IntN(30) {
			if cut := moment(); cut.After(q.From) && cut.Before(q.To) {
				q.Cuts = append(q.Cuts, cut)
			}
		}
		slices.SortFunc(q.Cuts, time.Time.Compare)
		raw, rolled := base.Add(time.Duration(random.IntN(40))*day), moment()
		at := q.From
		parts := planCells(q, keeps{raw: raw, rolled: rolled})
		slices.SortFunc(parts, func(a, b cellPart) int { return a.From.Compare(b.From) })
		for i, p := range parts {
			seen[p.tier]++
			lone := p.tier == fromQuarters && p.To.Sub(p.From) == availability.Quarter && len(p.Cuts) == 0
			switch {
			case p.From.Equal(at), lone && i == 0 && p.From.Before(at):
			default:
				t.Fatalf("%+v: part %d begins at %v, not %v\n%+v", q, i, p.From, at, parts)
			}
			if length := tierLength[p.tier]; length > 0 && (!all([]time.Time{p.From, p.To}, aligned(length)) || !all(p.Cuts, aligned(length)) || p.Width%length != 0 && (q.Width != 5*time.Minute || !q.From.Before(raw))) {
				t.Fatalf("%+v: a table of %v is asked for %+v", q, length, p)
			}
			if p.tier != fromResults && p.To.After(ceilTo(rolled, availability.Quarter)) {
				t.Fatalf("%+v: %+v is not rolled up yet: %v", q, p, rolled)
			}
			for _, cut := range q.Cuts {
				if cut.After(p.From) && cut.Before(p.To) && !slices.ContainsFunc(p.Cuts, cut.Equal) && (!lone || !p.From.Before(raw) && len(q.Cuts) < maxExact-2) {
					t.Fatalf("%+v: %+v reaches across %v", q, p, cut)
				}
			}
			at = p.To
		}
		if at.Before(q.To) || at.Sub(q.To) >= availability.Quarter {
			t.Fatalf("%+v: ends at %v\n%+v", q, at, parts)
		}
	}
	if len(seen) != 4 {
		t.Errorf("not all tables were asked: %v", seen)
	}
}

func aligned(length time.Duration) func(time.Time) bool {
	return func(at time.Time) bool { return at.Equal(at.Truncate(length)) }
}

// Counts from rollups are those from results, also for days of zones that are not whole
// hours from UTC, and for edges and cuts within quarters.
func TestCellsFromRollupsAreThoseOfResults(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	random := rand.New(rand.NewPCG(5, 6))
	now := time.Now().UTC()
	start := now.Truncate(day).Add(-4 * day)
	if testing.Short() {
		start = start.Add(day)
	}
	var rows []uptime.Result
	for at := start; at.Before(now.Add(-time.Minute)); at = at.Add(11*time.Minute + time.Duration(random.IntN(60_000))*time.Millisecond) {
		for _, region := range []string{"ap", "eu", "us"}[:1+random.IntN(3)] {
			r := up(1+int64(random.IntN(2)), region, at)
			r.IngestedAt = r.ScheduledAt.Add(time.Second)
			switch random.IntN(4) {
			case 0:
				r.Status, r.Failure = uptime.StatusDown, uptime.FailureTimeout
			case 1:
				r = uptime.Result{TargetID: r.TargetID, Region: region, ScheduledAt: r.ScheduledAt, Status: uptime.StatusMissed, Reason: uptime.ReasonLost, IngestedAt: r.IngestedAt}
			}
			rows = append(rows, r)
		}
	}
	insert(t, s, batchOf(rows...))
	for h := start; h.Before(now); h = h.Add(hour) {
		recompute(t, s, Rollup{Bucket: h, Version: now})
	}
	for d := start; d.Before(now.Truncate(day)); d = d.Add(day) {
		if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: d, Version: now}); err != nil {
			t.Fatal(err)
		}
	}
	s.RolledUp(now)
	odd := start.Add(31*time.Hour + 7*time.Minute + 13*time.Second)
	for name, q := range map[string]CellQuery{
		"everything":         {From: start, To: now},
		"days":               {From: start, To: now, Width: day},
		"hours":              {From: start.Add(5 * time.Hour), To: now, Width: hour},
		"quarters":           {From: start.Add(5*time.Hour + 15*time.Minute), To: now, Width: availability.Quarter},
		"days in Kathmandu":  {From: start.Add(18*time.Hour + 15*time.Minute), To: now, Cuts: []time.Time{start.Add(42*time.Hour + 15*time.Minute), start.Add(66*time.Hour + 15*time.Minute)}},
		"odd edges and cuts": {From: start.Add(time.Minute), To: now, Width: hour, Cuts: []time.Time{odd, odd.Add(time.Minute), odd.Add(3 * time.Hour)}},
	} {
		for _, whole := range []bool{false, true} {
			q.IDs, q.Whole = []int64{1, 2, 3}, whole
			if got := slices.ContainsFunc(planCells(q, keeps{raw: start.Add(-day), rolled: now.Add(-rollupAge)}), func(p cellPart) bool { return p.tier != fromResults }); !got {
				t.Fatalf("%s: nothing comes from rollups", name)
			}
			want := modelCells(rows, q)
			got := map[cellSeries]map[availability.Span]availability.Counts{}
			for k, cells := range cellsOf(t, s, q) {
				got[k] = map[availability.Span]availability.Counts{}
				for span, counts := range cells { // narrower than asked, or as wide
					in := spanAround(q, span)
					got[k][in] = got[k][in].Add(counts)
				}
			}
			for k := range want {
				if whole && k.region != "" {
					delete(want, k)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%s, as a whole %v: %s", name, whole, diff)
			}
		}
	}
}

// spanAround is the widest cell that the question allows around one.
func spanAround(q CellQuery, cell availability.Span) availability.Span {
	span := availability.Span{From: q.From, To: q.To}
	edges := slices.Clone(q.Cuts)
	if q.Width > 0 {
		edges = append(edges, cell.From.Truncate(q.Width), cell.From.Truncate(q.Width).Add(q.Width))
	}
	for _, edge := range edges {
		if !edge.After(cell.From) && edge.After(span.From) {
			span.From = edge
		}
		if edge.After(cell.From) && edge.Before(span.To) {
			span.To = edge
		}
	}
	return span
}

// A day whose results are past their time, and may be gone, is that of the rollups.
func TestCellsOfResultsThatMayBeGone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	now := time.Now().UTC()
	start := now.Truncate(day).Add(-3 * day)
	var rows []uptime.Result
	for at := start; at.Before(start.Add(day)); at = at.Add(7 * time.Minute) {
		rows = append(rows, up(1, "eu", at))
	}
	insert(t, s, batchOf(rows...))
	for h := start; h.Before(start.Add(day)); h = h.Add(hour) {
		recompute(t, s, Rollup{Bucket: h, Version: now})
	}
	if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: start, Version: now}); err != nil {
		t.Fatal(err)
	}
	if err := s.conn.Exec(t.Context(), `TRUNCATE TABLE results`); err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return start.Add(s.RawKept() + 12*time.Hour) } // half of the day is past its time
	q := CellQuery{IDs: []int64{1}, From: start, To: start.Add(day), Whole: true}
	if got := cellsOf(t, s, q)[cellSeries{1, ""}][availability.Span{From: q.From, To: q.From.Add(12 * time.Hour)}]; got.Up != 103 {
		t.Errorf("%+v", got)
	}
	s.RolledUp(s.now())
	if got := cellsOf(t, s, q)[cellSeries{1, ""}][availability.Span{From: q.From, To: q.To}]; got.Up != uint64(len(rows)) {
		t.Errorf("%+v, want %d", got, len(rows))
	}
}

// Narrow cells are those of results also where a question took its time and begins a
// little before what is kept: quarters cannot be divided.
func TestNarrowCellsAtTheEdgeOfWhatIsKept(t *testing.T) {
	t.Parallel()
	raw := time.Date(2026, 3, 1, 10, 0, 7, 0, time.UTC)
	q := CellQuery{From: raw.Add(-3 * time.Second), To: raw.Add(day), Width: 5 * time.Minute, Whole: true}
	if parts := planCells(q, keeps{raw: raw, rolled: raw.Add(2 * day)}); len(parts) != 1 || parts[0].tier != fromResults || !parts[0].From.Equal(q.From) {
		t.Errorf("%+v", parts)
	}
	s, _ := open(t)
	now := time.Now().UTC()
	edge := now.Add(-Retention)
	var rows []uptime.Result
	for at := edge.Truncate(time.Minute).Add(2 * time.Minute); at.Before(edge.Add(3 * hour)); at = at.Add(time.Minute) {
		rows = append(rows, up(1, "eu", at))
	}
	s.now = func() time.Time { return time.Now().Add(-2 * day) } // they were taken when they were younger
	insert(t, s, batchOf(rows...))
	s.now = func() time.Time { return now } // the edge stays where it is, however long this takes
	for h := edge.Truncate(hour); h.Before(edge.Add(3 * hour)); h = h.Add(hour) {
		recompute(t, s, Rollup{Bucket: h, Version: time.Now()})
	}
	one := SeriesQuery{TargetID: 1, From: edge.Add(-time.Minute), To: edge.Add(3 * hour), Step: 5 * time.Minute}
	want, err := s.Series(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	one.Whole = true
	got, err := s.Series(t.Context(), one)
	if err != nil || !slices.Equal(got.Up, want.Up) {
		t.Errorf("as a whole %v, by its only region %v, %v", got.Up, want.Up, err)
	}
}

// Rollups are not good for hours that are still to come, whatever clock the last run went by.
func TestRollupsOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	s := &Store{now: func() time.Time { return planNow }}
	for ahead, want := range map[time.Duration]time.Duration{5 * hour: -rollupAge, -time.Minute: -rollupAge - time.Minute} {
		s.RolledUp(planNow.Add(ahead))
		if got := s.keeps().rolled; !got.Equal(planNow.Add(want)) {
			t.Errorf("%v ahead: good up to %v", ahead, got)
		}
	}
}

// Where hours are not kept any more, days are asked, in whatever zone the cuts are: what
// they cannot tell apart reaches across a cut, and nothing is left out.
func TestCellsOfTimesOfWhichOnlyDaysAreKept(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	now := time.Now().UTC()
	s.now = func() time.Time { return now }
	first := now.Truncate(day).Add(-9 * day)
	var rows []uptime.Result
	for at := first; at.Before(first.Add(6 * day)); at = at.Add(6 * hour) {
		rows = append(rows, up(1, "eu", at))
	}
	insert(t, s, batchOf(rows...))
	for at := first; at.Before(first.Add(6 * day)); at = at.Add(6 * hour) {
		recompute(t, s, Rollup{Bucket: at, Version: now})
	}
	for at := first; at.Before(first.Add(6 * day)); at = at.Add(day) {
		if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: at, Version: now}); err != nil {
			t.Fatal(err)
		}
	}
	kept := 7*day + now.Sub(now.Truncate(day)) // from the third midnight on
	s.learnt(Retentions{Raw: kept, Hourly: kept})
	s.RolledUp(now)
	for _, table := range []string{"results", "rollup_1h"} {
		column := map[string]string{"results": "scheduled_at", "rollup_1h": "bucket"}[table]
		if err := s.conn.Exec(t.Context(), `DELETE FROM `+table+` WHERE `+column+` < '`+first.Add(2*day).Format(time.DateTime)+`'`); err != nil {
			t.Fatal(err)
		}
	}
	q := CellQuery{IDs: []int64{1}, From: first.Add(90 * time.Minute), To: first.Add(6 * day), Whole: true}
	for at := first.Add(22 * hour); at.Before(q.To); at = at.Add(day) {
		q.Cuts = append(q.Cuts, at)
	}
	got := cellsOf(t, s, q)[cellSeries{1, ""}]
	want := map[availability.Span]availability.Counts{}
	for _, c := range []struct {
		from, to time.Duration
		up       uint64
	}{{0, 24, 4}, {24, 48, 4}, {48, 70, 4}, {70, 94, 4}, {94, 118, 4}, {118, 142, 4}} {
		want[availability.Span{From: first.Add(c.from * hour), To: first.Add(c.to * hour)}] = availability.Counts{Up: c.up}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A chart that begins where hours do is made of hours, and its counts too.
	s.learnt(Retentions{Raw: LeastRetention, Hourly: kept + 30*time.Minute})
	whole, err := s.Series(t.Context(), SeriesQuery{TargetID: 1, From: first.Add(2*day - 20*time.Minute), To: q.To, Step: 6 * hour, Whole: true})
	if err != nil || whole.Tier != TierHourly || whole.Up[1] != 1 {
		t.Errorf("%v %v, %v", whole.Tier, whole.Up, err)
	}
}
