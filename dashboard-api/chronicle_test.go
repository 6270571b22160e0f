package main

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	onceHour  = time.Hour
	onceDay   = 24 * time.Hour
	onceFirst = 47*time.Hour + 10*time.Minute // of the range: across a day's end, in three hours
	onceSlots = 75
)

// chronicle is a target's results as they were sent, and what the API has to say of them.
type chronicle struct {
	*node
	store     *resultstore.Store
	notes     *rollupstore.Store
	id        int64
	from, to  time.Time
	kept      map[uptime.Slot]uptime.Result
	published map[onceCell]availability.Counts // by the last run, of closed hours
	revised   map[onceCell]bool
	clock     time.Time
}

type onceCell struct {
	region string
	hour   time.Time
}

func newChronicle(t *testing.T) *chronicle {
	site := newSite(t)
	store, err := resultstore.Open(t.Context(), site.clickHouse.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	today := time.Now().UTC().Truncate(onceDay)
	return &chronicle{
		node: start(t, site.database, site.redis.URL(), site.clickHouse.URL()), store: store, notes: rollupstore.New(databasetest.Open(t, site.database)),
		id: site.target.ID, from: today.Add(-5 * onceDay), to: today.Add(-onceDay), kept: map[uptime.Slot]uptime.Result{}, revised: map[onceCell]bool{},
		clock: time.Now().Add(-time.Minute),
	}
}

// result is one of a slot within the range; each is newer than the one made before.
func (h *chronicle) result(region string, n int, status uptime.Status) uptime.Result {
	h.clock = h.clock.Add(10 * time.Millisecond)
	r := uptime.Result{
		TargetID: h.id, Region: region, ScheduledAt: h.from.Add(onceFirst + time.Duration(n)*2*time.Minute), Status: status, Attempt: 1, Prober: "p1", IngestedAt: h.clock,
	}
	if !status.Measured() {
		r.Reason = uptime.ReasonLost
		return r
	}
	r.CheckedAt, r.HTTPStatus, r.TotalUS = r.ScheduledAt.Add(time.Millisecond), 200, uint32(1000+n)
	if status == uptime.StatusDown {
		r.Failure, r.HTTPStatus = uptime.FailureTimeout, 0
	}
	return r
}

// send inserts a batch under a token, "" for one of its own.
func (h *chronicle) send(token string, rows ...uptime.Result) {
	h.Helper()
	if token == "" {
		token = uuid.Must(uuid.NewV7()).String()
	}
	if err := h.store.Insert(h.Context(), resultstore.Batch{Token: token, Prober: "p1", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		h.Fatal(err)
	}
	for _, r := range rows {
		if have, there := h.kept[r.Slot()]; !there || r.Revision() >= have.Revision() {
			h.kept[r.Slot()] = r
		}
	}
}

// run computes what is marked, as the publisher's job does.
func (h *chronicle) run() {
	h.Helper()
	ctx := h.Context()
	check := func(err error) {
		h.Helper()
		if err != nil {
			h.Fatal(err)
		}
	}
	now, err := h.store.ServerTime(ctx)
	check(err)
	state, err := h.notes.State(ctx)
	check(err)
	marked := time.UnixMilli(1)
	if !state.Succeeded.IsZero() {
		marked = state.Succeeded.Add(-2 * time.Minute)
	}
	run, err := h.notes.Start(ctx, now, marked)
	check(err)
	dirty, err := h.store.DirtyHours(ctx, marked, h.from, h.to)
	check(err)
	days := map[time.Time]bool{}
	for _, d := range dirty {
		_, err := h.store.RecomputeHour(ctx, resultstore.Rollup{Bucket: d.Hour, Marked: marked, Version: run.Version, Closed: !state.Succeeded.IsZero()})
		check(err)
		days[d.Hour.Truncate(onceDay)] = true
	}
	for d := range days {
		_, err := h.store.RecomputeDay(ctx, resultstore.Rollup{Bucket: d, Marked: marked, Version: run.Version})
		check(err)
	}
	check(h.notes.Finish(ctx, run))
	counts := h.counts(onceHour)
	if h.published != nil {
		for c, is := range counts {
			if h.published[c] != is {
				h.revised[c] = true
			}
		}
	}
	h.published = counts
}

// counts by region ("" is the target as a whole) and piece of the range.
func (h *chronicle) counts(width time.Duration) map[onceCell]availability.Counts {
	counts, together := map[onceCell]availability.Counts{}, map[time.Time]availability.Counts{}
	for slot, r := range h.kept {
		c := onceCell{slot.Region, slot.ScheduledAt.Truncate(width)}
		counts[c] = counts[c].Add(countOf(r.Status))
		together[slot.ScheduledAt] = together[slot.ScheduledAt].Add(countOf(r.Status))
	}
	for at, of := range together {
		c := onceCell{"", at.Truncate(width)}
		counts[c] = counts[c].Add(of.Fold())
	}
	return counts
}

func countOf(status uptime.Status) (c availability.Counts) {
	*[...]*uint64{uptime.StatusUp: &c.Up, uptime.StatusDegraded: &c.Degraded, uptime.StatusDown: &c.Down, uptime.StatusUnknown: &c.Unknown, uptime.StatusMissed: &c.Missed}[status] = 1
	return c
}
