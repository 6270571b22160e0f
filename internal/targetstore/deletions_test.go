package targetstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
)

func ids(deletions []targetstore.Deletion) []int64 {
	var all []int64
	for _, d := range deletions {
		all = append(all, d.TargetID)
	}
	return all
}

// The note of a deletion is there exactly when the target is gone.
func TestDeletionIsNotedWithTheDelete(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		kept, gone := create(t, store, example("kept")), create(t, store, example("gone"))
		if err := store.Delete(t.Context(), kept.ID, kept.SpecVersion+7); !errors.Is(err, targetstore.ErrConflict) {
			t.Fatal(err)
		}
		if err := store.Delete(t.Context(), gone.ID, 0); err != nil {
			t.Fatal(err)
		}
		all, err := store.Unfinished(t.Context(), 0, 10)
		if err != nil || len(all) != 1 || all[0].TargetID != gone.ID || time.Since(all[0].Requested) > time.Minute || !all[0].Effective.IsZero() {
			t.Fatalf("%+v, %v", all, err)
		}
		from := time.Now().Truncate(time.Second).UTC()
		if _, err := schedulestore.New(db).Adopt(t.Context(), 100, from); err != nil {
			t.Fatal(err)
		}
		if all, err = store.Unfinished(t.Context(), 0, 10); err != nil || !all[0].Effective.Equal(from) {
			t.Errorf("%+v, %v", all, err)
		}
		// A delete that cannot note what is owed does not happen.
		err = db.Tx(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO deletions (target_id, requested_at_ms, tries, last_error) VALUES (?, 0, 0, '')", kept.ID).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Delete(t.Context(), kept.ID, 0); err == nil {
			t.Error("deleted without a note")
		}
		if _, err := store.Get(t.Context(), kept.ID); err != nil {
			t.Error(err)
		}
	})
}

func TestDeletionSteps(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		for _, name := range []string{"a", "b", "c", "d"} {
			if err := store.Delete(t.Context(), create(t, store, example(name)).ID, 0); err != nil {
				t.Fatal(err)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		expect := func(what string, got []targetstore.Deletion, err error, want ...int64) {
			t.Helper()
			if err != nil || !slices.Equal(ids(got), want) {
				t.Errorf("%s: %v, %v; want %v", what, ids(got), err, want)
			}
		}
		ctx, now := t.Context(), time.Now().Truncate(time.Millisecond).UTC()
		do(store.MarkTombstoned(ctx, []int64{1, 2, 9}, now))
		do(store.MarkTombstoned(ctx, []int64{2, 3}, now.Add(time.Minute)))
		do(store.MarkFailed(ctx, []int64{1, 2}, "no answer"))
		do(store.MarkFailed(ctx, []int64{2}, "no answer again"))
		do(store.MarkLooked(ctx, targetstore.Look{At: now, All: []int64{1, 2, 3}, Clean: []int64{1, 3}, Finished: []int64{1}}))
		do(store.MarkLooked(ctx, targetstore.Look{At: now.Add(time.Hour), All: []int64{1}, Clean: []int64{1}, Finished: []int64{1}}))

		all, err := store.DeletedSince(ctx, now.Add(-time.Hour), 0, 10)
		expect("since", all, err, 1, 2, 3, 4)
		one := all[0]
		one.Requested = time.Time{}
		if want := (targetstore.Deletion{TargetID: 1, Tombstoned: now, Erased: now.Add(time.Hour), Verified: now.Add(time.Hour), Finished: now, Tries: 1}); one != want {
			t.Errorf("first: %+v", one)
		}
		if two := all[1]; two.Tries != 2 || two.LastError != "no answer again" || !two.Tombstoned.Equal(now) || !two.Erased.Equal(now) || !two.Verified.IsZero() {
			t.Errorf("second: %+v", two)
		}
		got, err := store.DeletedSince(ctx, now.Add(-time.Hour), 1, 2)
		expect("a page since", got, err, 2, 3)
		got, err = store.DeletedSince(ctx, now.Add(time.Hour), 0, 10)
		expect("since later", got, err)
		got, err = store.Unfinished(ctx, 2, 10)
		expect("unfinished", got, err, 3, 4)
		got, err = store.FinishedUnseen(ctx, now.Add(-time.Hour), now.Add(2*time.Hour), 10)
		expect("to look at again", got, err, 1)
		got, err = store.FinishedUnseen(ctx, now.Add(-time.Hour), now.Add(time.Hour), 10)
		expect("seen lately", got, err)
		got, err = store.FinishedUnseen(ctx, now.Add(time.Hour), now.Add(2*time.Hour), 10)
		expect("requested long ago", got, err)
		counts, err := store.CountDeletions(ctx, now.Add(-time.Hour))
		if err != nil || counts.Unfinished != 3 || counts.Tombstoned != 3 || time.Since(counts.Oldest) > time.Minute {
			t.Errorf("%+v, %v", counts, err)
		}
		if counts, err = store.CountDeletions(ctx, now.Add(time.Hour)); err != nil || counts.Tombstoned != 0 {
			t.Errorf("%+v, %v", counts, err)
		}
		late, cancel := context.WithDeadline(ctx, now.Add(-time.Second))
		defer cancel()
		_, errRead := store.Unfinished(late, 0, 10)
		_, errCount := store.CountDeletions(late, now)
		for _, err := range []error{errRead, errCount, store.MarkFailed(late, []int64{1}, ""), store.MarkLooked(late, targetstore.Look{All: []int64{1}})} {
			if !errors.Is(err, database.ErrUnavailable) {
				t.Errorf("out of time: %v", err)
			}
		}
	})
}
