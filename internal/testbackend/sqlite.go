package testbackend

import (
	"path/filepath"
	"testing"
)

// SQLite returns the URL of a database file that does not exist yet.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "probefleet.db")
}
