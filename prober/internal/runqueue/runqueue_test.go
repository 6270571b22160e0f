package runqueue

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// (Not parallel: there is one line.)
func TestRoom(t *testing.T) {
	room := Room()
	if got := room(); got < enough {
		t.Fatalf("room for %d while nothing happens", got)
	}
	var over atomic.Bool
	var busy sync.WaitGroup
	for range 4 * enough * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for !over.Load() {
				runtime.Gosched()
			}
		})
	}
	if got := room(); got != 0 {
		t.Errorf("room for %d behind a long line", got)
	}
	over.Store(true)
	busy.Wait()
	if got := room(); got < enough {
		t.Errorf("room for %d when it is over", got)
	}
}

func BenchmarkRoom(b *testing.B) {
	room := Room()
	b.ReportAllocs()
	for b.Loop() {
		room()
	}
}
