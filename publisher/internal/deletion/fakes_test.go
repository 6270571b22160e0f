package deletion

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
)

var errDown = errors.New("down")

// world is the three stores of a test. Every call takes a moment, so that what runs
// beside it can come between.
type world struct {
	mu           sync.Mutex
	notes        map[int64]targetstore.Deletion
	tombstones   map[int64]bool
	rows         map[int64]int
	databaseDown bool
	redisDown    bool
	resultsDown  bool
	looks        map[int64][]time.Duration // after the request
	early        []int64                   // finished too soon
	meanwhile    func(id int64)            // what happens while rows are removed
}

func newWorld() *world {
	return &world{notes: map[int64]targetstore.Deletion{}, tombstones: map[int64]bool{}, rows: map[int64]int{}, looks: map[int64][]time.Duration{}}
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
			w.rows[id] += 3
		}
	})
}

// arrive brings rows as a replay does: those of targets with a tombstone are dropped.
func (w *world) arrive(id int64) {
	w.set(func() {
		if !w.tombstones[id] || w.redisDown {
			w.rows[id]++
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

func (w *world) FinishedUnseen(ctx context.Context, since, before time.Time, limit int) (all []targetstore.Deletion, err error) {
	err = w.do(ctx, &w.databaseDown, func() {
		all = w.pick(limit, func(d targetstore.Deletion) bool {
			return !d.Finished.IsZero() && !d.Requested.Before(since) && d.Verified.Before(before)
		})
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
	return w.do(ctx, &w.databaseDown, func() { w.edit(ids, func(d *targetstore.Deletion) { d.Tombstoned = at }) })
}

func (w *world) MarkLooked(ctx context.Context, l targetstore.Look) error {
	return w.do(ctx, &w.databaseDown, func() {
		w.edit(l.All, func(d *targetstore.Deletion) {
			d.Erased = l.At
			w.looks[d.TargetID] = append(w.looks[d.TargetID], l.At.Sub(d.Requested).Round(time.Second))
		})
		w.edit(l.Clean, func(d *targetstore.Deletion) { d.Verified, d.LastError = l.At, "" })
		w.edit(l.Finished, func(d *targetstore.Deletion) {
			if d.Effective.IsZero() || l.At.Sub(d.Effective) < 10*time.Minute+59*time.Second {
				w.early = append(w.early, d.TargetID)
			}
			d.Finished = l.At
		})
	})
}

func (w *world) MarkFailed(ctx context.Context, ids []int64, problem string) error {
	return w.do(ctx, &w.databaseDown, func() {
		w.edit(ids, func(d *targetstore.Deletion) { d.Tries++; d.LastError = problem })
	})
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

func (w *world) TargetsWithRows(ctx context.Context, ids []int64) (found []int64, err error) {
	err = w.do(ctx, &w.resultsDown, func() {
		found = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return w.rows[id] == 0 })
	})
	return found, err
}

func (w *world) DeleteTargets(ctx context.Context, ids []int64) error {
	return w.do(ctx, &w.resultsDown, func() {
		for _, id := range ids {
			delete(w.rows, id)
			if w.meanwhile != nil {
				w.meanwhile(id)
			}
		}
	})
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
	one.saga = New(Options{Notes: w, Tombstones: w, Rows: w, Lease: one.lease, Health: one.health, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = one.saga.Run(ctx) }()
	one.stop = func() { cancel(); <-ended }
	return one
}

// left says what is not done of a deletion; "" when nothing.
func (w *world) left(id int64) (what string) {
	w.set(func() {
		switch d := w.notes[id]; {
		case w.rows[id] > 0:
			what = "rows are there"
		case !w.tombstones[id]:
			what = "no tombstone"
		case d.Tombstoned.IsZero() || d.Erased.IsZero() || d.Verified.IsZero() || d.Finished.IsZero() || d.LastError != "":
			what = "not finished"
		}
	})
	return what
}
