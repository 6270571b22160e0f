// Package sharedclock is the time that all services agree on: that of Redis, carried on by each
// machine's monotonic clock while Redis is not asked or does not answer.
package sharedclock

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	every    = 10 * time.Second
	glance   = time.Second // between two looks at this machine's own clocks
	samples  = 3
	timeout  = 2 * time.Second
	jump     = 30 * time.Second // more than any clock drifts between two looks
	patience = 12               // looks that say the same before a jump is believed: two minutes
	tolerate = 2 * time.Second  // that a machine's clock may be off before somebody should hear of it
)

// ErrJumped says that the source disagrees with the time so far and with this machine.
var ErrJumped = errors.New("shared clock has jumped, and this machine's disagrees: going on by the time so far")

// Source is what everybody asks for the time.
type Source interface {
	Now(ctx context.Context) (time.Time, error)
}

// Clock is the shared time: a sample of the source carried on by the monotonic
// clock, so that a step of this machine's wall clock moves no slot. Until the source has
// answered once it is this machine's. It is safe for concurrent use, but for Measure and Follow.
//
// A source that jumps is believed at once when this machine's clock agrees with it,
// since then it was wrong before, and otherwise only when it insists: by a jumping
// clock every check would seem expired.
type Clock struct {
	source Source
	anchor atomic.Pointer[anchor]
	jumps  int // looks in a row that showed a jump

	// Doubt is how many looks must show the same jump before it is believed.
	Doubt int
}

type anchor struct{ local, shared time.Time }

// New makes a clock; measure it, and follow it.
func New(source Source) *Clock { return &Clock{source: source, Doubt: patience} }

// Now is the shared time, in UTC.
func (c *Clock) Now() time.Time {
	a := c.anchor.Load()
	if a == nil { // not measured yet
		return time.Now().UTC()
	}
	return a.shared.Add(time.Since(a.local)).UTC()
}

// Skew is how far this machine's clock is ahead of the shared one.
func (c *Clock) Skew() time.Duration { return time.Now().Round(0).Sub(c.Now()) }

// Offset is Skew, and nil while the source has not been asked.
func (c *Clock) Offset() *time.Duration {
	if c.anchor.Load() == nil {
		return nil
	}
	skew := c.Skew()
	return &skew
}

// Measure asks a few times and believes the quickest answer. With an error, which may be
// ErrJumped, the clock goes on as before.
func (c *Clock) Measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var best anchor
	fastest := time.Hour
	for range samples {
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
	if c.anchor.Load() != nil && far(best.shared.Sub(c.Now())) && far(best.shared.Sub(best.local.Round(0))) {
		if c.jumps++; c.jumps < c.Doubt {
			return ErrJumped
		}
	}
	c.jumps = 0
	c.anchor.Store(&best)
	return nil
}

func far(d time.Duration) bool { return d.Abs() > jump }

// Follow measures until ctx ends, and tells what came of it each time. It asks out of turn until there was an answer, and when the clocks of this
// machine disagree with each other: one of them was set, or the machine was asleep, which its monotonic clock does
// not count.
func (c *Clock) Follow(ctx context.Context, tell func(skew time.Duration, err error)) {
	look := time.NewTicker(glance)
	defer look.Stop()
	asked, skew := time.Now(), c.Skew()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if c.anchor.Load() != nil && time.Since(asked) < every && (c.Skew()-skew).Abs() < glance {
			continue
		}
		err := c.Measure(ctx)
		asked, skew = time.Now(), c.Skew()
		if ctx.Err() == nil {
			tell(skew, err)
		}
	}
}

// Trouble is what somebody should hear of a measurement; "" is nothing.
func Trouble(skew time.Duration, err error) string {
	switch {
	case errors.Is(err, ErrJumped):
		return err.Error()
	case skew.Abs() > tolerate:
		return fmt.Sprintf("this machine's clock is %v ahead of the shared one: set it by NTP", skew.Round(time.Millisecond))
	}
	return ""
}
