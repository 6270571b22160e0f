package consumer

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/probefleet/probefleet/internal/checkstream"
)

const (
	readMax      = 500
	readBlock    = time.Second
	readShort    = 100 * time.Millisecond
	callTimeout  = 5 * time.Second // of one call to Redis, on top of any blocking
	reclaimEvery = 2 * time.Second
	laneLook     = 20 * time.Millisecond
	renewEvery   = 5 * time.Second
	renewAge     = 15 * time.Second
)

// read takes on new entries for as long as ctx lives; what it took on runs under
// probing. A read under way is never cut off: entries in its reply would be
// delivered to us without our knowing.
func (c *Consumer) read(ctx, probing context.Context) {
	retry := newBackoff()
	failing := false
	for ctx.Err() == nil {
		c.o.BeatRead.Beat()
		free := min(c.flights.free(), readMax)
		if free <= 0 {
			c.awaitRoom(ctx)
			continue
		}
		entries, err := c.readOnce(ctx, free)
		c.take(probing, entries)
		switch {
		case err != nil:
			c.metrics.readErrors.Inc()
			if !failing {
				c.Log.Warn("cannot read checks", "error", err)
				c.o.Redis(err)
			}
			failing = true
			sleep(ctx, retry.NextBackOff())
		case failing:
			c.Log.Info("reading checks again")
			c.o.Redis(nil)
			failing = false
			retry.Reset()
		}
	}
}

func (c *Consumer) readOnce(ctx context.Context, max int) ([]checkstream.Entry, error) {
	block := readBlock
	if c.orphaned.Load() {
		block = readShort // reclaiming waits for its turn
	}
	c.delivering <- struct{}{}
	defer func() { <-c.delivering }()
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), block+callTimeout)
	defer cancel()
	return c.Source.Read(call, max, block)
}

// awaitRoom waits for a flight to move on, not too long for the watchdog.
func (c *Consumer) awaitRoom(ctx context.Context) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-c.flights.changed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// reclaim takes over what silent probers left, and what is pending in our own name
// from an earlier life or because it was given back. It takes no more at a time
// than the suspects' lane will soon get to: a delivery counts against an entry, and
// one that only waited in a queue when the process died has done nothing wrong.
func (c *Consumer) reclaim(ctx, probing context.Context) {
	failing := false
	for ctx.Err() == nil {
		room := min(cap(c.alone)-len(c.alone), c.flights.free())
		if room <= 0 {
			sleep(ctx, laneLook)
			continue
		}
		n, err := c.reclaimOnce(ctx, probing, room)
		if n > 0 {
			c.metrics.reclaimed.Add(float64(n))
			c.Log.Debug("took over checks", "count", n)
		}
		if err != nil && !failing {
			c.Log.Warn("cannot take over checks", "error", err)
		}
		failing = err != nil
		if n == 0 || failing {
			sleep(ctx, reclaimEvery)
		}
	}
}

func (c *Consumer) reclaimOnce(ctx, probing context.Context, max int) (int, error) {
	if c.orphaned.Swap(false) {
		entries, err := c.ownOnce(ctx, max)
		if err != nil || len(entries) > 0 {
			c.orphaned.Store(true) // there may be more
			return c.take(probing, entries), err
		}
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	entries, err := c.Source.Reclaim(call, c.o.ReclaimIdle, max)
	return c.take(probing, entries), err
}

// ownOnce waits for a read under way: what is in its reply is pending in our name,
// and not known to be flying.
func (c *Consumer) ownOnce(ctx context.Context, max int) ([]checkstream.Entry, error) {
	c.delivering <- struct{}{}
	defer func() { <-c.delivering }()
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return c.Source.Own(call, max)
}

// renew keeps others from taking over what this prober still works on.
func (c *Consumer) renew(ctx context.Context) {
	for sleep(ctx, renewEvery) {
		ids := c.flights.stale(renewAge)
		if len(ids) == 0 {
			continue
		}
		call, cancel := context.WithTimeout(ctx, 2*callTimeout)
		if err := c.Settler.Renew(call, ids); err != nil {
			c.Log.Warn("cannot renew entries", "count", len(ids), "error", err)
		}
		cancel()
	}
}

func newBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 100*time.Millisecond, 5*time.Second
	return b
}

// sleep waits, and says whether ctx still lives.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
