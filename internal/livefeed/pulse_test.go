package livefeed

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A pulse says that everything has been delivered. It comes in silence, too, and again
// once Redis is back.
func TestPulse(t *testing.T) {
	t.Parallel()
	server := testbackend.RedisServer(t)
	r, other := open(t, server.URL()), open(t, server.URL())
	var delivered atomic.Int64
	pulses := make(chan int64, 10_000)
	f := NewFollower(r).WithPulse(func() { pulses <- delivered.Load() })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.Follow(ctx, beginning, func(_ string, results []uptime.Result) error {
			delivered.Add(int64(len(results)))
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); _ = r.Close(); <-ended })
	pulse := func() int64 {
		t.Helper()
		select {
		case n := <-pulses:
			return n
		case <-time.After(hang):
			t.Fatal("no pulse")
			return 0
		}
	}
	pulse() // of silence
	const entries = 3 * readCount
	for range entries {
		must(t, NewAnnouncer(other).Announce(ctx, samples(1)))
	}
	for pulse() < entries {
	}
	server.Kill()
	server.Restart()
	must(t, announceSoon(ctx, NewAnnouncer(other)))
	for pulse() <= entries {
	}
}
