package consumer

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	clockEvery   = 10 * time.Second
	clockSamples = 3
	clockTimeout = 2 * time.Second
)

// clock is the shared time: a sample of the source carried on by the monotonic
// clock, so that a step of this machine's wall clock moves no slot.
type clock struct {
	source TimeSource
	anchor atomic.Pointer[anchor]
}

type anchor struct{ local, shared time.Time }

func (c *clock) now() time.Time {
	a := c.anchor.Load()
	if a == nil { // not measured yet
		return time.Now().UTC()
	}
	return a.shared.Add(time.Since(a.local)).UTC()
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
	c.anchor.Store(&best)
	return nil
}

// measureClock keeps the clock fresh; without an answer the old one runs on.
func (c *Consumer) measureClock(ctx context.Context) {
	for sleep(ctx, clockEvery) {
		if err := c.clock.measure(ctx); err != nil && ctx.Err() == nil {
			c.Log.Debug("clock not measured", "error", err)
		}
	}
}
