//go:build bench

package race

import (
	"os"
	"testing"
)

// TestMain turns this binary into a server or a contestant when it is asked to be one:
// each runs in a process of its own, pinned to a core.
func TestMain(m *testing.M) {
	if role := os.Getenv("RACE_ROLE"); role != "" {
		os.Exit(roleMain(role))
	}
	os.Exit(m.Run())
}
