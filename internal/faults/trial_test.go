package faults

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// row is one line of the table of faults.
type row struct {
	id        string
	suite     int           // trials in `make verify`; 0: only by `make faults`; for `make test` see brief
	chunk     int           // trials between two accounts in `make faults`; 0 is 10
	outage    time.Duration // what the table asks for; the suite takes less: see suite_test.go
	targets   int           // what the table asks for; 0 is a small fleet of 200 every 10 s
	intervalS int
	fleet     fleet    // what else its fleet needs; targets and interval come from above
	allowed   []string // outcomes besides "up" that its promise allows: "missed(redis_down)"
	unwell    []string // kinds of process of which one must be seen degraded or error
	run       func(r *rig, t *trial)
}

// trial is one injection of a row. Its window is [from, to).
type trial struct {
	*testing.T
	rig      *rig
	row      *row
	number   int
	rng      *rand.Rand    // of the seed, the row and the number: the same in every replay
	outage   time.Duration // how long an outage is to last
	from, to time.Time

	injected time.Time
	recovery time.Duration // 0: not measured
	copies   int           // rows stored again, where the row counts them: see keepCopies
	notes    []string
	failed   bool
}

// lead is how long before the injection the window opens: slots that were on
// their way when the fault came belong to it.
const lead = 2 * time.Second

func newTrial(t *testing.T, r *rig, w *row, number int, seed uint64, outage time.Duration) *trial {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%s/%d", w.id, number)
	for _, p := range r.all() {
		p.forget()
	}
	return &trial{T: t, rig: r, row: w, number: number, rng: rand.New(rand.NewPCG(seed, hash.Sum64())), outage: outage, from: time.Now().Truncate(time.Millisecond)}
}

// Errorf fails the trial and goes into its line of docs/faults.jsonl.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.failed = true
	t.notes = append(t.notes, fmt.Sprintf("trial %d: "+format, append([]any{t.number}, args...)...))
	t.T.Errorf(format, args...)
}

// Fatalf is Errorf, and ends the trial; the fleet is healed afterwards.
func (t *trial) Fatalf(format string, args ...any) {
	t.Helper()
	t.Errorf(format, args...)
	t.FailNow()
}

// inject waits for the moment of the fault, a random one of the seed, and then
// starts the clock of the recovery. Do the damage right after it.
func (t *trial) inject() {
	t.wait(lead + time.Duration(t.rng.Int64N(int64(2*time.Second))))
	t.injected = time.Now()
}

// wait lets the fleet run for a time.
func (t *trial) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.FailNow()
	}
}

// recovered stops the clock: the recovery is the time since the injection, or since
// the end of an outage where the row calls mended.
func (t *trial) recovered(limit time.Duration) {
	t.Helper()
	t.recoveredAt(time.Now(), limit)
}

// recoveredAt is recovered at an instant that was found out later.
func (t *trial) recoveredAt(at time.Time, limit time.Duration) {
	t.Helper()
	t.recovery = at.Sub(t.injected)
	if t.recovery > patience(limit) {
		t.Errorf("recovered after %v, want %v", t.recovery.Round(time.Millisecond), patience(limit))
	}
}

// mended restarts the clock at the end of an outage.
func (t *trial) mended() { t.injected = time.Now() }

// await polls until ok, and fails the trial with what was awaited.
func (t *trial) await(limit time.Duration, what string, ok func() bool) {
	t.Helper()
	if !t.rig.within(limit, ok) {
		t.Fatalf("not within %v: %s (%s)", patience(limit), what, t.rig.state())
	}
}

// awaitRows returns when every region has the row of a measurement whose slot is
// after since.
func (t *trial) awaitRows(since time.Time, limit time.Duration, regions ...string) {
	t.Helper()
	if len(regions) == 0 {
		regions = []string{"eu", "us"}
	}
	t.await(limit, fmt.Sprintf("a new measurement in %v", regions), func() bool {
		counts, err := t.rig.audit.Measured(t.Context(), since, time.Now().Add(time.Minute))
		return err == nil && !slices.ContainsFunc(regions, func(region string) bool { return counts[region] == 0 })
	})
}

// firstCheck waits for the first visit to a target after since, and gives its time.
func (t *trial) firstCheck(since time.Time, limit time.Duration) (at time.Time) {
	t.Helper()
	question := fmt.Sprintf("SELECT minOrNull(toUnixTimestamp64Milli(checked_at)) FROM results WHERE status <= 3 AND checked_at >= fromUnixTimestamp64Milli(%d)", since.UnixMilli())
	t.await(limit, "a target is visited", func() bool {
		ms, err := t.rig.audit.Query(t.Context(), question)
		at = time.UnixMilli(int64(ms))
		return err == nil && ms > 0
	})
	return at
}

// awaitEveryRow returns when every slot of the window before until has its row.
// Checks are handed out a second ahead: what was held at t.injected is due by
// t.injected plus a second.
func (t *trial) awaitEveryRow(until time.Time, limit time.Duration) {
	t.Helper()
	t.await(limit, "every slot has its row", func() bool {
		if !time.Now().After(until) {
			return false
		}
		a, err := t.rig.audit.Window(t.Context(), t.from, until)
		return err == nil && a.Missing == 0
	})
}

// awaitWell returns when every process says ok.
func (t *trial) awaitWell(limit time.Duration) {
	t.Helper()
	t.await(limit, "every process says ok", t.rig.well)
}

// leader waits for the publisher that works.
func (t *trial) leader() (p *process) {
	t.Helper()
	t.await(20*time.Second, "a publisher leads", func() bool { p = t.rig.leader(); return p != nil })
	return p
}

// finish heals the fleet, closes the window and looks at the survivors.
func (t *trial) finish() {
	t.rig.heal()
	t.to = time.Now().Truncate(time.Millisecond)
	for _, kind := range t.row.unwell {
		if !slices.ContainsFunc(t.rig.all(), func(p *process) bool { return p.kind == kind && p.saw() }) {
			t.Errorf("no %s said degraded or error", kind)
		}
	}
}

// keepCopies counts the rows of this trial that are stored more than once on disk:
// call it before the injection, and what it returns when every row is there. Only
// for rows in which no check runs twice.
func (t *trial) keepCopies() (count func()) {
	t.Helper()
	fold, err := t.rig.audit.KeepCopies(t.Context())
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := fold(); err != nil {
			t.Log(err)
		}
	})
	return func() {
		t.Helper()
		if t.copies, err = t.rig.audit.Copies(t.Context(), t.from, time.Now()); err != nil {
			t.Fatalf("%v", err)
		}
	}
}
