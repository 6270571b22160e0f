package consumer

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/probefleet/probefleet/internal/checkstream"
)

const (
	readMax      = 1000                 // Redis is occupied with it for about 3 ms
	readBlock    = checkstream.MaxBlock // longer than a tick: a reader that gives up at each tick is always last in Redis' queue
	readShort    = 25 * time.Millisecond
	callTimeout  = 5 * time.Second // of one call to Redis, on top of any blocking
	reclaimEvery = 2 * time.Second
	capacityLook = 20 * time.Millisecond
	gatherLooks  = 20 // a millisecond apart
	ownLooks     = 20 // without a read in between; each occupies Redis for about a millisecond
	renewEvery   = 5 * time.Second
	renewAge     = 8 * time.Second // with renewEvery less than the janitor's grace: it must not take what we hold
)

// read takes on new entries for as long as ctx lives; what it took on runs under
// probing. A read under way is never cut off: entries in its reply would be
// delivered to us without our knowing.
func (c *Consumer) read(ctx, probing context.Context) {
	retry := newBackoff()
	failing, behind := false, false
	for ctx.Err() == nil {
		c.o.BeatRead.Beat()
		if behind {
			c.gatherRoom(ctx)
		}
		free := min(c.flights.free(), readMax)
		if free <= 0 {
			c.awaitRoom(ctx)
			continue
		}
		if !c.wish.begin() {
			if failing { // it is not tried any more; whether Redis answers is the heartbeat's to say
				c.o.Redis(nil)
				failing = false
			}
			sleep(ctx, restLook)
			continue
		}
		entries, err := c.readOnce(ctx, free)
		c.take(probing, entries)
		c.wish.end()
		behind = len(entries) == free
		switch {
		case err != nil:
			c.metrics.readErrors.Inc()
			if !failing {
				c.Log.Warn("cannot read checks", "error", err)
			}
			c.o.Redis(err)
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
	if c.orphaned.any() {
		block = readShort // reclaiming waits for its turn
	}
	c.delivering <- struct{}{}
	defer func() { <-c.delivering }()
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), block+callTimeout)
	defer cancel()
	return c.Source.Read(call, max, block)
}

// gatherRoom waits a little for room that is worth a read: while more waits to be read than there is
// room for, each flight that lands would be a read of its own.
func (c *Consumer) gatherRoom(ctx context.Context) {
	enough := min(readMax, c.flights.places()/4)
	for range gatherLooks {
		if c.flights.free() >= enough || !sleep(ctx, time.Millisecond) {
			return
		}
	}
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
// from an earlier life or because it was given back. It takes no more than can be
// probed right away: a delivery counts against an entry, and one that only waited in
// a queue when the process died has done nothing wrong. With nothing of that to do it
// replays dead letters. While this prober is to drain only what is in our own name counts.
func (c *Consumer) reclaim(ctx, probing context.Context) {
	failing := false
	var asked time.Time // for dead letters to replay
	for ctx.Err() == nil {
		room := c.suspects.room(c.flights.free())
		if room == (checkstream.Room{}) {
			c.awaitSuspect(ctx, capacityLook)
			continue
		}
		takeOver, all := c.reclaimOnce, c.wish.begin()
		if !all {
			takeOver = c.gather
		}
		n, err := takeOver(ctx, probing, room)
		if n > 0 {
			c.metrics.reclaimed.Add(float64(n))
			c.Log.Debug("took over checks", "count", n)
		}
		found := false
		if all && err == nil && n == 0 && room.Alone > 0 && time.Since(asked) >= replayEvery {
			if found, err = c.replay(ctx, probing); !found {
				asked = time.Now()
			}
		}
		if all {
			c.wish.end()
		}
		if found {
			continue
		}
		if err != nil && !failing {
			c.Log.Warn("cannot take over checks", "error", err)
		}
		failing = err != nil
		switch {
		case failing:
			sleep(ctx, reclaimEvery)
		case n == 0:
			c.awaitSuspect(ctx, reclaimEvery)
		}
	}
}

// awaitSuspect waits for a suspect to be settled, which makes room for the next.
func (c *Consumer) awaitSuspect(ctx context.Context, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.suspects.freed:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (c *Consumer) reclaimOnce(ctx, probing context.Context, room checkstream.Room) (int, error) {
	if c.orphaned.any() {
		noted := c.orphaned.noted.Load()
		n, complete, err := c.takeOwn(ctx, probing, room)
		if err == nil && complete {
			c.orphaned.found.Store(noted)
		}
		if err != nil || n > 0 {
			return n, err
		}
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	entries, err := c.Source.Reclaim(call, c.o.ReclaimIdle, room)
	return c.take(probing, entries), err
}

// orphaned tells whether entries may be pending in our name that are not flying.
type orphaned struct{ noted, found atomic.Int64 }

func (o *orphaned) note()     { o.noted.Add(1) }
func (o *orphaned) any() bool { return o.noted.Load() != o.found.Load() }

// takeOwn waits for a read under way: what is in its reply is pending in our name, and not
// known to be flying. What it takes on without visiting anything keeps no room, so it goes on
// at once then: of entries that cannot be read a killed prober may leave hundreds.
func (c *Consumer) takeOwn(ctx, probing context.Context, room checkstream.Room) (n int, complete bool, err error) {
	c.delivering <- struct{}{}
	defer func() { <-c.delivering }()
	began := time.Now()
	for range ownLooks {
		var entries []checkstream.Entry
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		entries, complete, err = c.Source.Own(call, room)
		cancel()
		n += c.take(probing, entries)
		room = c.suspects.room(c.flights.free())
		done := err != nil || complete || len(entries) == 0 || room == (checkstream.Room{})
		if done || ctx.Err() != nil || time.Since(began) > callTimeout { // a read waits
			break
		}
	}
	return n, complete, err
}

// renew keeps others from taking over what this prober still works on.
func (c *Consumer) renew(ctx context.Context) {
	for sleep(ctx, renewEvery) {
		ids := c.flights.stale(renewAge, c.Clock.Now())
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
	b.InitialInterval, b.MaxInterval = 100*time.Millisecond, time.Second // Redis is one call away: being late costs checks
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
