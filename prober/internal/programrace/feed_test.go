//go:build bench

package programrace

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// feeding publishes checks as the publisher does: a second ahead, in chunks, each at its
// own instant of its second, and trims what is settled.
type feeding struct {
	f         *fleet
	link      string
	interval  time.Duration // of a target's checks: they are at rate × interval targets
	rate      atomic.Int64  // checks a second, from the next second on
	published atomic.Int64
	next      int64 // second
	stop      chan struct{}
	over      sync.WaitGroup
}

// feed publishes everything from the second after the clock's tick, and goes on by itself.
func (f *fleet) feed(link string, rate int, interval time.Duration) *feeding {
	f.t.Helper()
	clock, err := f.publisher.Clock(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	w := &feeding{f: f, link: link, interval: interval, next: clock.Tick + 1, stop: make(chan struct{})}
	w.rate.Store(int64(rate))
	w.catchUp()
	w.over.Go(w.run)
	f.t.Cleanup(w.end)
	return w
}

func (w *feeding) end() {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.over.Wait()
}

func (w *feeding) run() {
	for {
		now := time.Now()
		select {
		case <-w.stop:
			return
		case <-time.After(now.Truncate(time.Second).Add(time.Second).Sub(now)):
		}
		w.catchUp()
		if _, err := w.f.publisher.Trim(w.f.t.Context()); err != nil {
			w.f.t.Error(err)
			return
		}
	}
}

// catchUp publishes up to a second ahead.
func (w *feeding) catchUp() {
	for ; w.next <= time.Now().Unix()+1; w.next++ {
		checks := w.second(w.next, int(w.rate.Load()))
		for from := 0; from == 0 || from < len(checks); from += checkstream.MaxChunk { // a second without checks is published, too
			chunk, last := checks[from:min(from+checkstream.MaxChunk, len(checks))], from+checkstream.MaxChunk >= len(checks)
			n, err := w.f.publisher.Publish(w.f.t.Context(), checkstream.Chunk{Second: w.next, Seq: 1, Checks: chunk, Last: last})
			if err != nil {
				w.f.t.Error(err)
				return
			}
			w.published.Add(int64(n))
		}
	}
}

// second makes a second's checks: evenly in time, and over the targets.
func (w *feeding) second(second int64, rate int) []uptime.Check {
	turns := int64(w.interval / time.Second)
	checks := make([]uptime.Check, rate)
	for i := range checks {
		checks[i] = uptime.Check{
			TargetID: int64(i)*turns + second%turns + 1, ScheduledAt: time.UnixMilli(second*1000 + int64(i)*1000/int64(rate)).UTC(),
			Interval: w.interval, SpecVersion: 1, Regions: []string{region}, Kind: uptime.KindHTTP, URL: w.link, Timeout: 5 * time.Second,
		}
	}
	return checks
}

func sortBy[E any](list []E, key func(E) float64) {
	slices.SortFunc(list, func(a, b E) int { return cmp.Compare(key(a), key(b)) })
}
