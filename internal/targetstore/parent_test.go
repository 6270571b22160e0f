package targetstore_test

import (
	"errors"
	"testing"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestParents(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		var ids []int64 // each depends on the one before
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			target := example(name)
			if len(ids) > 0 {
				target.ParentID = ids[len(ids)-1]
			}
			ids = append(ids, create(t, store, target).ID)
		}
		other := create(t, store, example("other")).ID
		depend := func(id, parent int64) error {
			_, err := store.Update(t.Context(), id, 0, func(target *uptime.Target) error { target.ParentID = parent; return nil })
			return err
		}
		want := func(what string, err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		deep := example("deep")
		deep.ParentID = ids[5]
		_, err := store.Create(t.Context(), deep)
		want("six in a row", err, targetstore.ErrParentDepth)
		deep.ParentID = 4711
		_, err = store.Create(t.Context(), deep)
		want("nobody", err, targetstore.ErrNoParent)
		want("itself", depend(ids[0], ids[0]), targetstore.ErrParentCycle)
		want("in a circle", depend(ids[0], ids[3]), targetstore.ErrParentCycle)
		want("with all below", depend(ids[0], other), targetstore.ErrParentDepth)
		want("with fewer below", depend(ids[1], other), nil)
		want("a parent goes", store.Delete(t.Context(), other, 0), targetstore.ErrHasChildren)
		found, err := store.List(t.Context(), targetstore.Filter{ParentID: other})
		if err != nil || len(found) != 1 || found[0].ID != ids[1] || found[0].ParentID != other {
			t.Errorf("%+v, %v", found, err)
		}
		want("none", depend(ids[1], 0), nil)
		want("nobody depends on it", store.Delete(t.Context(), other, 0), nil)
		var seen int64
		if err := store.Each(t.Context(), func(target uptime.Target) error { seen += target.ParentID; return nil }); err != nil || seen != ids[1]+ids[2]+ids[3]+ids[4] {
			t.Errorf("%d, %v", seen, err)
		}
	})
}
