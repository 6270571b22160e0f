package consumer

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// Two beats in a row that are not heard are said within five seconds of the first
// moment they could not be: beatEvery + beatTimeout + beatAgain + beatTimeout.
const (
	beatEvery   = 2 * time.Second
	beatAgain   = 200 * time.Millisecond
	beatTimeout = 1300 * time.Millisecond
)

// heartbeat tells the others every two seconds that this prober lives, whatever
// its other loops wait for.
func (c *Consumer) heartbeat(ctx context.Context) {
	failures := 0
	for wait := beatEvery; sleep(ctx, wait); {
		wait = beatEvery
		c.o.BeatHeartbeat.Beat()
		call, cancel := context.WithTimeout(ctx, beatTimeout)
		err := c.announceSelf(call)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err == nil:
			if failures > 1 {
				c.o.Redis(nil)
			}
			failures = 0
		default:
			if failures++; failures == 1 {
				wait = beatAgain
				c.Log.Warn("heartbeat was not heard", "error", err)
			} else { // sooner than a read, which may wait for several seconds, notices that Redis hangs
				c.o.Redis(err)
			}
		}
	}
}

// announceSelf beats once, and heeds the answer.
func (c *Consumer) announceSelf(ctx context.Context) error {
	drain, err := c.Presence.Beat(ctx, c.beat())
	if err != nil {
		return err
	}
	c.hear(drain)
	return nil
}

func (c *Consumer) beat() checkstream.Heartbeat {
	held, store := c.flights.counts(), c.o.Store()
	p50, p99 := c.late.percentiles()
	answered, all := c.o.CanariesSeen()
	return checkstream.Heartbeat{
		Region: c.o.Region, Name: c.o.Name, Version: c.o.Version, AllowCIDRs: c.o.AllowCIDRs, StartedAt: c.started,
		InFlight: int64(held[probing]), Waiting: int64(held[waiting]), LatenessP50MS: p50, LatenessP99MS: p99,
		ClickHouse: store.ClickHouse, Breaker: store.Breaker, Canaries: c.o.Canaries(), Spooled: store.Spooled, SpoolFirst: store.SpoolFirst, SpoolLast: store.SpoolLast,
		SpoolBytes: store.SpoolBytes, CanariesAnswered: int64(answered), CanariesAll: int64(all), ClockOffset: c.Clock.Offset(), LastExit: c.o.LastExit,
		State: c.phase(),
	}
}

const (
	latenessSamples = 4096
	latenessWindow  = time.Minute
)

// lateness keeps the newest starts' distance from their slots.
type lateness struct {
	mu      sync.Mutex
	samples []lateSample
	next    int
}

type lateSample struct {
	at   time.Time
	late time.Duration
}

func (l *lateness) add(late time.Duration) {
	sample := lateSample{at: time.Now(), late: max(late, 0)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.samples) < latenessSamples {
		l.samples = append(l.samples, sample)
		return
	}
	l.samples[l.next] = sample
	l.next = (l.next + 1) % latenessSamples
}

// percentiles are of the last minute, in milliseconds; zero when nothing started.
func (l *lateness) percentiles() (p50, p99 float64) {
	since := time.Now().Add(-latenessWindow)
	l.mu.Lock()
	recent := make([]time.Duration, 0, len(l.samples))
	for _, sample := range l.samples {
		if sample.at.After(since) {
			recent = append(recent, sample.late)
		}
	}
	l.mu.Unlock()
	if len(recent) == 0 {
		return 0, 0
	}
	slices.Sort(recent)
	ms := func(q float64) float64 {
		return float64(recent[int(q*float64(len(recent)-1))]) / float64(time.Millisecond)
	}
	return ms(0.50), ms(0.99)
}
