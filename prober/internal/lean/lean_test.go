package lean

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPercent(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, c := range []struct {
		inUse uint64
		rate  float64
		busy  float64
		want  int
		grown uint64
	}{
		{0, 0, 0, laziest, 0}, {mib, 100 * mib, 0, laziest, 0},
		{16 * mib, mib, 0, 50, 0}, {32 * mib, mib, 0, 25, 0}, {320 * mib, mib, .5, busiest, 0}, // little is made
		{16 * mib, 8 * mib, 0, 100, 0}, {16 * mib, 16 * mib, .2, 200, 0},
		{16 * mib, 100 * mib, 1, 400, 0}, {64 * mib, 100 * mib, .5, 100, 0}, {128 * mib, 200 * mib, 0, 50, 0}, {8 << 30, 100 * mib, 0, busiest, 0}, // much is
		{128 * mib, 200 * mib, .5, 50, 0}, {64 * mib, 100 * mib, .875, 306, 0}, {64 * mib, 100 * mib, 1, strained, 0}, {256 * mib, 100 * mib, 1, 37, 0}, {8 << 30, 100 * mib, 1, busiest, 0}, // and no CPU to spare
		{64 * mib, 100 * mib, 1, 200, 160 * mib}, {128 * mib, 0, 1, busiest, 300 * mib}, // stacks have grown
	} {
		if got := percentFor(c.inUse, c.grown, c.rate, c.busy); got != c.want {
			t.Errorf("%d MiB in use, %v MiB a second: %d %%, not %d", c.inUse/mib, c.rate/mib, got, c.want)
		}
	}
}

// The setting follows more at once and less within seconds, and is left alone while it is
// about right.
func TestFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Uint64
		var set []int
		c := &Collector{read: func() reading { return reading{inUse: 64 << 20, made: made.Load()} }, set: func(percent int) { set = append(set, percent) }, percent: laziest}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		next := func(rate uint64, looks time.Duration) {
			for range looks {
				made.Add(rate / uint64(time.Second/look))
				time.Sleep(look)
				synctest.Wait()
			}
		}
		for _, step := range []struct {
			rate uint64
			want int
		}{{32 << 20, 100}, {31 << 20, 100}, {64 << 20, 100}, {0, busiest}, {16 << 20, 50}} {
			if next(step.rate, 1); step.rate == 0 {
				if set[len(set)-1] < 2*busiest {
					t.Error("a moment without work is taken for rest")
				}
				next(0, 20)
			}
			if got := set[len(set)-1]; 100*max(got-step.want, step.want-got) > slack*step.want {
				t.Errorf("%d MiB a second: %d %%, not %d", step.rate>>20, got, step.want)
			}
		}
		changes := len(set)
		if next(16<<20, 10); len(set) != changes {
			t.Errorf("changed for nothing: %v", set)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestReadsTheRuntime(t *testing.T) {
	t.Parallel()
	read := reader()
	before := read()
	kept := make([]byte, 32<<20)
	runtime.GC()
	if now := read(); now.inUse < 32<<20 || now.inUse > 1<<30 || now.made < before.made+32<<20 {
		t.Errorf("%+v, before %+v", now, before)
	}
	runtime.KeepAlive(kept)
}

// What the operator says goes. (Not parallel: there is one collector.)
func TestOperatorDecides(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for _, c := range []struct {
		env     map[string]string
		percent int
		limit   int64
	}{{nil, laziest, allTold}, {map[string]string{"GOGC": "100"}, 100, allTold}, {map[string]string{"GOMEMLIMIT": "2GiB"}, laziest, 2 << 30}} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(2 << 30)
		New(func(name string) string { return c.env[name] })
		if p, l := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); p != c.percent || l != c.limit {
			t.Errorf("%v: %d %%, %d bytes", c.env, p, l)
		}
	}
}
