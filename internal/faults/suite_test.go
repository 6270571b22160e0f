//go:build !faults

package faults

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

const full = false // rows may leave out what takes minutes

// hang is how long a wait of `make test` may take: only what hangs takes longer.
const hang = 5 * time.Minute

// patience stretches every limit of time: what the suite proves are the sums, on a slow
// machine too. The limits themselves are for `make faults`.
func patience(limit time.Duration) time.Duration {
	if testing.Short() {
		return hang
	}
	return 4 * limit
}

// TestRows runs the starred rows, a few trials each, with short outages. In `make test` it is
// those of brief, in one fleet.
//
// Promise: nothing is lost, doubled or unexplained while processes and stores fail
func TestRows(t *testing.T) {
	seed, only := seedOf(t), os.Getenv("ROW")
	// Not shorter, though these programs would accept it: the timeout follows the interval, and
	// targets of a busy machine would be down.
	size := fleet{targets: 200, intervalS: 10}
	testfleet.Programs(t, build()) // before the clocks of the fleets run
	if testing.Short() {
		var jobs []job
		for _, id := range brief() {
			w, err := rowNamed(id)
			if err != nil {
				t.Fatal(err)
			}
			// Each run kills at other edges of the machine.
			j := job{row: w, first: int(seed % uint64(len(killEdges))), trials: 1, outage: min(w.outage, 5*time.Second)}
			if id == "F42" {
				j.trials = 3
			}
			if only == "" || only == id {
				jobs = append(jobs, j)
			}
		}
		runJobs(t, size, seed, jobs, func(*testing.T, account) {})
		return
	}
	for i, lane := range lanes() {
		var fleets []fleet
		var jobs [][]job
		for _, w := range lane {
			if w.suite == 0 || only != "" && only != w.id {
				continue
			}
			f := w.fleet
			f.targets, f.intervalS = size.targets, size.intervalS
			at := slices.IndexFunc(fleets, func(other fleet) bool { return reflect.DeepEqual(other, f) })
			if at < 0 {
				at, fleets, jobs = len(fleets), append(fleets, f), append(jobs, nil)
			}
			jobs[at] = append(jobs[at], job{row: w, trials: w.suite, outage: min(w.outage, 15*time.Second)})
		}
		t.Run(fmt.Sprintf("lane%d", i), func(t *testing.T) {
			t.Parallel()
			for n, f := range fleets {
				t.Run(fmt.Sprintf("fleet%d", n), func(t *testing.T) {
					runJobs(t, f, seed, jobs[n], func(*testing.T, account) {})
				})
			}
		})
	}
}

// repeat is the command that runs the trials of a row again.
func repeat(id string, seed uint64, _, _ int) string {
	short := ""
	if testing.Short() {
		short = " -short"
	}
	return fmt.Sprintf("SEED=%d ROW=%s go test%s -run TestRows ./internal/faults", seed, id, short)
}
