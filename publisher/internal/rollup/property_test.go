package rollup

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

var (
	sequences = flag.Int("sequences", 1000, "how many random histories")
	firstSeed = flag.Uint64("seed", 1, "the first seed: of the target with that id")
)

// Whatever arrives in whatever order, is deleted, fails half way and is done again: after
// a run of the job the figures are those of the model.
//
// Each history draws its own sequence of all that, by a seed that is its target's id: what
// the others draw changes nothing of it, and it can be run alone. They share a database, and
// what the job does in a step it does at once to those that drew the same: one statement
// about an hour takes as long for one target as for hundreds. So after how much a run fails, and
// which hour is a bad one, is not drawn: each step has its own.
//
// Promise: hourly and daily figures equal those of the raw results
func TestAnyHistoryMakesTheModelsFigures(t *testing.T) {
	t.Parallel()
	n, steps := *sequences, 8
	if testing.Short() {
		n, steps = min(n, 20), 2
	}
	h := newHistories(t, *firstSeed, n)
	for step := range steps {
		h.live(t, step)
	}
	h.end(t, steps)
}

// history is what happens to a target, and what has to come of it.
type history struct {
	*model
	*maker
	target int64
	ran    bool // a run that covered it has finished
	move        // of this step
}

// move is what a history draws for a step.
type move struct {
	removed removal
	rows    []uptime.Result
	again   resent
	job     work
	between []uptime.Result // arrive between a run that fails and the next
}

type removal int

const (
	keepIt      removal = iota
	removeFirst         // before the rows of the step arrive
	removeLast
)

// resent is how the rows of a step arrive once more.
type resent int

const (
	sentOnce resent = iota
	sameToken
	otherBatch // some of them, in a batch of its own
	muchLater  // under its token, after two more steps
	waysToSend
)

// work is what the job does in a step, to all histories that drew the same.
type work struct {
	kind  kind
	ran   bool // to one that a run has covered before, where that matters
	after int  // so many hours and days a run computes before it fails
	more  bool // rows arrive before it is gone on with
	bad   int  // which hour cannot be computed
}

type kind int

const (
	noRun kind = iota
	oneRun
	twoRuns
	failedRun // half way
	badHour
	rebuilt
)

// histories are all of them, and where they happen.
type histories struct {
	*rig
	all   []*history
	byID  map[int64]*history
	hours []time.Time
	bad   []time.Time // those that may be bad ones
	later map[int][]resultstore.Batch
	ours  *covered
	rng   *rand.Rand // of what is looked at
}

// covered are the job's notes in a run for some histories: their rows were marked after an
// instant, and it looks no further back. Of those that no run has covered yet it knows none.
type covered struct {
	*rollupstore.Store
	marked time.Time
	first  bool
}

func (c *covered) State(ctx context.Context) (rollupstore.State, error) {
	state, err := c.Store.State(ctx)
	if c.first {
		state.Succeeded = time.Time{}
	}
	return state, err
}

func (c *covered) Start(ctx context.Context, now, _ time.Time) (rollupstore.Run, error) {
	return c.Store.Start(ctx, now, c.marked)
}

func newHistories(t *testing.T, seed uint64, n int) *histories {
	h := &histories{rig: newRig(t), byID: map[int64]*history{}, later: map[int][]resultstore.Batch{}, rng: rand.New(rand.NewPCG(seed, 11))}
	h.ours = &covered{Store: h.notes}
	h.job.Notes = h.ours
	now := time.Now().UTC()
	for _, ago := range []time.Duration{0, 1, 2, 24, 25, 50, 27 * 24, 28*24 + 20} { // the last is hardly taken any more
		h.hours = append(h.hours, now.Add(-ago*hour).Truncate(hour))
	}
	for _, n := range [][2]int{{1, 2}, {4, 3}, {6, 7}} {
		bad := h.hours[n[0]]
		if bad.Truncate(day).Equal(bad) { // its day begins with the same instant, and would be put aside with it
			bad = h.hours[n[1]]
		}
		h.bad = append(h.bad, bad)
	}
	for ; n > 0; n-- {
		one := &history{model: newModel(), maker: &maker{rng: rand.New(rand.NewPCG(seed, 7)), ingest: now.Truncate(time.Millisecond)}, target: int64(seed)}
		h.all, h.byID[one.target] = append(h.all, one), one
		seed++
	}
	return h
}

// draw settles what happens to a history in a step.
func (one *history) draw(h *histories, step int) {
	rng := one.rng
	m := move{again: resent(rng.IntN(int(waysToSend)))}
	if n := rng.IntN(20); n < 2 {
		m.removed = removeFirst + removal(n)
	}
	for range rng.IntN(10) {
		m.rows = append(m.rows, one.any(h))
	}
	switch rng.IntN(8) {
	case 0:
		m.job.kind = noRun
	case 1:
		m.job = work{kind: failedRun, after: []int{2, 7}[step%2], more: rng.IntN(2) == 0}
		for range rng.IntN(5) {
			m.between = append(m.between, one.any(h))
		}
	case 2:
		m.job.kind = rebuilt
	case 3:
		m.job.kind = twoRuns
	case 4:
		m.job = work{kind: badHour, bad: step % len(h.bad)}
	default:
		m.job.kind = oneRun
	}
	if m.job.kind != noRun && m.job.kind != rebuilt {
		m.job.ran = one.ran
	}
	one.move = m
}

func (one *history) any(h *histories) uptime.Result {
	rng := one.rng
	slot := h.hours[rng.IntN(len(h.hours))].Add([]time.Duration{0, 7 * time.Minute, 15*time.Minute - time.Millisecond, 15 * time.Minute, 30 * time.Minute, hour - time.Millisecond}[rng.IntN(6)])
	r := one.result(one.target, []string{"ap", "eu", "us"}[rng.IntN(3)], slot, uptime.Status(1+rng.IntN(5)))
	r.Late = r.Status.Measured() && rng.IntN(5) == 0
	if rng.IntN(4) == 0 { // by a clock that is behind
		r.IngestedAt = r.IngestedAt.Add(-time.Duration(rng.IntN(200)) * time.Millisecond).Add(time.Duration(rng.IntN(900)) * time.Microsecond)
	}
	return r
}

// live has a step happen.
func (h *histories) live(t *testing.T, step int) {
	for _, one := range h.all {
		one.draw(h, step)
	}
	h.remove(t, removeFirst)
	h.arrive(t, step)
	h.remove(t, removeLast)
	var works []work
	drew := map[work][]*history{}
	for _, one := range h.all {
		if drew[one.job] == nil {
			works = append(works, one.job)
		}
		drew[one.job] = append(drew[one.job], one)
	}
	for _, w := range works {
		switch of := drew[w]; w.kind {
		case twoRuns: // one now, and one with the others
			h.runFor(t, of)
		case failedRun:
			h.failHalfWay(t, w, of)
		case badHour:
			h.badHour(t, h.bad[w.bad], of)
		}
	}
	whole := h.those(func(one *history) bool { return one.job.kind != noRun }) // their figures are those of all their results
	together := map[bool][]*history{}
	for _, one := range whole {
		if one.job.kind != failedRun || one.job.more {
			together[one.ran] = append(together[one.ran], one)
		}
	}
	h.runFor(t, together[false])
	h.runFor(t, together[true])
	h.adoptCorrections(t, h.those(func(one *history) bool { return one.job.kind == failedRun && one.job.more }))
	if of := drew[work{kind: rebuilt}]; len(of) > 0 {
		h.rebuild(t, h.mark(t, of), of)
	}
	h.checkAll(t, step, whole)
}

// those are the histories of which something holds.
func (h *histories) those(hold func(*history) bool) (of []*history) {
	for _, one := range h.all {
		if hold(one) {
			of = append(of, one)
		}
	}
	return of
}

// end has everything computed, and once more by a rebuild of all there is, which changes nothing.
func (h *histories) end(t *testing.T, steps int) {
	never, before := h.those(func(one *history) bool { return !one.ran }), h.those(func(one *history) bool { return one.ran })
	h.runFor(t, never)
	h.runFor(t, before)
	h.checkAll(t, steps, h.all)
	h.rebuild(t, time.Time{}, h.all)
	h.checkAll(t, steps+1, h.all)
}

// checkAll compares everything there is with what all histories have to have come to.
func (h *histories) checkAll(t *testing.T, step int, whole []*history) {
	t.Helper()
	h.model = newModel()
	for _, one := range h.all {
		maps.Copy(h.slots, one.slots)
		maps.Copy(h.hourly, one.hourly)
		maps.Copy(h.daily, one.daily)
		h.corrections = append(h.corrections, one.corrections...)
	}
	what := fmt.Sprint("step ", step)
	h.check(t, what)
	h.checkCells(t, what, whole)
}

// checkRollups compares the rollups of some histories, of which an hour could not be computed.
func (h *histories) checkRollups(t *testing.T, of []*history) {
	t.Helper()
	hourly, daily := map[cell]row{}, map[cell]row{}
	for _, one := range of {
		maps.Copy(hourly, one.hourly)
		maps.Copy(daily, one.daily)
	}
	for table, want := range map[string]map[cell]row{"rollup_1h": hourly, "rollup_1d": daily} {
		if diff := differ(want, h.rows(t, table, idsOf(of)...)); diff != "" {
			t.Fatalf("without the bad hour: %s (- model, + stored): %.3000s", table, diff)
		}
	}
}

// send inserts a batch of rows of any histories.
func (h *histories) send(t *testing.T, b resultstore.Batch) {
	t.Helper()
	if len(b.Rows) == 0 {
		return
	}
	if err := h.store.Insert(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for id, rows := range byTarget(b.Rows) {
		h.byID[id].insert(resultstore.Batch{Token: b.Token, Rows: rows})
	}
}

// arrive sends what a step brings: new results, late ones, others for slots that have one; and
// what was sent before, whole, in part, under its token or another.
func (h *histories) arrive(t *testing.T, step int) {
	for again := sentOnce; again < waysToSend; again++ {
		var rows, some []uptime.Result
		for _, one := range h.all {
			if one.again == again {
				rows = append(rows, one.rows...)
				some = append(some, one.rows[len(one.rows)/3:]...)
			}
		}
		b := batch(rows...)
		h.send(t, b)
		switch again {
		case sameToken:
			h.send(t, b)
		case otherBatch:
			h.send(t, batch(some...))
		case muchLater:
			h.later[step+2] = append(h.later[step+2], b)
		}
	}
	for _, b := range h.later[step] {
		h.send(t, b)
	}
}

// remove deletes targets, of which results may arrive again.
func (h *histories) remove(t *testing.T, when removal) {
	var ids []int64
	for _, one := range h.all {
		if one.removed == when {
			ids = append(ids, one.target)
			one.delete(one.target)
		}
	}
	if err := h.store.DeleteTargets(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	if left, err := h.store.TargetsWithRows(t.Context(), ids); err != nil || len(left) > 0 {
		t.Fatalf("deleted: %v, %v", left, err)
	}
}

// mark marks everything there is of some histories, as if it had arrived just now, and gives
// an instant before that: what is marked since then is theirs alone.
func (h *histories) mark(t *testing.T, of []*history) time.Time {
	t.Helper()
	before, err := h.store.ServerTime(t.Context())
	if err == nil {
		err = h.conn.Exec(t.Context(), `INSERT INTO rollup_dirty (bucket, target_id, dirty_at)
SELECT DISTINCT bucket, target_id, fromUnixTimestamp64Milli({at:Int64}, 'UTC') FROM rollup_dirty WHERE target_id IN {ids:Array(UInt64)}`,
			clickhouse.Named("at", before.UnixMilli()+1), clickhouse.Named("ids", idsOf(of)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return before
}

// begin prepares a run for some histories, of which either all or none were covered by one
// before, and gives when that was.
func (h *histories) begin(t *testing.T, of []*history) (succeeded time.Time) {
	t.Helper()
	h.ours.first, h.ours.marked = !of[0].ran, h.mark(t, of)
	state, err := h.ours.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.Succeeded
}

// done is what a run that has finished changes.
func (h *histories) done(of []*history, succeeded, started time.Time, bad ...time.Time) {
	for _, one := range of {
		one.run(succeeded, started, bad...)
		one.ran = true
	}
	ended := func(d time.Time) bool {
		end := d.Add(day + resultstore.CloseAfter)
		return end.After(succeeded) && !end.After(started)
	}
	if !succeeded.IsZero() && ended(started.Add(-resultstore.CloseAfter).Truncate(day).Add(-day)) { // it is computed of all targets
		for _, one := range h.all {
			one.sumDays(ended)
		}
	}
}

// runFor has the job do its work for some histories.
func (h *histories) runFor(t *testing.T, of []*history) {
	t.Helper()
	if len(of) == 0 {
		return
	}
	succeeded := h.begin(t, of)
	h.done(of, succeeded, h.runAgain(t))
}

// runAgain has the job run until it has computed everything, and says when the first run began.
// What it had to put aside was too slow for a machine that is busy: the next one finds it.
func (h *histories) runAgain(t *testing.T) (started time.Time) {
	t.Helper()
	for range 5 {
		done, err := h.job.runOnce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if started.IsZero() {
			started = done.started
		}
		if done.aside == 0 {
			return started
		}
		clear(h.job.aside)
	}
	t.Fatal("something could not be computed")
	return started
}

// failHalfWay has a run fail, more results arrive or not, and the run gone on with.
func (h *histories) failHalfWay(t *testing.T, w work, of []*history) {
	succeeded := h.begin(t, of)
	h.fails.left.Store(int64(w.after))
	done, err := h.job.runOnce(t.Context())
	h.fails.end()
	if err == nil { // there was less to do
		if done.aside > 0 {
			clear(h.job.aside)
			h.runAgain(t)
		}
		h.done(of, succeeded, done.started)
		return
	}
	if state, err := h.ours.State(t.Context()); err != nil || !state.Succeeded.Equal(succeeded) {
		t.Fatalf("a run that failed counts as one that succeeded: %+v, %v", state, err)
	}
	if w.more {
		var rows []uptime.Result
		for _, one := range of {
			rows = append(rows, one.between...)
		}
		h.send(t, batch(rows...))
	}
	h.done(of, succeeded, h.runAgain(t))
}

// badHour has a run that computes all but one hour.
func (h *histories) badHour(t *testing.T, bad time.Time, of []*history) {
	succeeded := h.begin(t, of)
	h.fails.bad.Store(&bad)
	done, err := h.job.runOnce(t.Context())
	h.fails.end()
	clear(h.job.aside)                // its time has come
	if err == nil && done.aside > 1 { // others, too: see runAgain
		h.runAgain(t)
		h.done(of, succeeded, done.started)
		return
	}
	if err == nil {
		h.done(of, succeeded, done.started, bad)
	} else if done.aside == 0 || done.hours+done.days > 0 { // else there was nothing besides it, and so no run
		t.Fatal(err)
	}
	h.checkRollups(t, of)
	if err != nil {
		h.done(of, succeeded, h.runAgain(t))
	}
}

// adoptCorrections is for when it cannot be known what a run had seen when it failed: the
// corrections of a cell have to make a chain that ends at what is there.
func (h *histories) adoptCorrections(t *testing.T, of []*history) {
	if len(of) == 0 {
		return
	}
	stored := map[int64][]correction{}
	for _, c := range h.readCorrections(t) {
		stored[c.target] = append(stored[c.target], c)
	}
	for _, one := range of {
		last := map[cell]correction{}
		for _, c := range stored[one.target] {
			if before, there := last[c.cell]; there && (before.is != c.was || before.isTotal != c.wasTotal) {
				t.Errorf("corrections of %v do not follow from each other: %+v, then %+v", c.cell, before, c)
			}
			last[c.cell] = c
		}
		for c, end := range last {
			now := one.hourly[c]
			if now.counts() != end.is || now.sums[5] != end.isTotal {
				t.Errorf("the last correction of %v ends at %+v, and there is %+v", c, end.is, now.counts())
			}
			now.revised = true
			one.hourly[c] = now
			c.bucket = c.bucket.Truncate(day)
			if whole, there := one.daily[c]; there {
				whole.revised = true
				one.daily[c] = whole
			}
		}
		one.corrections = stored[one.target]
	}
}

// rebuild computes everything again, as an operator does: of what is marked since an instant,
// or, if that is zero, of all.
func (h *histories) rebuild(t *testing.T, marked time.Time, of []*history) {
	now, err := h.store.ServerTime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.notes.StartRebuild(t.Context(), now.Add(-29*day), now, now, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range h.hours {
		if _, err := h.store.RecomputeHour(t.Context(), resultstore.Rollup{Bucket: at, Marked: marked, Version: r.Version, Closed: true, Unseen: true}); err != nil {
			t.Fatal(err)
		}
		if start := at.Truncate(day); start.Add(day + resultstore.CloseAfter).Before(now) {
			if _, err := h.store.RecomputeDay(t.Context(), resultstore.Rollup{Bucket: start, Marked: marked, Version: r.Version}); err != nil {
				t.Fatal(err)
			}
			for _, one := range of {
				one.sumDays(start.Equal)
			}
		}
	}
}

func byTarget(rows []uptime.Result) map[int64][]uptime.Result {
	found := map[int64][]uptime.Result{}
	for _, r := range rows {
		found[r.TargetID] = append(found[r.TargetID], r)
	}
	return found
}

func idsOf(of []*history) []uint64 {
	ids := make([]uint64, len(of))
	for i, one := range of {
		ids[i] = uint64(one.target)
	}
	return ids
}
