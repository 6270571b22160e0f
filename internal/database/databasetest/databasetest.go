// Package databasetest runs a store's tests on every engine Probefleet supports.
package databasetest

import (
	"testing"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

// Each runs a test once on SQLite and once on Postgres, in parallel, each with
// a migrated database of its own.
func Each(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	engines := map[string]func(testing.TB) string{"sqlite": testbackend.SQLite, "postgres": testbackend.Postgres}
	for name, url := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, url(t)))
		})
	}
}

// Open migrates and opens a database for the length of a test.
func Open(t testing.TB, url string) *database.DB {
	t.Helper()
	if err := migrations.UpRelational(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}
