package deletion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
)

var errDown = errors.New("down")

// world is the three stores of a test. Every call takes a moment, so that what runs
// beside it can come between.
type world struct {
	mu           sync.Mutex
	notes        map[int64]targetstore.Deletion
	steps        map[int64]map[string]targetstore.Step
	next         map[int64]map[string]time.Time
	tombstones   map[int64]bool
	pruned       []time.Duration          // what was older
	rows         map[string]map[int64]int // by table
	hidden       map[string]map[int64]int // of them, deleted and on the disk still
	told         map[int64][]time.Duration
	kept         time.Duration
	databaseDown bool
	redisDown    bool
	resultsDown  bool
	tableDown    string
	looks        map[int64][]time.Duration    // at results, after the request
	early        []int64                      // finished too soon
	meanwhile    func(table string, id int64) // what happens while rows are removed
}

func newWorld() *world {
	w := &world{
		notes: map[int64]targetstore.Deletion{}, steps: map[int64]map[string]targetstore.Step{}, next: map[int64]map[string]time.Time{}, kept: 30 * 24 * time.Hour,
		tombstones: map[int64]bool{}, rows: map[string]map[int64]int{}, hidden: map[string]map[int64]int{}, looks: map[int64][]time.Duration{}, told: map[int64][]time.Duration{},
	}
	for _, p := range places {
		w.rows[p.table], w.hidden[p.table] = map[int64]int{}, map[int64]int{}
	}
	return w
}

// put brings a result, and what the database makes of it.
func (w *world) put(id int64) {
	for _, table := range []string{"results", "results_latest", "rollup_dirty", "prints"} {
		w.rows[table][id]++
	}
}

// compute is a run of the job that makes figures.
func (w *world) compute() {
	for id, n := range w.rows["results"] {
		if n > 0 {
			w.rows["rollup_1h"][id], w.rows["rollup_1d"][id], w.rows["corrections"][id] = n, n, n
		}
	}
}

func (w *world) count(id int64) (n int) {
	for _, rows := range w.rows {
		n += rows[id]
	}
	return n
}

// onDisk is how many deleted rows of a target can be read by whoever looks into the parts.
func (w *world) onDisk(id int64) (n int) {
	for _, rows := range w.hidden {
		n += rows[id]
	}
	return n
}

// do runs fn on a store after a moment, unless the store is down or ctx has ended.
func (w *world) do(ctx context.Context, down *bool, fn func()) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(3 * time.Millisecond):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if *down {
		return errDown
	}
	fn()
	return nil
}

func (w *world) set(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fn()
}

// delete notes a deletion in force at once, with some rows to remove.
func (w *world) delete(ids ...int64) {
	w.set(func() {
		for _, id := range ids {
			w.notes[id] = targetstore.Deletion{TargetID: id, Requested: time.Now(), Effective: time.Now().Add(time.Second)}
			w.steps[id], w.next[id] = map[string]targetstore.Step{}, map[string]time.Time{}
			w.rows[targetstore.StepChecks][id] = 1
			w.put(id)
			w.compute()
		}
	})
}

// arrive brings rows as a replay does: those of targets with a tombstone are dropped.
func (w *world) arrive(id int64) {
	w.set(func() {
		if !w.tombstones[id] || w.redisDown {
			w.put(id)
		}
	})
}

func (w *world) pick(limit int, take func(targetstore.Deletion) bool) (all []targetstore.Deletion) {
	for _, id := range slices.Sorted(maps.Keys(w.notes)) {
		if d := w.notes[id]; take(d) && len(all) < limit {
			all = append(all, d)
		}
	}
	return all
}

func (w *world) Unfinished(ctx context.Context, after int64, limit int) (all []targetstore.Deletion, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		all = w.pick(limit, func(d targetstore.Deletion) bool { return d.Finished.IsZero() && d.TargetID > after })
	})
	return all, err
}

func (w *world) DeletedSince(ctx context.Context, since time.Time, after int64, limit int) (all []targetstore.Deletion, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		all = w.pick(limit, func(d targetstore.Deletion) bool { return !d.Requested.Before(since) && d.TargetID > after })
	})
	return all, err
}

func (w *world) owed(step, source string, due time.Time, limit int, take func(targetstore.Deletion) bool) (all []targetstore.Owed) {
	for _, d := range w.pick(1<<30, take) {
		if next := w.next[d.TargetID][step]; !next.After(due) && len(all) < limit {
			o := targetstore.Owed{Deletion: d, Step: w.steps[d.TargetID][step], Source: w.steps[d.TargetID][source]}
			o.Step.Name, o.Source.Name = step, source
			all = append(all, o)
		}
	}
	return all
}

func (w *world) Owed(ctx context.Context, step, source string, due time.Time, after int64, limit int) (all []targetstore.Owed, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		all = w.owed(step, source, due, limit, func(d targetstore.Deletion) bool { return d.Finished.IsZero() && d.TargetID > after })
	})
	return all, err
}

func (w *world) Watched(ctx context.Context, step string, due, since time.Time, limit int) (all []targetstore.Owed, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		all = w.owed(step, "", due, limit, func(d targetstore.Deletion) bool { return !d.Finished.IsZero() && !d.Requested.Before(since) })
	})
	return all, err
}

func (w *world) CountDeletions(ctx context.Context, since time.Time) (c targetstore.DeletionCounts, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		for _, d := range w.notes {
			if d.Finished.IsZero() {
				c.Unfinished++
				if c.Oldest.IsZero() || d.Requested.Before(c.Oldest) {
					c.Oldest = d.Requested
				}
			}
			if !d.Tombstoned.IsZero() && !d.Requested.Before(since) {
				c.Tombstoned++
			}
		}
	})
	return c, err
}

func (w *world) edit(ids []int64, fn func(*targetstore.Deletion)) {
	for _, id := range ids {
		d := w.notes[id]
		fn(&d)
		w.notes[id] = d
	}
}

func (w *world) MarkTombstoned(ctx context.Context, ids []int64, at time.Time) error {
	return w.do(ctx, &w.databaseDown, func() {
		w.edit(ids, func(d *targetstore.Deletion) {
			d.LastError = ""
			if d.Tombstoned.IsZero() {
				d.Tombstoned = at
			}
		})
	})
}

func (w *world) MarkUntold(ctx context.Context, ids []int64, problem string) error {
	return w.do(ctx, &w.databaseDown, func() {
		w.edit(ids, func(d *targetstore.Deletion) {
			if d.Finished.IsZero() {
				d.Tries++
				d.LastError = problem
			}
		})
	})
}

func (w *world) MarkLooked(ctx context.Context, step string, at time.Time, looks []targetstore.Look) error {
	return w.do(ctx, &w.databaseDown, func() {
		for _, l := range looks {
			d, s := w.notes[l.TargetID], w.steps[l.TargetID][step]
			if step == "results" {
				w.looks[l.TargetID] = append(w.looks[l.TargetID], at.Sub(d.Requested).Round(time.Second))
			}
			s.Looked, s.LastError = at, ""
			switch {
			case !l.Clean:
				s.CleanSince = time.Time{}
			case s.CleanSince.IsZero():
				s.CleanSince = at
			}
			if l.Done && s.Done.IsZero() {
				s.Done = at
				if step != stepAnswers && (d.Effective.IsZero() || at.Sub(d.Effective) < 10*time.Minute+59*time.Second) {
					w.early = append(w.early, l.TargetID)
				}
			}
			w.steps[l.TargetID][step], w.next[l.TargetID][step] = s, l.Next
		}
	})
}

func (w *world) MarkFailed(ctx context.Context, step string, ids []int64, problem string) error {
	return w.do(ctx, &w.databaseDown, func() {
		for _, id := range ids {
			s := w.steps[id][step]
			s.Tries++
			s.LastError = problem
			w.steps[id][step] = s
		}
	})
}

func (w *world) FinishDeletions(ctx context.Context, steps []string, at time.Time) (n int64, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		for id, d := range w.notes {
			undone := func(step string) bool { return w.steps[id][step].Done.IsZero() }
			if d.Finished.IsZero() && !d.Tombstoned.IsZero() && !slices.ContainsFunc(steps, undone) {
				d.Finished, d.LastError = at, ""
				w.notes[id] = d
				n++
			}
		}
	})
	return n, err
}

func (w *world) AnnounceChanges(ctx context.Context, changes ...livefeed.Change) error {
	return w.do(ctx, &w.redisDown, func() {
		for _, c := range changes {
			w.told[c.TargetID] = append(w.told[c.TargetID], time.Since(w.notes[c.TargetID].Requested).Round(time.Second))
		}
	})
}

func (w *world) RawKept() (kept time.Duration) {
	w.set(func() { kept = w.kept })
	return kept
}

func (w *world) Kept(ctx context.Context) (kept resultstore.Retentions, err error) {
	err = w.do(ctx, &w.resultsDown, func() { kept.Raw = w.kept })
	return kept, err
}

func (w *world) PruneTombstones(ctx context.Context, age time.Duration) error {
	return w.do(ctx, &w.redisDown, func() { w.pruned = append(w.pruned, age) })
}

func (w *world) Tombstones(ctx context.Context) (n int64, err error) {
	err = w.do(ctx, &w.redisDown, func() { n = int64(len(w.tombstones)) })
	return n, err
}

func (w *world) Tombstoned(ctx context.Context, ids []int64) (there map[int64]bool, err error) {
	err = w.do(ctx, &w.redisDown, func() {
		there = map[int64]bool{}
		for _, id := range ids {
			if w.tombstones[id] {
				there[id] = true
			}
		}
	})
	return there, err
}

func (w *world) Tombstone(ctx context.Context, ids ...int64) error {
	return w.do(ctx, &w.redisDown, func() {
		for _, id := range ids {
			w.tombstones[id] = true
		}
	})
}

func (w *world) TargetsWithRows(ctx context.Context, ids []int64, tables ...string) (found []int64, err error) {
	err = w.table(ctx, tables, func(table string) {
		found = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return w.rows[table][id] == 0 })
	})
	return found, err
}

func (w *world) DeleteTargets(ctx context.Context, ids []int64, tables ...string) error {
	return w.table(ctx, tables, func(table string) {
		for _, id := range ids {
			w.hidden[table][id] += w.rows[table][id]
			delete(w.rows[table], id)
			if w.meanwhile != nil {
				w.meanwhile(table, id)
			}
		}
	})
}

func (w *world) EraseDeleted(ctx context.Context, table string) error {
	return w.table(ctx, []string{table}, func(string) { clear(w.hidden[table]) })
}

func (w *world) OfTargets(ctx context.Context, targets []int64) (found []int64, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		found = slices.DeleteFunc(slices.Clone(targets), func(id int64) bool { return w.rows[targetstore.StepChecks][id] == 0 })
	})
	return found, err
}

func (w *world) DeleteOfTargets(ctx context.Context, targets []int64) error {
	return w.do(ctx, &w.databaseDown, func() {
		for _, id := range targets {
			delete(w.rows[targetstore.StepChecks], id)
		}
	})
}

func (w *world) table(ctx context.Context, tables []string, fn func(table string)) error {
	var err error
	down := w.do(ctx, &w.resultsDown, func() {
		if tables[0] == w.tableDown {
			err = errDown
			return
		}
		fn(tables[0])
	})
	return errors.Join(down, err)
}

// leaseFlag is a lease the test gives and takes.
type leaseFlag struct{ atomic.Bool }

func (l *leaseFlag) Held() bool { return l.Load() }

// healthBook remembers the last word.
type healthBook struct {
	mu    sync.Mutex
	level service.Level
}

func (h *healthBook) Set(_ string, level service.Level, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.level = level
}

func (h *healthBook) last() service.Level {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.level
}

// worker is a saga that runs.
type worker struct {
	saga   *Saga
	lease  *leaseFlag
	health *healthBook
	stop   func()
}

func (w *world) start(t *testing.T, held bool) *worker {
	ctx, cancel := context.WithCancel(t.Context())
	one := &worker{lease: &leaseFlag{}, health: &healthBook{}}
	one.lease.Store(held)
	one.saga = New(Options{Notes: w, Tombstones: w, Rows: w, Checks: w, Changes: w, Lease: one.lease, Health: one.health, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = one.saga.Run(ctx) }()
	one.stop = func() { cancel(); <-ended }
	return one
}

// left says what is not done of a deletion; "" when nothing.
func (w *world) left(id int64) (what string) {
	w.set(func() {
		d := w.notes[id]
		undone := slices.DeleteFunc(Steps(), func(step string) bool { s := w.steps[id][step]; return !s.Done.IsZero() && s.LastError == "" })
		switch {
		case w.count(id) > 0:
			what = fmt.Sprintf("%d rows are there", w.count(id))
		case !w.tombstones[id]:
			what = "no tombstone"
		case len(undone) > 0:
			what = fmt.Sprint("not done: ", undone)
		case w.onDisk(id) > 0:
			what = fmt.Sprintf("%d rows are on the disk", w.onDisk(id))
		case d.Tombstoned.IsZero() || d.Finished.IsZero() || d.LastError != "":
			what = "not finished"
		}
	})
	return what
}
