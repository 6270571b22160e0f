package rollup

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// checkCells compares what is answered from results and rollups together, of some targets of
// which a run has seen all, with the model: every cell, as wide as an hour or a day, of regions
// and of targets as a whole.
func (h *histories) checkCells(t *testing.T, what string, of []*history) {
	t.Helper()
	if len(of) == 0 {
		return
	}
	h.store.RolledUp(h.succeeded(t))
	now := time.Now().UTC()
	q := resultstore.CellQuery{
		From: now.Truncate(day).Add(-28 * day), To: now.Truncate(hour).Add(hour),
		Width: []time.Duration{availability.Quarter, hour, day}[h.rng.IntN(3)], Whole: h.rng.IntN(3) == 0,
	}
	asked := map[int64]bool{}
	for _, n := range h.rng.Perm(len(of))[:min(100, len(of))] {
		q.IDs = append(q.IDs, of[n].target)
		asked[of[n].target] = true
	}
	want := map[cell]availability.Counts{}
	raw := map[int64]resultstore.Uptime{}
	together := map[uptime.Slot]availability.Counts{}
	for s, r := range h.slots {
		if !asked[s.TargetID] || s.ScheduledAt.Before(q.From) || !s.ScheduledAt.Before(q.To) {
			continue
		}
		one := raw[s.TargetID]
		raw[s.TargetID] = resultstore.Uptime(availability.Counts(one).Add(countOf(r.Status)))
		if !q.Whole {
			c := cell{s.TargetID, s.Region, s.ScheduledAt.Truncate(q.Width)}
			want[c] = want[c].Add(countOf(r.Status))
		}
		s.Region = ""
		together[s] = together[s].Add(countOf(r.Status))
	}
	for s, c := range together {
		k := cell{s.TargetID, "", s.ScheduledAt.Truncate(q.Width)}
		want[k] = want[k].Add(c.Fold())
	}
	got := map[cell]availability.Counts{}
	if err := h.store.Cells(t.Context(), q, func(id int64, region string, c availability.Cell) error {
		k := cell{id, region, c.From.Truncate(q.Width)} // one a table that it is answered from
		got[k] = got[k].Add(c.Counts)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := differ(want, got); diff != "" {
		t.Fatalf("%s: cells of %v, whole %v (- model, + stored): %.3000s", what, q.Width, q.Whole, diff)
	}
	counted, err := h.store.UptimeMany(t.Context(), q.IDs, q.From, q.To)
	if err != nil {
		t.Fatal(err)
	}
	if diff := differ(raw, counted); diff != "" {
		t.Fatalf("%s: uptime (- model, + stored): %.3000s", what, diff)
	}
}

func countOf(s uptime.Status) (c availability.Counts) {
	*[...]*uint64{uptime.StatusUp: &c.Up, uptime.StatusDegraded: &c.Degraded, uptime.StatusDown: &c.Down, uptime.StatusUnknown: &c.Unknown, uptime.StatusMissed: &c.Missed}[s] = 1
	return c
}
