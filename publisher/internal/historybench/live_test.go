//go:build bench

package historybench

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/publisher/internal/rollup"
)

// liveRate is how many rows a second arrive while questions are asked: that of a fleet
// twenty times as large as one of 6,000 series. Its clock runs as much faster, so the results are
// of some hours ago (headStart).
const liveRate = 2000

// live stores results after those that are loaded, at the rate, in batches as probers with
// BatchAge 1 s send them.
type live struct {
	b       *bench
	cancel  context.CancelFunc
	ended   chan error   // of what stores, and of what rolls up
	clock   atomic.Int64 // slots up to here are stored, in Unix ms
	rolled  atomic.Int64 // hours up to here are read from rollups, likewise
	stored  atomic.Int64
	began   time.Time
	slowest time.Duration // insert; read when it has ended
	runs    int           // of the rollups; likewise
}

func (b *bench) goLive(t *testing.T) *live {
	ctx, cancel := context.WithCancel(b.ctx)
	l := &live{b: b, cancel: cancel, ended: make(chan error, 2)}
	filled := time.Now()
	b.fill(t, inPhase(b.Live))
	l.clock.Store(b.Live.UnixMilli())
	job, ready := l.rollUp(t, filled)
	go func() { l.ended <- job.Run(ctx) }()
	select {
	case <-ready:
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	}
	l.began, l.runs = time.Now(), 0
	go func() { l.ended <- l.run(ctx) }()
	return l
}

// inPhase is the next instant that is as far into its hour as every history begins to be asked: how much
// is not rolled up yet decides what some questions read.
func inPhase(at time.Time) time.Time {
	hour := at.Add(-phase).Truncate(time.Hour)
	if next := hour.Add(phase); !next.Before(at) {
		return next
	}
	return hour.Add(time.Hour + phase)
}

// fill stores the results up to an instant, as fast as can be.
func (b *bench) fill(t *testing.T, to time.Time) {
	for from := b.Live; from.Before(to); from = from.Add(interval) {
		for region := range regions() {
			for _, rows := range b.results(region, from, from.Add(interval)) {
				if err := b.insert(b.ctx, rows); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	b.Live = to
	b.save(t)
}

// rollUp is the publisher's job, to compute what arrives: each minute, as it does, though the
// results' clock goes twenty times as far meanwhile. The store is told how far it is. What was stored
// before since is rolled up already; ready is closed when the rest is, too.
func (l *live) rollUp(t *testing.T, since time.Time) (job *rollup.Job, ready chan struct{}) {
	var at, marks time.Time
	notes := &watched{since: since}
	ready = make(chan struct{})
	first := sync.OnceFunc(func() { close(ready) })
	notes.started = func() { at, marks = l.now(), time.Now() }
	notes.finished = func() {
		l.b.store.RolledUp(at)
		l.rolled.Store(at.Add(-resultstore.CloseAfter).Truncate(time.Hour).UnixMilli())
		notes.since = marks.Add(-2 * time.Minute)
		l.runs++
		first()
	}
	return l.b.job(t, l.b.store, notes), ready
}

// now is the time where the results come from.
func (l *live) now() time.Time { return time.UnixMilli(l.clock.Load()).UTC() }

// rolledTo is where rollups end and results begin, for those who ask.
func (l *live) rolledTo() time.Time { return time.UnixMilli(l.rolled.Load()).UTC() }

func (l *live) run(ctx context.Context) error {
	second := time.Duration(float64(interval) * liveRate / float64(l.b.targets*len(regions())))
	batches := time.NewTicker(time.Second / time.Duration(len(regions())*probersPerRegion))
	defer batches.Stop()
	for from := l.now(); ; from = from.Add(second) {
		for region := range regions() {
			for _, rows := range l.b.results(region, from, from.Add(second)) {
				select {
				case <-ctx.Done():
					return nil
				case <-batches.C:
				}
				if err := l.insert(ctx, rows); err != nil {
					return err
				}
			}
		}
		l.clock.Store(from.Add(second).UnixMilli())
	}
}

func (l *live) insert(ctx context.Context, rows []uptime.Result) error {
	began := time.Now()
	if err := l.b.insert(context.WithoutCancel(ctx), rows); err != nil {
		return err
	}
	l.slowest = max(l.slowest, time.Since(began))
	l.stored.Add(int64(len(rows)))
	return nil
}

// stop gives the rate that was kept up.
func (l *live) stop(t *testing.T) float64 {
	l.cancel()
	for range cap(l.ended) {
		if err := <-l.ended; err != nil {
			t.Fatal(err)
		}
	}
	// What was begun is sent again with the next size: the same slots, counted once.
	l.b.Live = l.now()
	l.b.save(t)
	rate := float64(l.stored.Load()) / time.Since(l.began).Seconds()
	t.Logf("  meanwhile %.0f rows a second arrived; the slowest insert took %v; rollups were computed %d times", rate, l.slowest.Round(time.Millisecond), l.runs)
	if rate < .9*liveRate {
		t.Logf("  THE MACHINE IS TOO BUSY: that is less than the %d rows a second that were to arrive", liveRate)
	}
	return rate
}
