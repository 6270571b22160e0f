package deletion

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
)

// at runs a test in virtual time, with one saga at work.
func at(t *testing.T, test func(t *testing.T, w *world, one *worker)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		one := w.start(t, true)
		defer one.stop()
		test(t, w, one)
	})
}

func TestLooksComeWhenRowsMay(t *testing.T) {
	at(t, func(t *testing.T, w *world, one *worker) {
		time.Sleep(2 * time.Second)
		w.delete(1)
		time.Sleep(34 * time.Second) // a check that ran when the target was deleted
		w.set(func() { w.rows[1]++ })
		time.Sleep(26 * time.Second)
		w.set(func() {
			if w.rows[1] > 0 || !w.tombstones[1] {
				t.Error("not gone within a minute")
			}
		})
		time.Sleep(12 * time.Minute)
		if what := w.left(1); what != "" || len(w.early) > 0 {
			t.Error(what, w.early)
		}
		// In force 1 s after the request; a pass every 5 s.
		if want := []time.Duration{0, 31, 51, 121, 661}; !slices.EqualFunc(w.looks[1], want, func(got, want time.Duration) bool {
			return got >= want*time.Second && got < (want+7)*time.Second
		}) {
			t.Errorf("looked after %v", w.looks[1])
		}
		if testutil.ToFloat64(one.saga.metrics.finished) != 1 || testutil.ToFloat64(one.saga.metrics.unfinished) != 0 {
			t.Error("metrics do not tell")
		}
	})
}

func TestOneStoreBeingDownHoldsUpNothingElse(t *testing.T) {
	at(t, func(t *testing.T, w *world, one *worker) {
		w.set(func() { w.redisDown = true })
		w.delete(1)
		time.Sleep(10 * time.Second)
		w.set(func() {
			if w.rows[1] > 0 || w.notes[1].Erased.IsZero() || w.notes[1].Tries == 0 || !w.notes[1].Tombstoned.IsZero() {
				t.Errorf("redis down: %d rows, %+v", w.rows[1], w.notes[1])
			}
			w.redisDown, w.resultsDown = false, true
		})
		w.delete(2)
		time.Sleep(time.Minute + 5*time.Second) // the back-off
		w.set(func() {
			if !w.tombstones[1] || !w.tombstones[2] || w.rows[2] == 0 || w.notes[2].Tombstoned.IsZero() || w.notes[2].LastError == "" {
				t.Errorf("results down: %v, %+v", w.tombstones, w.notes[2])
			}
		})
		time.Sleep(time.Hour)
		if one.health.last() != service.Degraded || testutil.ToFloat64(one.saga.metrics.oldest) < 3000 {
			t.Error("nobody is told that a deletion is stuck")
		}
		one.lease.Store(false)
		time.Sleep(time.Minute + 5*time.Second)
		if one.health.last() != service.OK || testutil.ToFloat64(one.saga.metrics.oldest) != 0 {
			t.Error("a standby complains")
		}
		one.lease.Store(true)
		w.set(func() { w.resultsDown = false })
		time.Sleep(2 * time.Minute)
		for id := int64(1); id <= 2; id++ {
			if what := w.left(id); what != "" {
				t.Error(id, what)
			}
		}
		if one.health.last() != service.OK {
			t.Error("still complains")
		}
	})
}

// What was found at the last look may not have been all there was.
func TestRowsThatComeWhileOthersAreRemoved(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		w.delete(1)
		time.Sleep(quiet - 10*time.Second)
		w.set(func() {
			w.rows[1]++
			w.meanwhile = func(id int64) { w.rows[id]++; w.meanwhile = nil }
		})
		time.Sleep(20 * time.Second)
		w.set(func() {
			if !w.notes[1].Finished.IsZero() || w.meanwhile != nil {
				t.Error("finished with rows there")
			}
		})
		time.Sleep(time.Minute)
		if what := w.left(1); what != "" {
			t.Error(what)
		}
	})
}

// Until the deletion is in force the target may be published: nothing is concluded.
func TestPendingDeletionIsNotFinished(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		w.set(func() { w.notes[1] = targetstore.Deletion{TargetID: 1, Requested: time.Now()} })
		for range 120 {
			time.Sleep(30 * time.Second)
			w.set(func() { w.rows[1]++ })
		}
		w.set(func() {
			if d := w.notes[1]; !d.Finished.IsZero() {
				t.Errorf("%+v", d)
			}
			w.notes[1] = targetstore.Deletion{TargetID: 1, Requested: w.notes[1].Requested, Effective: time.Now(), Erased: w.notes[1].Erased}
		})
		time.Sleep(12 * time.Minute)
		if what := w.left(1); what != "" || len(w.early) > 0 {
			t.Error(what, w.early)
		}
	})
}

// A disk that gives rows back an hour later finds a tombstone; where it does not
// ask, the rows go at the next look. After 31 days nothing can come.
func TestLateRowsDoNotStay(t *testing.T) {
	at(t, func(t *testing.T, w *world, one *worker) {
		w.delete(1)
		time.Sleep(time.Hour)
		if w.arrive(1); w.rows[1] != 0 {
			t.Error("came back past a tombstone")
		}
		w.set(func() { w.redisDown = true })
		w.arrive(1)
		time.Sleep(time.Hour + 10*time.Second)
		w.set(func() {
			if w.rows[1] != 0 {
				t.Error("late rows stay")
			}
			w.redisDown = false
		})
		if testutil.ToFloat64(one.saga.metrics.cameBack) != 1 {
			t.Error("not counted")
		}
		w.set(func() {
			w.edit([]int64{1}, func(d *targetstore.Deletion) { d.Requested = time.Now().Add(90*time.Minute - watched) })
		})
		time.Sleep(6 * time.Hour)
		w.set(func() {
			if last := w.looks[1][len(w.looks[1])-1]; last < watched-time.Hour || last > watched {
				t.Errorf("last looked at after %v", last)
			}
		})
	})
}

func TestLostTombstonesAreWrittenAgain(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		w.delete(1, 2, 3)
		time.Sleep(12 * time.Minute)
		w.set(func() {
			w.edit([]int64{1, 2, 3}, func(d *targetstore.Deletion) { d.Requested = d.Requested.Add(-20 * 24 * time.Hour) })
		})
		w.delete(4)
		time.Sleep(10 * time.Second)
		for name, lose := range map[string]func(){"all": func() { clear(w.tombstones) }, "one": func() { delete(w.tombstones, 2) }} {
			w.set(lose)
			time.Sleep(6 * time.Second)
			w.set(func() {
				if len(w.tombstones) != 4 {
					t.Errorf("lost %s: %v", name, w.tombstones)
				}
			})
		}
	})
}

func TestStandbyDoesNothing(t *testing.T) {
	at(t, func(t *testing.T, w *world, one *worker) {
		one.lease.Store(false)
		w.delete(1)
		time.Sleep(time.Hour)
		if what := w.left(1); what != "rows are there" || testutil.ToFloat64(one.saga.metrics.unfinished) != 0 {
			t.Error(what)
		}
		one.lease.Store(true)
		time.Sleep(45 * time.Second) // 11 minutes have passed already
		if what := w.left(1); what != "" || testutil.ToFloat64(one.saga.metrics.finished) != 1 {
			t.Error("not taken up")
		}
	})
}

func TestManyDeletionsAtOnce(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		for id := int64(1); id <= page+1; id++ {
			w.delete(id)
		}
		time.Sleep(12 * time.Minute)
		for id := int64(1); id <= page+1; id++ {
			if what := w.left(id); what != "" {
				t.Fatal(id, what)
			}
		}
	})
}

var (
	seeds    = flag.Int("seeds", 60, "how many random histories the simulator runs")
	firstOne = flag.Uint64("seed", 1, "the first seed")
)

// TestAnyHistoryEndsClean lets stores go away and come back, Redis lose its data,
// publishers die between any two steps and work at the same time, and rows arrive
// late, while targets are deleted: in the end nothing of them is left.
func TestAnyHistoryEndsClean(t *testing.T) {
	t.Parallel()
	for seed := *firstOne; seed < *firstOne+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { simulate(t, rand.New(rand.NewPCG(seed, 5))) })
		})
	}
}

func simulate(t *testing.T, rng *rand.Rand) {
	w, deleted := newWorld(), int64(0)
	team := []*worker{w.start(t, true), w.start(t, rng.IntN(2) == 0)}
	for range 40 {
		time.Sleep(time.Duration(rng.IntN(60_000)) * time.Millisecond)
		p := rng.IntN(len(team))
		switch rng.IntN(10) {
		case 0, 1, 2:
			deleted++
			w.delete(deleted)
		case 3:
			w.set(func() { w.databaseDown = !w.databaseDown })
		case 4:
			w.set(func() { w.redisDown = !w.redisDown })
		case 5:
			w.set(func() { w.resultsDown = !w.resultsDown })
		case 6:
			w.set(func() { clear(w.tombstones) })
		case 7:
			time.Sleep(time.Until(time.Now().Truncate(5*time.Second).Add(5*time.Second)) + time.Duration(rng.IntN(30))*time.Millisecond) // while it works
			team[p].stop()
			team[p] = w.start(t, rng.IntN(2) == 0)
		case 8:
			team[p].lease.Store(rng.IntN(2) == 0)
		case 9:
			if deleted > 0 {
				w.arrive(1 + rng.Int64N(deleted))
			}
		}
	}
	w.set(func() { w.databaseDown, w.redisDown, w.resultsDown = false, false, false })
	team[0].lease.Store(true)
	time.Sleep(15 * time.Minute)
	for id := int64(1); id <= deleted; id++ {
		w.arrive(id)
	}
	time.Sleep(time.Hour + time.Minute)
	for id := int64(1); id <= deleted; id++ {
		if what := w.left(id); what != "" {
			t.Errorf("target %d: %s", id, what)
		}
	}
	if len(w.early) > 0 {
		t.Errorf("finished too early: %v", w.early)
	}
	for _, p := range team {
		p.stop()
	}
}
