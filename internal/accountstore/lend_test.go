package accountstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
)

func TestLentKeyEnds(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, now := accountstore.New(db), time.Now()
		lend := func(hash string, until time.Time) {
			t.Helper()
			if err := store.LendKey(t.Context(), "tool", "pf_x", hash, accountstore.RoleEditor, until); err != nil {
				t.Fatal(err)
			}
		}
		lend("one", now.Add(-time.Second))
		lend("two", now.Add(time.Minute))
		if key, err := store.KeyByHash(t.Context(), "two", now); err != nil || key.Role != accountstore.RoleEditor {
			t.Errorf("%+v %v", key, err)
		}
		if _, err := store.KeyByHash(t.Context(), "two", now.Add(2*time.Minute)); !errors.Is(err, accountstore.ErrNotFound) {
			t.Errorf("still valid: %v", err)
		}
		var rows int64
		if err := db.Read().Table("api_keys").Count(&rows).Error; err != nil || rows != 1 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
}
