// Package lean says when a prober collects its garbage.
//
// A check leaves little behind, so collecting can wait: five times what is in use may pile
// up first, which is next to nothing while checks are answered. When thousands of them hang
// it would be hundreds of megabytes. So beyond some size it is an amount that may pile up,
// and no multiple. A collection looks at all that is in use, so the amount is no smaller
// than a quarter of that.
package lean

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	relaxed = 400      // percent of what is in use that may be added to it, as GOGC has it
	least   = 25       // percent, however much is in use
	garbage = 64 << 20 // bytes that may be added when that is less than relaxed
	look    = 250 * time.Millisecond
	slack   = 10      // percent by which the setting may be off: changing it stops everybody for a moment
	allTold = 1 << 30 // bytes of the whole process from which on it is collected ever more often
)

// Collector is the garbage collector of the process.
type Collector struct {
	inUse   func() uint64 // bytes at the last collection
	set     func(percent int)
	percent int
}

// New relaxes the collector. An operator who set GOGC or GOMEMLIMIT decides alone about
// what that says.
func New(getenv func(string) string) *Collector {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(allTold)
	}
	c := &Collector{inUse: inUse(), set: func(percent int) { debug.SetGCPercent(percent) }}
	if getenv("GOGC") != "" {
		c.set = func(int) {}
	}
	c.become(relaxed)
	return c
}

// Run follows what is in use until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if want := percentFor(c.inUse()); 100*abs(want-c.percent) > slack*c.percent {
				c.become(want)
			}
		}
	}
}

func (c *Collector) become(percent int) {
	c.percent = percent
	c.set(percent)
}

// percentFor is the setting for so much in use.
func percentFor(inUse uint64) int {
	return int(min(relaxed, max(least, 100*garbage/max(inUse, 1))))
}

func abs(n int) int { return max(n, -n) }

// inUse gives what the runtime reckons with: what the last collection left on the heap, and
// what it saw of stacks.
func inUse() func() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	return func() uint64 {
		metrics.Read(samples)
		return samples[0].Value.Uint64() + samples[1].Value.Uint64()
	}
}
