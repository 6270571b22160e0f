package cycle

import (
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/service"
)

// redisClock is Redis' time between two looks at it: the answer of the last look
// plus what the own monotonic clock has counted since.
type redisClock struct {
	base  time.Time // own instant of the last look, monotonic
	redis time.Time // what Redis said then
	drift time.Duration
	wall  func(time.Time) time.Time // what this machine's calendar says at an instant; a test makes it jump
}

// observe takes Redis' answer at an own instant. However long it took, the clock made of
// it is never ahead of Redis: a process frozen in the middle of the call would publish
// seconds that have not begun.
func (c *redisClock) observe(answered, redis time.Time) {
	c.base = answered
	c.redis = redis
	c.drift = c.wall(c.base).Sub(redis) // is one of the two wrong?
}

func (c *redisClock) now() time.Time {
	if c.base.IsZero() {
		return time.Now()
	}
	return c.redis.Add(time.Since(c.base))
}

func (c *redisClock) second() int64 { return c.now().Unix() }

func (c *redisClock) untilNextSecond() time.Duration {
	now := c.now()
	return now.Truncate(time.Second).Add(time.Second).Sub(now) + edge
}

// trusted says whether the two clocks agree well enough to publish by.
func (c *redisClock) trusted(health Health) bool {
	if c.drift.Abs() > maxDrift {
		health.Set("clock", service.Error, fmt.Sprintf("publishing is paused: this machine and Redis disagree on the time by %v (own minus Redis)", c.drift.Round(time.Second)))
		return false
	}
	health.Set("clock", service.OK, "")
	return true
}
