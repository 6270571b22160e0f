package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// job is some trials of one row.
type job struct {
	row    row
	first  int // number of the first trial: a replay continues where it stopped
	trials int
	outage time.Duration
}

// runJobs runs jobs one after the other in one fleet, waits until every slot has
// its row, and judges each.
func runJobs(t *testing.T, f fleet, seed uint64, jobs []job, report func(*testing.T, account)) {
	t.Helper()
	r := newRig(t, f)
	t.Logf("SEED=%d; the fleet runs", seed)
	windows := make([][]*trial, len(jobs))
	problems := make([][]string, len(jobs))
	var every []*trial
	for i, j := range jobs {
		t.Run(j.row.id, func(t *testing.T) {
			for n := range j.trials {
				t.Run(strconv.Itoa(j.first+n), func(t *testing.T) {
					tr := newTrial(t, r, &j.row, j.first+n, seed, j.outage)
					windows[i], every = append(windows[i], tr), append(every, tr)
					defer tr.finish()
					j.row.run(r, tr)
				})
			}
			problems[i] = r.settle(t)
			r.awaitRows(t, windows[i])
		})
	}
	r.awaitExplained(t, every)
	for i, j := range jobs {
		t.Run(j.row.id+"-account", func(t *testing.T) {
			a := r.close(t, &j.row, windows[i], problems[i])
			a.Seed, a.First, a.Race = seed, j.first, raceDetector()
			t.Log(a)
			if !a.OK {
				t.Errorf("the promise of %s does not hold; repeat it with: %s", j.row.id, repeat(j.row.id, seed, j.first, j.trials))
			}
			report(t, a)
		})
	}
}

// seedOf is SEED of the environment, else a new one.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("SEED")
	if text == "" {
		return uint64(rand.Uint32())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SEED: %v", err)
	}
	return seed
}

func rowNamed(id string) (row, error) {
	for _, w := range rows() {
		if w.id == id {
			return w, nil
		}
	}
	return row{}, fmt.Errorf("the rig has no row %q", id)
}
