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
		w.set(func() { w.put(1) })
		time.Sleep(26 * time.Second)
		w.set(func() {
			if w.count(1) > 0 || !w.tombstones[1] {
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
		if told := w.told[1]; len(told) != 2 || told[0] > 7*time.Second || told[1] < 2*time.Minute || told[1] > 127*time.Second {
			t.Errorf("every API was told after %v", told)
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
			if w.count(1) > 0 || w.steps[1]["results"].Looked.IsZero() || w.notes[1].Tries == 0 || !w.notes[1].Tombstoned.IsZero() || w.steps[1][stepAnswers].LastError == "" {
				t.Errorf("redis down: %d rows, %+v", w.count(1), w.notes[1])
			}
			w.redisDown, w.resultsDown = false, true
		})
		w.delete(2)
		time.Sleep(time.Minute + 5*time.Second) // the back-off
		w.set(func() {
			if !w.tombstones[1] || !w.tombstones[2] || w.count(2) == 0 || w.notes[2].Tombstoned.IsZero() || w.steps[2]["results"].LastError == "" {
				t.Errorf("results down: %v, %+v", w.tombstones, w.steps[2])
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
		time.Sleep(9 * time.Minute)
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
			w.put(1)
			w.meanwhile = func(_ string, id int64) { w.put(id); w.meanwhile = nil }
		})
		time.Sleep(20 * time.Second)
		w.set(func() {
			if !w.notes[1].Finished.IsZero() || w.meanwhile != nil {
				t.Error("finished with rows there")
			}
		})
		time.Sleep(8 * time.Minute)
		if what := w.left(1); what != "" {
			t.Error(what)
		}
	})
}

// A table that cannot be cleared holds up no other one, and what is computed from its rows
// meanwhile does not stay.
func TestOneTableBeingAwayHoldsUpNoOther(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		w.set(func() { w.tableDown = "results" })
		w.delete(1)
		time.Sleep(20 * time.Minute)
		w.set(func() {
			for _, p := range places {
				s := w.steps[1][p.table]
				if cleared := w.rows[p.table][1] == 0; cleared == (p.table == "results") || s.Done.IsZero() == (p.table == "results_latest" || p.table == "rollup_dirty" || p.table == "prints" || p.table == targetstore.StepChecks) {
					t.Errorf("%s: cleared %v, %+v", p.table, cleared, s)
				}
			}
			if s := w.steps[1]["results"]; s.Tries < 10 || s.LastError == "" || w.steps[1]["rollup_1d"].Tries > 0 {
				t.Errorf("%+v", w.steps[1])
			}
			w.compute() // a rebuild
			w.tableDown = ""
		})
		time.Sleep(5 * time.Minute)
		w.set(func() {
			w.compute()
			if n := w.hidden["results"][1]; n != 0 {
				t.Errorf("of results %d rows are on the disk", n)
			}
		})
		if what := w.left(1); what != "not done: [rollup_1h rollup_1d corrections]" {
			t.Error("before what was being computed must have come: ", what)
		}
		w.set(func() { w.rows["rollup_1h"][1], w.rows["rollup_1d"][1] = 3, 3 }) // it was
		time.Sleep(10 * time.Minute)
		if what := w.left(1); what != "" {
			t.Error(what)
		}
	})
}

// A step is done when the rows are gone from the disk, too; an erasure that fails is repeated.
func TestRowsAreErasedFromTheDisk(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		w.delete(1)
		time.Sleep(time.Minute)
		w.set(func() {
			if w.count(1) != 0 || w.onDisk(1) == 0 {
				t.Errorf("within a minute %d rows, %d on the disk", w.count(1), w.onDisk(1))
			}
			w.tableDown = "prints"
		})
		time.Sleep(20 * time.Minute)
		w.set(func() {
			if n := w.onDisk(1); n != 1 {
				t.Errorf("%d rows are on the disk", n)
			}
			if s := w.steps[1]["prints"]; !s.Done.IsZero() || s.LastError == "" || w.steps[1]["results"].Done.IsZero() {
				t.Errorf("%+v", w.steps[1])
			}
			w.tableDown = ""
		})
		time.Sleep(2 * time.Minute)
		if what := w.left(1); what != "" {
			t.Error(what)
		}
	})
}

// Until the deletion is in force the target may be published: nothing is concluded.
func TestPendingDeletionIsNotFinished(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		w.delete(1)
		w.set(func() { w.notes[1] = targetstore.Deletion{TargetID: 1, Requested: time.Now()} })
		for range 120 {
			time.Sleep(30 * time.Second)
			w.set(func() { w.put(1); w.compute() })
		}
		w.set(func() {
			if d := w.notes[1]; !d.Finished.IsZero() {
				t.Errorf("%+v", d)
			}
			w.edit([]int64{1}, func(d *targetstore.Deletion) { d.Effective = time.Now() })
		})
		time.Sleep(13 * time.Minute)
		if what := w.left(1); what != "" || len(w.early) > 0 {
			t.Error(what, w.early)
		}
	})
}

// A disk that gives rows back an hour later finds a tombstone; where it does not
// ask, the rows go at the next look. A day after the last result is dropped nothing can come.
func TestLateRowsDoNotStay(t *testing.T) {
	at(t, func(t *testing.T, w *world, one *worker) {
		w.delete(1)
		time.Sleep(time.Hour)
		if w.arrive(1); w.count(1) != 0 {
			t.Error("came back past a tombstone")
		}
		w.set(func() { w.redisDown = true })
		w.arrive(1)
		time.Sleep(time.Hour + 10*time.Second)
		w.set(func() {
			if w.count(1) != 0 {
				t.Error("late rows stay")
			}
			w.redisDown = false
		})
		time.Sleep(40 * time.Second)
		w.set(func() {
			if n := w.onDisk(1); n != 0 {
				t.Errorf("of late rows %d stay on the disk", n)
			}
		})
		if testutil.ToFloat64(one.saga.metrics.cameBack.WithLabelValues("results")) != 1 {
			t.Error("not counted")
		}
		const watched = 8 * 24 * time.Hour // of another retention than the usual one
		w.set(func() {
			w.edit([]int64{1}, func(d *targetstore.Deletion) { d.Requested = time.Now().Add(90*time.Minute - watched) })
			w.kept = watched - watchedLonger
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

// Tombstones outlive the results that are kept, however long that is, by a day.
func TestTombstonesStayForAsLongAsResultsDo(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *worker) {
		const day = 24 * time.Hour
		w.set(func() { w.kept = 90 * day })
		w.delete(1)
		time.Sleep(12 * time.Minute)
		w.set(func() {
			w.edit([]int64{1}, func(d *targetstore.Deletion) { d.Requested = time.Now().Add(-90 * day) })
			clear(w.tombstones)
		})
		time.Sleep(10 * time.Second)
		w.set(func() {
			if !w.tombstones[1] || !slices.Equal(w.pruned, []time.Duration{91 * day}) {
				t.Errorf("of a target deleted 90 days ago %v; pruned what is older than %v", w.tombstones, w.pruned)
			}
			w.kept, w.resultsDown = 7*day, true
			w.pruned = nil
			clear(w.tombstones)
		})
		time.Sleep(2 * time.Hour)
		w.set(func() {
			if len(w.tombstones) > 0 || len(w.pruned) > 0 {
				t.Errorf("while nobody says how long results are kept: %v, pruned %v", w.tombstones, w.pruned)
			}
			w.resultsDown = false
		})
		time.Sleep(90 * time.Minute)
		w.set(func() {
			if len(w.pruned) != 2 || w.pruned[0] != 8*day || w.pruned[1] != 8*day {
				t.Errorf("pruned what is older than %v", w.pruned)
			}
		})
	})
}

func TestStandbyDoesNothing(t *testing.T) {
	at(t, func(t *testing.T, w *world, one *worker) {
		one.lease.Store(false)
		time.Sleep(passEvery) // what it began while it held the lease has ended
		w.delete(1)
		time.Sleep(time.Hour)
		if what := w.left(1); what != "8 rows are there" || testutil.ToFloat64(one.saga.metrics.unfinished) != 0 {
			t.Error(what)
		}
		one.lease.Store(true)
		time.Sleep(7*time.Minute + 45*time.Second) // 11 minutes have passed already; what was being computed must have come
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
		time.Sleep(13 * time.Minute)
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
	n := *seeds
	if testing.Short() {
		n = min(n, 15)
	}
	for seed := *firstOne; seed < *firstOne+uint64(n); seed++ {
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
		switch rng.IntN(12) {
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
			w.set(func() { w.tableDown = [...]string{"", "results", "rollup_1h", "corrections"}[rng.IntN(4)] })
		case 10:
			w.set(w.compute)
		case 11:
			if deleted > 0 {
				w.arrive(1 + rng.Int64N(deleted))
			}
		}
	}
	w.set(func() { w.databaseDown, w.redisDown, w.resultsDown, w.tableDown = false, false, false, "" })
	team[0].lease.Store(true)
	time.Sleep(25 * time.Minute)
	for id := int64(1); id <= deleted; id++ {
		w.arrive(id)
	}
	w.set(w.compute)
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
