package consumer

import (
	"context"
	"sync"
	"time"
)

const ackBatch = 1000

// queue is an unbounded list with a wake-up; the flights in it are bounded elsewhere.
type queue struct {
	wake chan struct{} // holds a token when there is something
	mu   sync.Mutex
	list []*flight
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) add(flights ...*flight) {
	q.mu.Lock()
	q.list = append(q.list, flights...)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) takeAll() []*flight {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

// acknowledge settles flights in the stream until ctx ends, for as long as it takes:
// an entry that was recorded and not acknowledged would be probed again.
func (c *Consumer) acknowledge(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	retry := newBackoff()
	var left []*flight
	for {
		select {
		case <-c.acks.wake:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c.o.BeatAck.Beat()
		left = append(left, c.acks.takeAll()...)
		if len(left) == 0 {
			continue
		}
		var err error
		if left, err = c.acknowledgeOnce(ctx, left); err != nil {
			if ctx.Err() == nil {
				c.Log.Warn("cannot acknowledge entries", "count", len(left), "error", err)
			}
			sleep(ctx, retry.NextBackOff())
			continue
		}
		retry.Reset()
	}
}

// acknowledgeOnce gives back those that could not be settled.
func (c *Consumer) acknowledgeOnce(ctx context.Context, flights []*flight) ([]*flight, error) {
	done := make([]*flight, 0, min(len(flights), ackBatch))
	for len(flights) > 0 {
		c.o.BeatAck.Beat()
		if f := flights[0]; f.dead != "" {
			if err := c.bury(ctx, f); err != nil {
				return flights, err
			}
			flights = flights[1:]
			continue
		}
		done = done[:0]
		var ids []string
		for _, f := range flights[:min(len(flights), ackBatch)] {
			if f.dead != "" {
				break
			}
			done, ids = append(done, f), append(ids, f.entry.ID)
		}
		call, cancel := context.WithTimeout(ctx, callTimeout)
		err := c.Settler.Ack(call, ids)
		cancel()
		if err != nil {
			return flights, err
		}
		c.flights.end(done...)
		c.metrics.acked.Add(float64(len(done)))
		flights = flights[len(done):]
	}
	return nil, nil
}

// bury moves an entry to the dead letters, where people look at it.
func (c *Consumer) bury(ctx context.Context, f *flight) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	moved, err := c.Settler.Dead(call, f.entry, f.dead)
	if err != nil {
		return err
	}
	c.flights.end(f)
	if moved {
		c.metrics.deadLetters.Inc()
		c.Log.Error("entry became a dead letter", "entry", f.entry.ID, "target_id", f.entry.TargetID, "reason", f.dead)
	}
	return nil
}
