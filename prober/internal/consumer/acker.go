package consumer

import (
	"context"
	"sync"
	"time"
)

// ackBatch is for one answer of Redis': a prober that settles more than 10,000 checks a second may
// come back late to each.
const ackBatch = 10_000

// maxUnsettled is how many entries may be durable and not acknowledged before no more are taken on.
const maxUnsettled = 2 * ackBatch

// queue is an unbounded list with a wake-up; the flights in it are bounded: see flights.free.
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
	c.empty(ctx, c.acks, c.o.BeatAck, func(fresh, left []*flight) ([]*flight, error) {
		if len(fresh) > 0 {
			c.flights.move(sent, fresh...)
		}
		return c.acknowledgeOnce(ctx, append(left, fresh...))
	})
}

// buryAll is acknowledge for dead letters. One that Redis does not take holds up
// nobody: it goes to the end of the queue.
func (c *Consumer) buryAll(ctx context.Context) {
	c.empty(ctx, c.graves, silent{}, func(fresh, left []*flight) ([]*flight, error) {
		return c.oneByOne(append(left, fresh...), func(f *flight) error { return c.bury(ctx, f) })
	})
}

// empty has a queue worked off until ctx ends. What work gives back it gets again,
// after a pause.
func (c *Consumer) empty(ctx context.Context, q *queue, beat Beater, work func(fresh, left []*flight) ([]*flight, error)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	retry := newBackoff()
	var left []*flight
	for {
		select {
		case <-q.wake:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		beat.Beat()
		fresh := q.takeAll()
		if len(fresh)+len(left) == 0 {
			continue
		}
		var err error
		if left, err = work(fresh, left); err != nil {
			if ctx.Err() == nil {
				c.Log.Warn("cannot settle entries", "count", len(left), "error", err)
			}
			sleep(ctx, retry.NextBackOff())
			continue
		}
		retry.Reset()
	}
}

// acknowledgeOnce gives back those that could not be settled.
func (c *Consumer) acknowledgeOnce(ctx context.Context, flights []*flight) ([]*flight, error) {
	letters, entries := flights[:0:0], flights[:0:0]
	for _, f := range flights {
		if f.letter != nil {
			letters = append(letters, f)
		} else {
			entries = append(entries, f)
		}
	}
	for len(entries) > 0 {
		c.o.BeatAck.Beat()
		done := entries[:min(len(entries), ackBatch)]
		ids := make([]string, len(done))
		for i, f := range done {
			ids[i] = f.entry.ID
		}
		call, cancel := context.WithTimeout(ctx, callTimeout)
		err := c.Settler.Ack(call, ids)
		cancel()
		if err != nil {
			return append(entries, letters...), err
		}
		c.flights.move(confirmed, done...)
		c.metrics.acked.Add(float64(len(done)))
		entries = entries[len(done):]
	}
	return c.oneByOne(letters, func(f *flight) error { return c.replayed(ctx, f) })
}

// oneByOne does it to each, and stops at an error; that one is the last next time.
func (c *Consumer) oneByOne(flights []*flight, do func(*flight) error) ([]*flight, error) {
	for i, f := range flights {
		if err := do(f); err != nil {
			return append(flights[i+1:], f), err
		}
	}
	return nil, nil
}
