//go:build bench

package race

import (
	"testing"

	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

// TestBench measures every part, or those that -run names, and writes them down.
func TestEngine(t *testing.T) {
	doc := racetrack.Read(t)
	t.Run("Engine", func(t *testing.T) { doc.Engine = raceEngines(t); doc.Write(t) })
	t.Run("Hanging", func(t *testing.T) { doc.Hanging = hangMany(t); doc.Write(t) })
}

// contestant makes checks for some seconds on core 0, and says how many and with how much CPU.
type contestant struct {
	who, note string
	run       func(t *testing.T, link, roots string, seconds float64) racetrack.Score
}

// raceEngines lets the contestants run in turn.
func raceEngines(t *testing.T) *racetrack.Engines {
	t.Helper()
	out := &racetrack.Engines{Stamp: racetrack.NewStamp(), Rounds: int(racetrack.Number("ROUNDS", 5)), Seconds: racetrack.Number("SECONDS", 3)}
	s := racetrack.StartServer(t)
	field := contestants()
	lines := map[[2]string]*racetrack.Line{}
	rates := map[[2]string][]float64{}
	for round := range out.Rounds {
		for _, what := range []string{"http", "https"} {
			for i := range field { // another begins each round
				c := field[(i+round)%len(field)]
				r := c.run(t, s.Link(what), s.Roots, out.Seconds)
				if r.Checks == 0 {
					t.Fatalf("%s made no checks", c.who)
				}
				key := [2]string{c.who, what}
				if lines[key] == nil {
					lines[key] = &racetrack.Line{Who: c.who, What: what, Note: c.note}
				}
				l := lines[key]
				us := r.US()
				l.CPUUS, l.Allocs, l.Bytes = append(l.CPUUS, racetrack.Round(us)), racetrack.Round(r.Allocs), racetrack.Round(r.Bytes)
				rates[key] = append(rates[key], float64(r.Checks)/out.Seconds)
				t.Logf("round %d: %-18s %-5s %7.1f µs CPU a check, %6.0f a second", round+1, c.who, what, us, float64(r.Checks)/out.Seconds)
			}
		}
	}
	for _, what := range []string{"http", "https"} {
		for _, c := range field {
			key := [2]string{c.who, what}
			lines[key].Rate = racetrack.Round(racetrack.Median(rates[key]))
			out.Lines = append(out.Lines, *lines[key])
		}
	}
	return out
}
