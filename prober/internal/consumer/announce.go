package consumer

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	announceQueue    = 256 // batches
	announceTimeout  = 2 * time.Second
	announcePatience = time.Minute // older results are no news: the API finds them in the store
)

type announcement struct {
	rows []uptime.Result
	at   time.Time
}

// announce queues rows for the live feed. When the feed has been stuck for so long
// that the queue is full they are dropped: the store has them all.
func (c *Consumer) announce(rows []uptime.Result) {
	select {
	case c.announces <- announcement{rows: rows, at: time.Now()}:
	default:
		c.metrics.unannounced.Add(float64(len(rows)))
	}
}

// announceAll sends queued rows in order until ctx ends. Sending one twice, after
// a lost reply, is harmless: readers go by slot.
func (c *Consumer) announceAll(ctx context.Context) {
	for {
		select {
		case next := <-c.announces:
			c.announceOne(ctx, next)
		case <-ctx.Done():
			return
		}
	}
}

func (c *Consumer) announceOne(ctx context.Context, next announcement) {
	retry := newBackoff()
	for {
		call, cancel := context.WithTimeout(ctx, announceTimeout)
		err := c.Announcer.Announce(call, next.rows)
		cancel()
		if err == nil {
			return
		}
		if time.Since(next.at) > announcePatience || !sleep(ctx, retry.NextBackOff()) {
			c.metrics.unannounced.Add(float64(len(next.rows)))
			if ctx.Err() == nil {
				c.Log.Warn("results not announced", "count", len(next.rows), "error", err)
			}
			return
		}
	}
}
