package consumer

import (
	"context"
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	settleBatch    = 200
	settleAge      = 50 * time.Millisecond
	recordPatience = time.Second // between two beats while the recorder is full
)

// settle collects measured flights into small batches, announces each at once and
// hands it to the recorder. It ends with ctx; what has not landed stays pending.
func (c *Consumer) settle(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	age := time.NewTimer(settleAge)
	age.Stop()
	var batch []*flight
	flush := func() {
		age.Stop()
		c.announce(rowsOf(batch))
		c.record(ctx, batch)
		batch = nil
	}
	for {
		select {
		case f := <-c.measured:
			batch = append(batch, f)
			switch len(batch) {
			case 1:
				age.Reset(settleAge)
			case settleBatch:
				flush()
			}
		case <-age.C:
			flush()
		case <-c.again.wake:
			for _, f := range c.again.takeAll() {
				c.record(ctx, []*flight{f})
			}
		case <-tick.C:
		case <-ctx.Done():
			c.release(batch...)
			return
		}
		c.o.BeatRecord.Beat()
	}
}

func rowsOf(batch []*flight) []uptime.Result {
	rows := make([]uptime.Result, len(batch))
	for i, f := range batch {
		rows[i] = f.row
	}
	return rows
}

// record hands a batch over, waiting for room as long as ctx lives.
func (c *Consumer) record(ctx context.Context, batch []*flight) {
	rows := rowsOf(batch)
	c.flights.move(recording, batch...) // before: done may come at once
	for {
		attempt, cancel := context.WithTimeout(ctx, recordPatience)
		err := c.Recorder.Record(attempt, rows, func(err error) { c.recorded(batch, err) })
		cancel()
		switch {
		case err == nil:
			return
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			c.o.BeatRecord.Beat() // full: wait on, the watchdog need not worry
		default:
			c.release(batch...)
			return
		}
	}
}

// recorded is the recorder's answer. Only here, with nil, does an entry earn its
// acknowledgement. It runs on the recorder's writer and must be quick.
func (c *Consumer) recorded(batch []*flight, err error) {
	switch {
	case err == nil:
		c.flights.move(acking, batch...)
		c.acks.add(batch...)
	case c.o.Permanent(err) && len(batch) > 1: // one of them: find out which
		c.again.add(batch...)
	case c.o.Permanent(err):
		batch[0].dead = "row cannot be stored: " + err.Error()
		c.flights.move(acking, batch...)
		c.acks.add(batch...)
	default:
		c.release(batch...)
	}
}
