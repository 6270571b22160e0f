package lean

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inUse uint64
		want  int
	}{{0, relaxed}, {8 << 20, relaxed}, {16 << 20, relaxed}, {32 << 20, 200}, {64 << 20, 100}, {128 << 20, 50}, {256 << 20, least}, {8 << 30, least}} {
		if got := percentFor(c.inUse); got != c.want {
			t.Errorf("%d MiB in use: %d %%, not %d", c.inUse>>20, got, c.want)
		}
	}
}

// The setting follows what is in use, and is left alone while it is about right.
func TestFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var used uint64
		var set []int
		c := &Collector{inUse: func() uint64 { return used }, set: func(percent int) { set = append(set, percent) }, percent: relaxed}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		for _, used = range []uint64{10 << 20, 64 << 20, 66 << 20, 62 << 20, 600 << 20, 1 << 20} {
			time.Sleep(2 * look)
			synctest.Wait()
		}
		cancel()
		if err := <-done; err != nil || !slices.Equal(set, []int{100, least, relaxed}) {
			t.Errorf("%v, %v", set, err)
		}
	})
}

func TestReadsTheRuntime(t *testing.T) {
	t.Parallel()
	kept := make([]byte, 32<<20)
	runtime.GC()
	if n := inUse()(); n < 32<<20 || n > 1<<30 {
		t.Errorf("%d bytes in use", n)
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
	}{{nil, relaxed, allTold}, {map[string]string{"GOGC": "100"}, 100, allTold}, {map[string]string{"GOMEMLIMIT": "2GiB"}, relaxed, 2 << 30}} {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(2 << 30)
		New(func(name string) string { return c.env[name] })
		if p, l := debug.SetGCPercent(100), debug.SetMemoryLimit(-1); p != c.percent || l != c.limit {
			t.Errorf("%v: %d %%, %d bytes", c.env, p, l)
		}
	}
}
