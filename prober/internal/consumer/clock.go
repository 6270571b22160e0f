package consumer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	clockEvery    = 10 * time.Second
	clockSamples  = 3
	clockTimeout  = 2 * time.Second
	clockJump     = 30 * time.Second // more than any clock drifts between two looks
	clockPatience = 12               // looks that say the same before a jump is believed: two minutes
)

// errJumped says that the source disagrees with the time so far and with this machine.
var errJumped = errors.New("shared clock has jumped, and this machine's disagrees: going on by the time so far")

// clock is the shared time: a sample of the source carried on by the monotonic
// clock, so that a step of this machine's wall clock moves no slot.
//
// A source that jumps is believed at once when this machine's clock agrees with it,
// since then it was wrong before, and otherwise only when it insists: by a jumping
// clock every check would seem expired.
type clock struct {
	source TimeSource
	anchor atomic.Pointer[anchor]
	doubt  int // looks that must show the same jump before it is believed
	jumps  int // such looks in a row; only the measuring goroutine's
}

type anchor struct{ local, shared time.Time }

func (c *clock) now() time.Time {
	a := c.anchor.Load()
	if a == nil { // not measured yet
		return time.Now().UTC()
	}
	return a.shared.Add(time.Since(a.local)).UTC()
}

// skew is how far this machine's clock is ahead of the shared one.
func (c *clock) skew() time.Duration { return time.Now().Round(0).Sub(c.now()) }

// offset is skew, and nil while the source has not been asked.
func (c *clock) offset() *time.Duration {
	if c.anchor.Load() == nil {
		return nil
	}
	skew := c.skew()
	return &skew
}

// measure asks a few times and believes the quickest answer.
func (c *clock) measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	var best anchor
	fastest := time.Hour
	for range clockSamples {
		asked := time.Now()
		shared, err := c.source.Now(ctx)
		took := time.Since(asked)
		if err != nil {
			return fmt.Errorf("shared clock: %w", err)
		}
		if took < fastest {
			fastest, best = took, anchor{local: asked.Add(took / 2), shared: shared}
		}
	}
	if c.anchor.Load() != nil && far(best.shared.Sub(c.now())) && far(best.shared.Sub(best.local.Round(0))) {
		if c.jumps++; c.jumps < c.doubt {
			return errJumped
		}
	}
	c.jumps = 0
	c.anchor.Store(&best)
	return nil
}

func far(d time.Duration) bool { return d.Abs() > clockJump }

// measureClock keeps the clock fresh; without an answer the old one runs on.
func (c *Consumer) measureClock(ctx context.Context) {
	for sleep(ctx, clockEvery) {
		err := c.clock.measure(ctx)
		switch {
		case errors.Is(err, errJumped):
			c.Log.Warn("clock not believed", "error", err)
		case err != nil && ctx.Err() == nil:
			c.Log.Debug("clock not measured", "error", err)
			continue
		}
		c.o.Clock(c.clock.skew(), err)
	}
}
