//go:build !load && !faults && !browser && !bench

package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/testhistory"
)

// TestHistoryCountsOnce sends the same results in every way they can arrive, beside an
// installation: after each, once the publisher's own job has run, and after three more runs of
// it, the API says of every row, hour and day what a model of them says.
func TestHistoryCountsOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make verify: the job is proven by publisher/internal/rollup, what the API says by dashboard-api")
	}
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	paused := false
	created := s.create(target{Name: "kept by others", URL: "http://127.0.0.1:9/", IntervalS: int(testhistory.Interval / time.Second), Active: &paused})
	run := s.run()
	store, err := resultstore.Open(t.Context(), run.ClickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	db, err := database.Open(t.Context(), run.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	notes := rollupstore.New(db)
	began := func(since time.Time) {
		t.Helper()
		s.await(hang, "a run of the rollups", func() bool {
			state, err := notes.State(t.Context())
			return err == nil && state.Succeeded.After(since)
		})
	}
	began(time.Time{})
	h := testhistory.New(t, store, created.ID, func(path string) (int, string) {
		code, answer := s.try("GET", path, nil)
		return code, string(answer)
	})
	h.Published()
	compute := func() {
		t.Helper()
		since := time.Now()
		old := s.signal("publisher", syscall.SIGTERM) // the next one begins with a run, instead of within a minute
		s.await(hang, "the publisher runs again", func() bool { pid := s.pid("publisher"); return pid != 0 && pid != old })
		began(since)
		h.Computed()
	}
	for _, step := range h.Steps() {
		step.Send()
		compute()
		h.Check(step.What)
	}
	for n := range 3 {
		compute()
		h.Check(fmt.Sprint("run ", n+1))
	}
	h.End()
}
