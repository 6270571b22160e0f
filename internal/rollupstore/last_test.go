package rollupstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/rollupstore"
)

func TestLastRebuild(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := rollupstore.New(db)
		is := func(want rollupstore.Standing) {
			t.Helper()
			got, err := s.LastRebuild(t.Context())
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		is(rollupstore.Standing{})
		begin := func(days int) rollupstore.Rebuild {
			r, err := s.StartRebuild(t.Context(), noon.Truncate(time.Hour).Add(-time.Duration(days)*24*time.Hour), noon.Truncate(time.Hour), noon, true)
			must(t, err)
			return r
		}
		first := begin(3)
		want := rollupstore.Standing{From: first.From, To: first.To, Version: first.Version, Before: first.To}
		is(want)
		want.Before = first.To.Add(-24 * time.Hour)
		must(t, s.RebuildProgress(t.Context(), first, want.Before))
		is(want)
		want.Before, want.Finished = first.From, noon.Add(time.Minute)
		must(t, s.FinishRebuild(t.Context(), first, want.Finished))
		is(want)
		second := begin(1)
		is(rollupstore.Standing{From: second.From, To: second.To, Version: second.Version, Before: second.To})
		if !second.Version.After(first.Version) {
			t.Error("versions do not rise")
		}
	})
}
