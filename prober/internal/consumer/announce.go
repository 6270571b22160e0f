package consumer

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	announceQueue    = 256 // batches
	announceTogether = 16  // … in one call: a busy prober comes back late to each answer
	announceTimeout  = 2 * time.Second
	announcePatience = time.Minute // older results are no news: the API finds them in the store
)

type announcement struct {
	batches [][]uptime.Result
	at      time.Time // of the oldest
}

// announce queues rows for the live feed. When the feed has been stuck for so long
// that the queue is full they are dropped: the store has them all.
func (c *Consumer) announce(rows []uptime.Result) {
	select {
	case c.announces <- announcement{batches: [][]uptime.Result{rows}, at: time.Now()}:
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
			c.announceOne(ctx, c.withQueued(next))
		case <-ctx.Done():
			return
		}
	}
}

// withQueued adds what is queued behind an announcement.
func (c *Consumer) withQueued(next announcement) announcement {
	for len(next.batches) < announceTogether {
		select {
		case more := <-c.announces:
			next.batches = append(next.batches, more.batches...)
		default:
			return next
		}
	}
	return next
}

func (c *Consumer) announceOne(ctx context.Context, next announcement) {
	retry := newBackoff()
	for {
		call, cancel := context.WithTimeout(ctx, announceTimeout)
		err := c.Announcer.AnnounceAll(call, next.batches)
		cancel()
		if err == nil {
			return
		}
		if time.Since(next.at) > announcePatience || !sleep(ctx, retry.NextBackOff()) {
			count := 0
			for _, rows := range next.batches {
				count += len(rows)
			}
			c.metrics.unannounced.Add(float64(count))
			if ctx.Err() == nil {
				c.Log.Warn("results not announced", "count", count, "error", err)
			}
			return
		}
	}
}
