//go:build bench

package racetrack

import (
	"fmt"
	"os"
	"slices"
)

// Role plays the role that this process is to play instead of running tests, if any: one
// of roles, a server, or bare sockets.
func Role(roles map[string]func() int) (code int, played bool) {
	name := os.Getenv("RACE_ROLE")
	switch play, known := roles[name]; {
	case name == "":
		return 0, false
	case known:
		return play(), true
	case name == "server":
		return serve(), true
	case name == "timed":
		return serveTimed(), true
	case name == "hole":
		return serveNothing(), true
	case name == BareSockets:
		return Saturate(bare), true
	}
	return Fail(fmt.Errorf("nobody plays %q", name)), true
}

// Fail says why a role ends.
func Fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// Round is to a tenth.
func Round(v float64) float64 { return float64(int64(v*10+0.5)) / 10 }

// Median is of at least one number.
func Median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
