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

const (
	suiteOutage   = 15 * time.Second
	suiteTargets  = 200
	full          = false // rows may leave out what takes minutes
	suiteInterval = 10
	// patience stretches every limit of time: what `make test` proves are the sums, on a
	// slow machine too. The limits themselves are for `make faults`.
	patience = 4
)

// TestRows runs the starred rows, a few trials each, with short outages.
//
// Promise: nothing is lost, doubled or unexplained while processes and stores fail
func TestRows(t *testing.T) {
	seed := seedOf(t)
	testfleet.Programs(t, build()) // before the clocks of the fleets run
	for i, lane := range lanes() {
		var fleets []fleet
		var jobs [][]job
		for _, w := range lane {
			if only := os.Getenv("ROW"); w.suite == 0 || only != "" && only != w.id {
				continue
			}
			f := w.fleet
			f.targets, f.intervalS = suiteTargets, suiteInterval
			at := slices.IndexFunc(fleets, func(other fleet) bool { return reflect.DeepEqual(other, f) })
			if at < 0 {
				at, fleets, jobs = len(fleets), append(fleets, f), append(jobs, nil)
			}
			jobs[at] = append(jobs[at], job{row: w, trials: w.suite, outage: min(w.outage, suiteOutage)})
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
