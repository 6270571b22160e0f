// Package databasetest runs a store's tests on every engine Probefleet supports.
package databasetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/connect"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

// Each runs a test once on SQLite and once on Postgres, in parallel, each with
// a migrated database of its own.
func Each(t *testing.T, test func(t *testing.T, db *database.DB)) {
	t.Helper()
	engines := map[string]func(testing.TB) *database.DB{
		"sqlite":   func(t testing.TB) *database.DB { return Open(t, testbackend.SQLite(t)) },
		"postgres": func(t testing.TB) *database.DB { return open(t, migrated.Postgres(t)) },
	}
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Open migrates and opens a database for the length of a test.
func Open(t testing.TB, url string) *database.DB {
	t.Helper()
	if err := migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return open(t, url)
}

func open(t testing.TB, url string) *database.DB {
	t.Helper()
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

// migrate gives a database the newest schema. The file of a new one of SQLite is a copy of one that
// was migrated once in this process: under the race detector the migrations take it two seconds.
func migrate(ctx context.Context, url string) error {
	source, err := connect.Parse(url)
	if err != nil {
		return err
	}
	exists, err := source.Exists()
	if err != nil {
		return err
	}
	if exists {
		return migrations.UpRelational(ctx, url, nil)
	}
	file, err := migratedFile()
	if err := errors.Join(err, source.Create()); err != nil {
		return err
	}
	return os.WriteFile(source.Path, file, 0o600)
}

var migrated = testbackend.PostgresTemplate{
	Fill: func(url string) error { return migrations.UpRelational(context.Background(), url, nil) },
	Key:  migrations.RelationalDigest,
}

// migratedFile is in the folder TEST_TEMPLATES when that is set: test binaries share it.
var migratedFile = sync.OnceValues(func() ([]byte, error) {
	shared := os.Getenv("TEST_TEMPLATES")
	kept := filepath.Join(shared, "sqlite-"+migrations.RelationalDigest()+".db")
	if file, err := os.ReadFile(kept); shared != "" && err == nil {
		return file, nil
	}
	dir, err := os.MkdirTemp(shared, "probefleet-migrated-")
	if err != nil {
		return nil, fmt.Errorf("make a migrated database: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "probefleet.db")
	if err := migrations.UpRelational(context.Background(), "sqlite:"+path, nil); err != nil {
		return nil, err
	}
	file, err := os.ReadFile(path) // all of it: the last connection writes the log into it when it closes
	if err != nil || shared == "" {
		return file, err
	}
	return file, os.Rename(path, kept)
})
