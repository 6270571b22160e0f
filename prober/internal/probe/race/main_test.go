//go:build bench

package race

import (
	"os"
	"testing"

	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

// TestMain turns this binary into another role when it is asked to be one: each runs in a
// process of its own, pinned to a core.
func TestMain(m *testing.M) {
	roles := map[string]func() int{"hole": serveNothing, "hanging": hang}
	for _, name := range []string{"engine", "net/http", "bare sockets"} {
		roles[name] = func() int { return run(name) }
	}
	if code, played := racetrack.Role(roles); played {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
