package resultstore

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// An hour of a target that three regions look at every ten minutes, worked out by hand: eu is
// blind from :10 to :40, us from :30 to :40, ap from :30 to :40.
//
//	        :00   :10   :20   :30   :40   :50
//	eu      up    down* down* down* down  up
//	us      up    down  up    down* down  up
//	ap      up    up    up    up*   up    down
//	whole   up    degr. up    unk.  down  degr.      (* blind: as if unknown)
func TestBlindRegionsAreNotCounted(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	start := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	var rows []uptime.Result
	for region, saw := range map[string]string{"eu": "uddddu", "us": "ududdu", "ap": "uuuuud"} {
		for i, status := range saw {
			r := up(1, region, minute(10*i))
			if status == 'd' {
				r.Status, r.Failure = uptime.StatusDown, uptime.FailureTimeout
			}
			rows = append(rows, r)
		}
	}
	insert(t, s, batchOf(rows...))
	spans := func(from, to int) availability.Spans {
		return availability.NewSpans(availability.Span{From: minute(from), To: minute(to)})
	}
	q := CellQuery{IDs: []int64{1}, From: start, To: minute(60), Cuts: []time.Time{minute(10), minute(30), minute(40)}, Blind: map[string]availability.Spans{"eu": spans(10, 40), "us": spans(30, 40), "ap": spans(30, 40)}}
	want := map[string][]availability.Counts{
		"eu": {{Up: 1}, {Unknown: 2}, {Unknown: 1}, {Up: 1, Down: 1}},
		"us": {{Up: 1}, {Up: 1, Down: 1}, {Unknown: 1}, {Up: 1, Down: 1}},
		"ap": {{Up: 1}, {Up: 2}, {Unknown: 1}, {Up: 1, Down: 1}},
		"":   {{Up: 1}, {Up: 1, Degraded: 1}, {Unknown: 1}, {Degraded: 1, Down: 1}},
	}
	for _, whole := range []bool{false, true} {
		q.Whole = whole
		got := cellsOf(t, s, q)
		for region, counts := range want {
			if whole && region != "" {
				continue
			}
			var all []availability.Counts
			for i, from := range []int{0, 10, 30, 40} {
				all = append(all, got[cellSeries{1, region}][availability.Span{From: minute(from), To: minute([]int{10, 30, 40, 60}[i])}])
			}
			if diff := cmp.Diff(counts, all); diff != "" {
				t.Errorf("whole %v, %q: %s", whole, region, diff)
			}
		}
	}
}

// Long windows are counted from results where a region was blind, if those are kept; where only
// rollups are, the target as a whole is unknown then, both ways.
func TestBlindStretchesOfRollups(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	span := func(from, to time.Duration) availability.Span {
		return availability.Span{From: base.Add(from), To: base.Add(to)}
	}
	blind := func(all ...availability.Span) map[string]availability.Spans {
		return map[string]availability.Spans{"eu": availability.NewSpans(all...)}
	}
	odd := 7*time.Minute + 3*time.Second
	for name, c := range map[string]struct {
		blind map[string]availability.Spans
		want  []availability.Span // that are counted from results
	}{
		"kept":               {blind(span(12*day+odd, 12*day+time.Hour)), []availability.Span{span(12*day, 12*day+time.Hour)}},
		"from the beginning": {blind(span(5*day, 11*day)), nil}, // of a part of it there are none any more, and it is too long
		"too old":            {blind(span(6*day, 6*day+time.Hour)), nil},
		"too long":           {blind(span(12*day, 15*day)), nil},
		"two quarters that touch": {blind(span(12*day+odd, 12*day+odd+time.Second), span(12*day+odd+20*time.Minute, 12*day+odd+21*time.Minute)),
			[]availability.Span{span(12*day, 12*day+15*time.Minute), span(12*day+15*time.Minute, 12*day+30*time.Minute)}},
	} {
		q := CellQuery{From: base.Add(5 * day), To: base.Add(20 * day), Blind: c.blind}
		for _, s := range c.blind["eu"] {
			q.Cuts = append(q.Cuts, s.From, s.To)
		}
		parts := planCells(q, keeps{raw: base.Add(10 * day), hourly: base, rolled: base.Add(20 * day)})
		var got []availability.Span
		slices.SortFunc(parts, func(a, b cellPart) int { return a.From.Compare(b.From) })
		at := q.From
		for _, p := range parts {
			if !p.From.Equal(at) {
				t.Errorf("%s: a part begins at %v, the one before ends at %v", name, p.From, at)
			}
			at = p.To
			if p.tier == fromResults && p.To.Sub(p.From) >= availability.Quarter {
				got = append(got, availability.Span{From: p.From, To: p.To})
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !at.Equal(q.To) {
			t.Errorf("%s: to %v, %s", name, at, diff)
		}
	}
}

func TestBlindTimesOfRollupsAreUnknown(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	now := time.Now().UTC()
	start := now.Truncate(time.Hour).Add(-5 * time.Hour)
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	var rows []uptime.Result
	for i := range 6 {
		rows = append(rows, up(1, "eu", minute(10*i)), up(1, "us", minute(10*i)))
	}
	insert(t, s, batchOf(rows...))
	recompute(t, s, Rollup{Bucket: start, Version: now})
	s.now = func() time.Time { return start.Add(s.RawKept() + 72*time.Hour) }
	s.RolledUp(s.now())
	q := CellQuery{
		IDs: []int64{1}, From: start, To: minute(60), Cuts: []time.Time{minute(20), minute(30)},
		Blind: map[string]availability.Spans{"eu": availability.NewSpans(availability.Span{From: minute(20), To: minute(30)})},
	}
	sum := map[string]availability.Counts{}
	for series, cells := range cellsOf(t, s, q) {
		for _, c := range cells {
			sum[series.region] = sum[series.region].Add(c)
		}
	}
	// From :15 to :30 only a quarter is known, and in it is one slot.
	if diff := cmp.Diff(map[string]availability.Counts{"eu": {Up: 6}, "us": {Up: 6}, "": {Up: 5, Unknown: 1}}, sum); diff != "" {
		t.Error(diff)
	}
}
