// Package lean says when a prober collects its garbage.
//
// A check leaves little behind, so collecting can wait: the garbage of two seconds may pile
// up first, however little is in use. That is a few megabytes for a prober with not much to
// do; for one that makes thousands of checks a second it is bounded, so that thousands of
// them that hang do not add to it what they need themselves. A collection looks at all that
// is in use, so no less than a quarter of that may pile up, and up to four times what is in use
// where the process has no CPU left to collect with.
package lean

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"
)

const (
	look     = 500 * time.Millisecond
	wait     = 2 * time.Second // of which the garbage may pile up
	least    = 8 << 20         // bytes of it that may in any case
	most     = 64 << 20        // … that may at most
	laziest  = 1000            // percent of what is in use that may be added to it, as GOGC has it
	busiest  = 25
	strained = 400       // the same when all cores are busy,
	atMost   = 352 << 20 // … and bytes of the heap and of all stacks, with what has piled up by then
	slack    = 10        // percent by which the setting may be off: changing it stops everybody for a moment
	allTold  = 1 << 30   // bytes of the whole process from which on it is collected ever more often
)

// Collector is the garbage collector of the process.
type Collector struct {
	read    func() reading
	set     func(percent int)
	percent int
	last    reading
	rate    float64 // bytes made a second, lately
	busy    float64 // share of the cores that the process used, lately
}

// reading is what the runtime knows, in bytes.
type reading struct {
	inUse uint64        // on the heap and of stacks at the last collection
	grown uint64        // of stacks besides: thousands of visits may have begun since
	made  uint64        // since the process began
	cpu   time.Duration // likewise, of one core
}

// New sets the collector for a process that has begun. An operator who set GOGC or
// GOMEMLIMIT decides alone about what that says.
func New(getenv func(string) string) *Collector {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(allTold)
	}
	c := &Collector{read: reader(), set: func(percent int) { debug.SetGCPercent(percent) }}
	if getenv("GOGC") != "" {
		c.set = func(int) {}
	}
	c.last = c.read()
	c.become(laziest)
	return c
}

// Run follows what is made and what is in use until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			c.follow()
		}
	}
}

// follow takes a look. What is made less is believed slowly, what is made more at once.
func (c *Collector) follow() {
	now := c.read()
	c.rate = max(float64(now.made-c.last.made)/look.Seconds(), c.rate*3/4)
	c.busy = (c.busy + min(1, (now.cpu-c.last.cpu).Seconds()/look.Seconds()/float64(runtime.GOMAXPROCS(0)))) / 2
	c.last = now
	if want := percentFor(now.inUse, now.grown, c.rate, c.busy); 100*max(want-c.percent, c.percent-want) > slack*c.percent {
		c.become(want)
	}
}

func (c *Collector) become(percent int) {
	c.percent = percent
	c.set(percent)
}

// percentFor is the setting for so many bytes in use, grown besides and made a second, and for how
// busy the cores are, from 0 to 1.
func percentFor(inUse, grown uint64, rate, busy float64) int {
	garbage := min(most, max(least, rate*wait.Seconds()))
	percent := 100 / float64(max(inUse, 1))
	room := atMost - float64(inUse+grown)
	lowest := min(busiest+(strained-busiest)*max(0, 2*busy-1), max(busiest, room*percent)) // from half of the cores on
	return int(min(laziest, max(lowest, garbage*percent)))
}

func reader() func() reading {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	return func() reading {
		metrics.Read(samples)
		var used syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // cannot fail for oneself
		heap, scanned, stacks := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[3].Value.Uint64()
		return reading{
			inUse: heap + scanned, grown: stacks - min(stacks, scanned), made: samples[2].Value.Uint64(),
			cpu: time.Duration(used.Utime.Nano() + used.Stime.Nano()),
		}
	}
}
