package targetstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// What is rehearsed sees what was rehearsed before it, and is gone afterwards with its versions.
func TestARehearsalLeavesNothing(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := targetstore.New(db)
		ctx := t.Context()
		there, err := s.Create(ctx, example("there"))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Rehearse(ctx, func(r *targetstore.Rehearsal) error {
			first, err := r.Create(ctx, example("first"))
			if err != nil {
				t.Error(err)
			}
			if _, err := r.Create(ctx, example("first")); !errors.Is(err, targetstore.ErrNameTaken) {
				t.Errorf("a name twice: %v", err)
			}
			child := example("child")
			child.ParentID = first.ID
			if _, err := r.Create(ctx, child); err != nil {
				t.Errorf("on one of the same rehearsal: %v", err)
			}
			renamed, err := r.Update(ctx, there.ID, 0, func(t *uptime.Target) error { t.Name = "renamed"; return nil })
			if err != nil || renamed.Name != "renamed" || renamed.SpecVersion <= there.SpecVersion {
				t.Errorf("%+v %v", renamed, err)
			}
			same, err := r.Update(ctx, there.ID, 0, func(*uptime.Target) error { return nil })
			if err != nil || same.SpecVersion != renamed.SpecVersion {
				t.Errorf("unchanged: %+v %v", same, err)
			}
			if _, err := r.Create(ctx, example("there")); err != nil {
				t.Errorf("a name that is free now: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.List(ctx, targetstore.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]uptime.Target{there}, all); diff != "" {
			t.Error(diff)
		}
		next, err := s.Create(ctx, example("next"))
		if err != nil || next.SpecVersion != there.SpecVersion+1 {
			t.Errorf("numbers were used up: %d after %d, %v", next.SpecVersion, there.SpecVersion, err)
		}
		if err := s.Rehearse(ctx, func(*targetstore.Rehearsal) error { return context.Canceled }); !errors.Is(err, context.Canceled) {
			t.Errorf("an error of fn: %v", err)
		}
	})
}

// A rehearsal of many takes seconds: whoever saves a target meanwhile does not wait for its end.
func TestNobodyWaitsForARehearsal(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := targetstore.New(db)
		err := s.Rehearse(t.Context(), func(r *targetstore.Rehearsal) error {
			if _, err := r.Create(t.Context(), example("rehearsed")); err != nil {
				return err
			}
			soon, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // only if it hangs
			defer cancel()
			if _, err := s.Create(soon, example("meanwhile")); err != nil {
				return err
			}
			_, err := r.Create(t.Context(), example("meanwhile")) // which is not there, for the rehearsal
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := s.List(t.Context(), targetstore.Filter{}); err != nil || len(all) != 1 || all[0].Name != "meanwhile" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}
