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
		do(store.MarkUntold(ctx, []int64{4}, "no answer"))
		do(store.MarkUntold(ctx, []int64{4}, "no answer again"))

		all, err := store.DeletedSince(ctx, now.Add(-time.Hour), 0, 10)
		expect("since", all, err, 1, 2, 3, 4)
		if two, four := all[1], all[3]; !two.Tombstoned.Equal(now) || four.Tries != 2 || four.LastError != "no answer again" || !four.Tombstoned.IsZero() {
			t.Errorf("%+v, %+v", two, four)
		}
		got, err := store.DeletedSince(ctx, now.Add(-time.Hour), 1, 2)
		expect("a page since", got, err, 2, 3)
		got, err = store.DeletedSince(ctx, now.Add(time.Hour), 0, 10)
		expect("since later", got, err)
		got, err = store.Unfinished(ctx, 2, 10)
		expect("unfinished", got, err, 3, 4)
		counts, err := store.CountDeletions(ctx, now.Add(-time.Hour))
		if err != nil || counts.Unfinished != 4 || counts.Tombstoned != 3 || time.Since(counts.Oldest) > time.Minute {
			t.Errorf("%+v, %v", counts, err)
		}
		if counts, err = store.CountDeletions(ctx, now.Add(time.Hour)); err != nil || counts.Tombstoned != 0 {
			t.Errorf("%+v, %v", counts, err)
		}
		late, cancel := context.WithDeadline(ctx, now.Add(-time.Second))
		defer cancel()
		_, errRead := store.Unfinished(late, 0, 10)
		_, errCount := store.CountDeletions(late, now)
		_, errOwed := store.Owed(late, "a", "", now, 0, 1)
		_, errFinish := store.FinishDeletions(late, []string{"a"}, now)
		looks := []targetstore.Look{{TargetID: 1}}
		for _, err := range []error{errRead, errCount, errOwed, errFinish, store.MarkFailed(late, "a", []int64{1}, ""), store.MarkLooked(late, "a", now, looks)} {
			if !errors.Is(err, database.ErrUnavailable) {
				t.Errorf("out of time: %v", err)
			}
		}
	})
}

// Each step of a deletion has notes of its own; the deletion is finished when all are done.
func TestStepsOfADeletion(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		for _, name := range []string{"a", "b", "c"} {
			if err := store.Delete(t.Context(), create(t, store, example(name)).ID, 0); err != nil {
				t.Fatal(err)
			}
		}
		ctx, now := t.Context(), time.Now().Truncate(time.Millisecond).UTC()
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		owed := func(what string, step string, due time.Time, want ...int64) []targetstore.Owed {
			t.Helper()
			all, err := store.Owed(ctx, step, "raw", due, 0, 10)
			var got []int64
			for _, o := range all {
				got = append(got, o.TargetID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v; want %v", what, got, err, want)
			}
			return all
		}
		finish := func(want int64) {
			t.Helper()
			if n, err := store.FinishDeletions(ctx, []string{"raw", "made"}, now); err != nil || n != want {
				t.Errorf("finished %d, %v; want %d", n, err, want)
			}
		}
		owed("none has begun", "raw", now, 1, 2, 3)
		do(store.MarkFailed(ctx, "raw", []int64{1, 2}, "away"))
		do(store.MarkFailed(ctx, "raw", []int64{2}, "still away"))
		if all := owed("failed ones stay due", "raw", now, 1, 2, 3); len(all) == 3 {
			if s := all[1].Step; s.Tries != 2 || s.LastError != "still away" || !s.Looked.IsZero() || all[2].Step != (targetstore.Step{Name: "raw"}) {
				t.Errorf("%+v, %+v", s, all[2].Step)
			}
		}
		second := now.Add(time.Minute)
		do(store.MarkLooked(ctx, "raw", now, []targetstore.Look{{TargetID: 1, Clean: true, Next: second}, {TargetID: 2, Next: second}}))
		owed("looked at", "raw", now, 3)
		owed("of another step", "made", now, 1, 2, 3)
		do(store.MarkLooked(ctx, "raw", second, []targetstore.Look{{TargetID: 1, Clean: true, Done: true, Next: second}, {TargetID: 2, Clean: true, Next: second}}))
		if all := owed("the source is told", "made", now, 1, 2, 3); len(all) == 3 {
			want := targetstore.Step{Name: "raw", Looked: second, CleanSince: now, Done: second, Tries: 1}
			if all[0].Source != want || !all[1].Source.CleanSince.Equal(second) || !all[1].Source.Done.IsZero() {
				t.Errorf("%+v, %+v", all[0].Source, all[1].Source)
			}
		}
		finish(0)
		do(store.MarkLooked(ctx, "made", second, []targetstore.Look{{TargetID: 1, Clean: true, Done: true, Next: second}}))
		finish(0) // probers were not told
		do(store.MarkTombstoned(ctx, []int64{1, 2}, now))
		finish(1)
		finish(0)
		owed("a finished one is not owed", "raw", second.Add(time.Hour), 2, 3)

		watched := func(due, since time.Time) int {
			t.Helper()
			all, err := store.Watched(ctx, "raw", due, since, 10)
			if err != nil || len(all) > 1 || len(all) == 1 && all[0].TargetID != 1 {
				t.Errorf("%+v, %v", all, err)
			}
			return len(all)
		}
		if watched(second, now.Add(-time.Hour)) != 1 || watched(now, now.Add(-time.Hour)) != 0 || watched(second, now.Add(time.Hour)) != 0 {
			t.Error("watched at the wrong time")
		}
		// A step that the publisher did not know which finished the deletion.
		due := func(at time.Time) []targetstore.Owed {
			t.Helper()
			all, err := store.Watched(ctx, "new", at, now.Add(-time.Hour), 10)
			do(err)
			return all
		}
		if all := due(now); len(all) != 1 || all[0].TargetID != 1 || all[0].Step != (targetstore.Step{Name: "new"}) {
			t.Errorf("of a step that came later: %+v", all)
		}
		do(store.MarkLooked(ctx, "new", now, []targetstore.Look{{TargetID: 1, Clean: true, Next: second}}))
		if due(now) != nil || len(due(second)) != 1 {
			t.Error("a step that came later is not watched as others are")
		}
		// What comes back does not undo that it was done.
		do(store.MarkLooked(ctx, "raw", second.Add(time.Hour), []targetstore.Look{{TargetID: 1, Next: second.Add(time.Hour)}}))
		one, err := store.Deletion(ctx, 1)
		if err != nil || one.Finished.IsZero() || len(one.Steps) != 3 || one.Steps[0].Name != "made" || !one.Steps[2].Done.Equal(second) || !one.Steps[2].CleanSince.IsZero() {
			t.Errorf("%+v, %v", one, err)
		}
		if _, err := store.Deletion(ctx, 9); !errors.Is(err, targetstore.ErrNotFound) {
			t.Errorf("of a target that was not deleted: %v", err)
		}
		for _, c := range []struct {
			unfinished bool
			before     int64
			want       []int64
		}{{false, 0, []int64{3, 2}}, {false, 2, []int64{1}}, {true, 0, []int64{3, 2}}, {true, 2, nil}} {
			if all, err := store.Deletions(ctx, c.unfinished, c.before, 2); err != nil || !slices.Equal(ids(all), c.want) {
				t.Errorf("%+v: %v, %v", c, ids(all), err)
			}
		}
	})
}
