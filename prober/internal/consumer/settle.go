package consumer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	settleBatch    = 200
	settleAge      = 50 * time.Millisecond
	recordPatience = time.Second // between two beats while the recorder is full
)

// settle collects measured flights into batches, announces each at once and hands it
// to the recorder. It ends with ctx; what has not landed stays pending.
func (c *Consumer) settle(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	age := time.NewTimer(settleAge)
	age.Stop()
	var together []*flight
	flush := func() {
		age.Stop()
		c.record(ctx, together)
		together = nil
	}
	for {
		select {
		case f := <-c.measured:
			together = append(together, f)
			switch len(together) {
			case 1:
				age.Reset(settleAge)
			case settleBatch:
				flush()
			}
		case <-age.C:
			flush()
		case <-c.failing.wake:
			for _, f := range c.failing.takeAll() {
				c.explain(ctx, f)
			}
		case <-tick.C:
		case <-ctx.Done():
			c.release(together...)
			return
		}
		c.o.BeatRecord.Beat()
	}
}

// record hands flights over as one batch.
func (c *Consumer) record(ctx context.Context, together []*flight) {
	b := c.flights.begin(together) // before: the answer may come at once
	rows := b.rows()
	c.announce(rows)
	watch := recorder.Watch{
		Done:  func(err error) { c.recorded(b, err) },
		Phase: func(p recorder.Phase, attempt int) { c.flights.phase(b, p, attempt) },
	}
	if !c.hand(ctx, rows, watch) {
		c.flights.end(b)
		c.release(together...)
	}
}

// hand waits for room in the recorder as long as ctx lives, and says whether it took the rows.
func (c *Consumer) hand(ctx context.Context, rows []uptime.Result, watch recorder.Watch) bool {
	for {
		attempt, cancel := context.WithTimeout(ctx, recordPatience)
		err := c.Recorder.Record(attempt, rows, watch)
		cancel()
		if err == nil {
			return true
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return false
		}
		c.o.BeatRecord.Beat() // full: wait on, the watchdog need not worry
	}
}

// recorded is the recorder's answer. Only here, with nil, does an entry earn its
// acknowledgement; a permanent error speaks of the refused rows, and says that the
// others are durable. It runs on the recorder's writer and must be quick.
func (c *Consumer) recorded(b *batch, err error) {
	c.flights.end(b)
	switch {
	case err == nil:
		c.earned(b.flights)
	case c.o.Permanent(err):
		bad, good := c.flights.split(b)
		if len(bad) == 0 { // which row is not known: none of them counts as durable
			c.release(good...)
			return
		}
		c.earned(good)
		for _, f := range bad {
			c.refuse(f, cmp.Or(f.refusal, err.Error()))
		}
	default:
		c.release(b.flights...)
	}
}

func (c *Consumer) earned(flights []*flight) {
	if len(flights) == 0 {
		return
	}
	c.flights.move(durable, flights...)
	c.acks.add(flights...)
}
