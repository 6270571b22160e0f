package troublestore_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/troublestore"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// However many nodes say that something began, or is over: it is one incident.
func TestATroubleIsOneIncident(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		incidents := incidentstore.New(db, nil)
		s := troublestore.New(db, incidents)
		together := func(do func() (bool, error)) (n int64) {
			t.Helper()
			var done atomic.Int64
			var group errgroup.Group
			for range 4 {
				group.Go(func() error {
					fresh, err := do()
					if fresh {
						done.Add(1)
					}
					return err
				})
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			return done.Load()
		}
		one := troublestore.Trouble{Name: "publisher", Title: "The publisher", Says: "it does not publish", Severity: incidentstore.Down}
		for round := range 2 {
			at := noon.Add(time.Duration(round) * time.Hour)
			if n := together(func() (bool, error) { return s.Begin(t.Context(), one, at.Add(-time.Minute), at) }); n != 1 {
				t.Errorf("began %d times", n)
			}
			if names, err := s.Names(t.Context()); err != nil || !slices.Equal(names, []string{"publisher"}) {
				t.Errorf("%q, %v", names, err)
			}
			all, err := incidents.List(t.Context(), incidentstore.Filter{State: incidentstore.StateOpen, Limit: 10})
			if err != nil || len(all) != 1 || all[0].Subject.Kind != incidentstore.KindFleet || all[0].TargetID != 0 || !all[0].FirstSlot.Equal(at.Add(-time.Minute)) || all[0].Cause.Explanation != "it does not publish." {
				t.Fatalf("%+v, %v", all, err)
			}
			if n := together(func() (bool, error) { return s.End(t.Context(), "publisher", at.Add(time.Minute), "well") }); n != 1 {
				t.Errorf("ended %d times", n)
			}
		}
		all, err := incidents.List(t.Context(), incidentstore.Filter{State: incidentstore.StateResolved, Limit: 10})
		if err != nil || len(all) != 2 {
			t.Errorf("%+v, %v", all, err)
		}
		if names, err := s.Names(t.Context()); err != nil || len(names) != 0 {
			t.Errorf("%q, %v", names, err)
		}
	})
}
