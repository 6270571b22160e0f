// Package runqueue says whether work that begins now would only stand in line.
//
// A visit needs a core a few times for some microseconds. Behind hundreds of others in line
// each of them measures the line instead of its target, and costs more (4 to 7 %, see
// docs/decisions/0009-the-probe-engine.md). So visits begin only while the line is short.
package runqueue

import (
	"runtime"
	"runtime/metrics"
)

// enough goroutines in line keep a core busy, for about two milliseconds.
const enough = 128

// Room gives a function that says how many more goroutines may begin: none when those in
// line are enough for all cores. It is for one caller at a time.
func Room() func() int {
	samples := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	return func() int {
		metrics.Read(samples)
		return max(0, enough*runtime.GOMAXPROCS(0)-int(samples[0].Value.Uint64()))
	}
}
