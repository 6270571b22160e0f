package rollup

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

var (
	sequences = flag.Int("sequences", 1000, "how many random histories")
	firstSeed = flag.Uint64("seed", 1, "the first seed")
)

const together = 500 // histories that share a database and its job, each of a target of its own

// Whatever arrives in whatever order, is deleted, fails half way and is done again: after
// a run of the job the figures are those of the model.
func TestAnyHistoryMakesTheModelsFigures(t *testing.T) {
	t.Parallel()
	n := *sequences
	if testing.Short() {
		n = min(n, 50)
	}
	for seed := *firstSeed; n > 0; seed++ {
		group := min(n, together)
		n -= group
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			newHistories(t, seed, group).live(t)
		})
	}
}

// histories are what happens to some targets.
type histories struct {
	*rig
	*maker
	targets []int64
	hours   []time.Time
	sent    []resultstore.Batch
	next    int64
}

func newHistories(t *testing.T, seed uint64, group int) *histories {
	h := &histories{rig: newRig(t), maker: &maker{rng: rand.New(rand.NewPCG(seed, 7)), ingest: time.Now().Truncate(time.Millisecond)}}
	for range group {
		h.next++
		h.targets = append(h.targets, h.next)
	}
	now := time.Now().UTC()
	for _, ago := range []time.Duration{0, 1, 2, 23, 24, 25, 26, 50, 27 * 24, 28*24 + 20} { // the last is hardly taken any more
		h.hours = append(h.hours, now.Add(-ago*hour).Truncate(hour))
	}
	return h
}

func (h *histories) live(t *testing.T) {
	for step := range 10 {
		what := fmt.Sprintf("step %d", step)
		for range 1 + h.rng.IntN(3) {
			h.arrive(t)
		}
		if h.rng.IntN(3) == 0 {
			h.remove(t)
		}
		switch h.rng.IntN(7) {
		case 0: // nothing runs
			continue
		case 1:
			what += ", a run that failed half way"
			h.failHalfWay(t)
		case 2:
			what += ", a rebuild"
			h.run(t)
			h.rebuild(t)
		case 6:
			what += ", an hour that could not be computed"
			h.badHour(t)
			h.run(t)
		case 3:
			what += ", two runs"
			h.run(t)
			h.run(t)
		default:
			h.run(t)
		}
		h.check(t, what)
		h.checkCells(t, what)
	}
}

// arrive sends some results: new ones, late ones, others for slots that have one, and
// batches that were sent before, whole, in part, under their token or another.
func (h *histories) arrive(t *testing.T) {
	var rows []uptime.Result
	for _, target := range h.targets {
		for range h.rng.IntN(5) {
			rows = append(rows, h.any(target))
		}
	}
	b := batch(rows...)
	h.insert(t, b)
	h.sent = append(h.sent, b)
	old := h.sent[h.rng.IntN(len(h.sent))]
	switch h.rng.IntN(4) {
	case 0:
		h.insert(t, old)
	case 1:
		h.insert(t, batch(old.Rows[h.rng.IntN(len(old.Rows)):]...))
	}
}

func (h *histories) any(target int64) uptime.Result {
	slot := h.hours[h.rng.IntN(len(h.hours))].Add([]time.Duration{0, 7 * time.Minute, 15*time.Minute - time.Millisecond, 15 * time.Minute, 30 * time.Minute, hour - time.Millisecond}[h.rng.IntN(6)])
	one := h.result(target, []string{"ap", "eu", "us"}[h.rng.IntN(3)], slot, uptime.Status(1+h.rng.IntN(5)))
	one.Late = one.Status.Measured() && h.rng.IntN(5) == 0
	if h.rng.IntN(4) == 0 { // by a clock that is behind
		one.IngestedAt = one.IngestedAt.Add(-time.Duration(h.rng.IntN(200)) * time.Millisecond).Add(time.Duration(h.rng.IntN(900)) * time.Microsecond)
	}
	return one
}

// remove deletes some targets, of which results may arrive again.
func (h *histories) remove(t *testing.T) {
	var ids []int64
	for _, n := range h.rng.Perm(len(h.targets))[:1+h.rng.IntN(1+len(h.targets)/20)] {
		ids = append(ids, h.targets[n])
		h.delete(h.targets[n])
	}
	if err := h.store.DeleteTargets(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	if left, err := h.store.TargetsWithRows(t.Context(), ids); err != nil || len(left) > 0 {
		t.Fatalf("deleted: %v, %v", left, err)
	}
}

// failHalfWay has a run fail, more results arrive or not, and the run gone on with.
func (h *histories) failHalfWay(t *testing.T) {
	succeeded := h.succeeded(t)
	h.fails.left.Store(int64(h.rng.IntN(10)))
	done, err := h.job.runOnce(t.Context())
	h.fails.end()
	if err == nil { // there was less to do
		h.model.run(succeeded, done.started)
		return
	}
	if !h.succeeded(t).Equal(succeeded) {
		t.Fatal("a run that failed counts as one that succeeded")
	}
	if h.rng.IntN(2) == 0 {
		h.run(t)
		return
	}
	h.arrive(t)
	h.run(t)
	h.run(t)
	h.adoptCorrections(t)
}

// badHour has a run that computes all but one hour.
func (h *histories) badHour(t *testing.T) {
	succeeded, bad := h.succeeded(t), h.hours[h.rng.IntN(len(h.hours))]
	for bad.Truncate(day).Equal(bad) { // its day begins with the same instant, and would be put aside with it
		bad = h.hours[h.rng.IntN(len(h.hours))]
	}
	h.fails.bad.Store(&bad)
	done, err := h.job.runOnce(t.Context())
	h.fails.end()
	if err != nil {
		t.Fatal(err)
	}
	h.model.run(succeeded, done.started, bad)
	h.check(t, "without the bad hour")
	clear(h.job.aside) // its time has come
}

// adoptCorrections is for when it cannot be known what a run had seen when it failed: the
// corrections of a cell have to make a chain that ends at what is there.
func (h *histories) adoptCorrections(t *testing.T) {
	stored := h.readCorrections(t)
	last := map[cell]correction{}
	for _, c := range stored {
		if before, there := last[c.cell]; there && (before.is != c.was || before.isTotal != c.wasTotal) {
			t.Errorf("corrections of %v do not follow from each other: %+v, then %+v", c.cell, before, c)
		}
		last[c.cell] = c
	}
	for c, one := range last {
		now := h.hourly[c]
		if now.counts() != one.is || now.sums[5] != one.isTotal {
			t.Errorf("the last correction of %v ends at %+v, and there is %+v", c, one.is, now.counts())
		}
		now.revised = true
		h.hourly[c] = now
		c.bucket = c.bucket.Truncate(day)
		if whole, there := h.daily[c]; there {
			whole.revised = true
			h.daily[c] = whole
		}
	}
	h.corrections = stored
}

// rebuild computes everything again, as an operator does.
func (h *histories) rebuild(t *testing.T) {
	now, err := h.store.ServerTime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.notes.StartRebuild(t.Context(), now.Add(-29*day), now, now, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range h.hours {
		if _, err := h.store.RecomputeHour(t.Context(), resultstore.Rollup{Bucket: at, Version: r.Version, Closed: true, Unseen: true}); err != nil {
			t.Fatal(err)
		}
		if start := at.Truncate(day); start.Add(day + resultstore.CloseAfter).Before(now) {
			if _, err := h.store.RecomputeDay(t.Context(), resultstore.Rollup{Bucket: start, Version: r.Version}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
