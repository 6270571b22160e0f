package rollupstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 500e6, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, s *rollupstore.Store) rollupstore.State {
	t.Helper()
	got, err := s.State(t.Context())
	must(t, err)
	return got
}

func TestRunIsGoneOnWith(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := rollupstore.New(db)
		if diff := cmp.Diff(rollupstore.State{}, state(t, s)); diff != "" {
			t.Error(diff)
		}
		run, err := s.Start(t.Context(), noon, time.Time{})
		must(t, err)
		want := rollupstore.Run{Version: noon.Truncate(time.Second), Started: noon}
		if diff := cmp.Diff(want, run); diff != "" {
			t.Error(diff)
		}
		must(t, s.Progress(t.Context(), run, noon.Add(-time.Hour)))
		run, err = s.Start(t.Context(), noon.Add(time.Hour), noon)
		must(t, err)
		want.Before = noon.Add(-time.Hour)
		if diff := cmp.Diff(want, run); diff != "" {
			t.Error(diff)
		}
		must(t, s.Finish(t.Context(), run))
		if diff := cmp.Diff(rollupstore.State{Succeeded: noon}, state(t, s)); diff != "" {
			t.Error(diff)
		}

		next, err := s.Start(t.Context(), noon.Add(time.Minute), noon.Add(-time.Minute))
		must(t, err)
		// Who still works on a run that is over changes nothing.
		must(t, s.Progress(t.Context(), run, noon.Add(-time.Hour)))
		must(t, s.Finish(t.Context(), run))
		want = rollupstore.Run{Version: noon.Truncate(time.Second).Add(time.Minute), Started: noon.Add(time.Minute), Marked: noon.Add(-time.Minute)}
		if diff := cmp.Diff(rollupstore.State{Succeeded: noon, Run: &want}, state(t, s)); diff != "" || !next.Before.IsZero() {
			t.Error(diff)
		}
	})
}

// Rows of a later version win, whatever the clock did.
func TestVersionsRise(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := rollupstore.New(db)
		last := time.Time{}
		rises := func(version time.Time) {
			t.Helper()
			if !version.After(last) || version.Nanosecond() != 0 {
				t.Errorf("version %v after %v", version, last)
			}
			last = version
		}
		for _, ahead := range []time.Duration{0, 0, -time.Hour, time.Hour, 0} {
			run, err := s.Start(t.Context(), noon.Add(ahead), noon)
			must(t, err)
			rises(run.Version)
			must(t, s.Finish(t.Context(), run))
			r, err := s.StartRebuild(t.Context(), noon.Add(-time.Hour), noon, noon.Add(ahead), true)
			must(t, err)
			rises(r.Version)
		}
	})
}

func TestManyStartAtOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := rollupstore.New(db)
		versions := make(chan time.Time, 8)
		var group errgroup.Group
		for range cap(versions) {
			group.Go(func() error {
				run, err := s.Start(t.Context(), time.Now(), time.Time{})
				versions <- run.Version
				return err
			})
		}
		must(t, group.Wait())
		first := <-versions
		for range cap(versions) - 1 {
			if other := <-versions; !other.Equal(first) {
				t.Errorf("two runs at once: %v and %v", first, other)
			}
		}
	})
}

func TestRebuildIsGoneOnWith(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := rollupstore.New(db)
		from, to := noon.Add(-72*time.Hour).Truncate(time.Hour), noon.Truncate(time.Hour)
		if _, found, err := s.UnfinishedRebuild(t.Context()); found || err != nil {
			t.Fatal(found, err)
		}
		start := func(afresh bool) rollupstore.Rebuild {
			t.Helper()
			r, err := s.StartRebuild(t.Context(), from, to, noon, afresh)
			must(t, err)
			return r
		}
		first := start(false)
		want := rollupstore.Rebuild{From: from, To: to, Version: noon.Truncate(time.Second), Before: to}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Error(diff)
		}
		must(t, s.RebuildProgress(t.Context(), first, to.Add(-24*time.Hour)))
		want.Before, want.Resumed = to.Add(-24*time.Hour), true
		if diff := cmp.Diff(want, start(false)); diff != "" {
			t.Error(diff)
		}
		if found, _, err := s.UnfinishedRebuild(t.Context()); err != nil || !cmp.Equal(found, want) {
			t.Error(found, err)
		}
		again := start(true)
		if again.Resumed || !again.Before.Equal(to) || !again.Version.After(first.Version) {
			t.Errorf("afresh: %+v", again)
		}
		must(t, s.FinishRebuild(t.Context(), first, noon)) // it was begun again since
		if _, found, err := s.UnfinishedRebuild(t.Context()); !found || err != nil {
			t.Error("finished by an old one", err)
		}
		must(t, s.FinishRebuild(t.Context(), again, noon))
		if r := start(false); r.Resumed || !r.Before.Equal(to) {
			t.Errorf("after the end: %+v", r)
		}
	})
}
