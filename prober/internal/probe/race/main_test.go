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
	roles := map[string]func() int{
		"hanging":  hang,
		"engine":   func() int { return racetrack.Saturate(visitors(engine)) },
		"net/http": func() int { return racetrack.Saturate(visitors(netHTTP)) },
	}
	if code, played := racetrack.Role(roles); played {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
