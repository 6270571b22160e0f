//go:build bench

package programrace

import (
	"os"
	"testing"

	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

// TestMain turns this binary into another role when it is asked to be one.
func TestMain(m *testing.M) {
	if code, played := racetrack.Role(map[string]func() int{"burner": burn}); played {
		os.Exit(code)
	}
	testfleet.Main(m)
}

// TestProgram measures every part, or those that -run names, and writes them down.
func TestProgram(t *testing.T) {
	doc := racetrack.Read(t)
	t.Run("HangingBeside", func(t *testing.T) { doc.Beside = hangBeside(t); doc.Write(t) })
	t.Run("Error", func(t *testing.T) { doc.Error = measureErrors(t); doc.Write(t) })
	t.Run("Pace", func(t *testing.T) { doc.Pace = keepPace(t); doc.Write(t) })
	t.Run("Whole", func(t *testing.T) { doc.Whole = runWhole(t); doc.Write(t) })
	t.Run("Overload", func(t *testing.T) { doc.Overload = offerMore(t, doc.Whole); doc.Write(t) })
}
