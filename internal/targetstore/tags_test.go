package targetstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Lists are of who carries the tags now; what was carried before is kept.
func TestTagsAreFoundAndRemembered(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		tagged := func(name string, tags ...string) int64 {
			target := example(name)
			target.Tags = tags
			return create(t, store, target).ID
		}
		a, b := tagged("a", "db", "prod"), tagged("b", "prod")
		tagged("c")
		found := func(tags ...string) (ids []int64) {
			t.Helper()
			all, err := store.List(t.Context(), targetstore.Filter{Tags: tags})
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range all {
				ids = append(ids, target.ID)
			}
			return ids
		}
		retag := func(id int64, tags ...string) {
			t.Helper()
			if _, err := store.Update(t.Context(), id, 0, func(target *uptime.Target) error { target.Tags = tags; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		var got [][]int64
		ask := func() { got = append(got, found("prod"), found("db", "prod"), found("none")) }
		ask()
		retag(a, "prod")
		ask()
		retag(a, "db", "prod")
		retag(b)
		ask()
		if diff := cmp.Diff([][]int64{{a, b}, {a}, nil, {a, b}, nil, nil, {a}, {a}, nil}, got); diff != "" {
			t.Error(diff)
		}
		type stretch struct {
			TargetID     int64
			Tag          string
			FromMS, ToMS int64
		}
		var all []stretch
		if err := db.Read().Raw("SELECT target_id, tag, from_ms, COALESCE(to_ms, 0) AS to_ms FROM target_tags ORDER BY target_id, tag, from_ms").Scan(&all).Error; err != nil {
			t.Fatal(err)
		}
		var open, over int
		for _, s := range all {
			switch {
			case s.ToMS == 0:
				open++
			case s.ToMS >= s.FromMS && time.Since(time.UnixMilli(s.ToMS)) < time.Minute:
				over++
			}
		}
		// In one millisecond a tag that was taken off and put on again was never off.
		if open != 2 || over < 1 || open+over != len(all) {
			t.Errorf("%+v", all)
		}
		if err := store.Delete(t.Context(), a, 0); err != nil {
			t.Fatal(err)
		}
		if ids := found("prod"); ids != nil {
			t.Error(ids)
		}
	})
}
