package consumer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
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
	for ctx.Err() == nil { // asked each time: select takes any that is ready
		select {
		case <-c.measured.wake:
			if !c.measured.full() {
				age.Reset(settleAge)
				break
			}
			age.Stop()
			c.record(ctx, c.measured.take())
		case <-age.C:
			c.record(ctx, c.measured.take())
		case <-c.failing.wake:
			for _, f := range c.failing.takeAll() {
				c.explain(ctx, f)
			}
		case <-tick.C:
		case <-ctx.Done():
		}
		c.o.BeatRecord.Beat()
	}
	c.release(c.measured.close()...)
}

// harvest is flights that land until they are a batch. Only the first and the last of a batch
// wake who collects them. Their rows lie together from here on.
type harvest struct {
	wake   chan struct{} // holds a token when there is a first, or enough
	enough int

	mu     sync.Mutex
	list   []*batch // all but the last are full
	usual  int      // rows of a batch, lately
	closed bool
}

func newHarvest(enough int) *harvest {
	return &harvest{wake: make(chan struct{}, 1), enough: enough}
}

// add says whether the flight was taken: nobody collects any more else.
func (h *harvest) add(f *flight, row *uptime.Result) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if n := len(h.list); n == 0 || len(h.list[n-1].rows) == h.enough {
		h.list = append(h.list, &batch{flights: make([]*flight, 0, h.usual), rows: make([]uptime.Result, 0, h.usual)})
	}
	b := h.list[len(h.list)-1]
	b.flights, b.rows = append(b.flights, f), append(b.rows, *row)
	if n := len(b.rows); n == 1 || n == h.enough {
		h.signal()
	}
	return true
}

func (h *harvest) signal() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *harvest) full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.list) > 0 && len(h.list[0].rows) == h.enough
}

// take gives the first batch, if there is one. If there are others it comes to be called again.
func (h *harvest) take() *batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) == 0 {
		return nil
	}
	first := h.list[0]
	h.list[0], h.list = nil, h.list[1:]
	h.usual = len(first.rows)
	if len(h.list) > 0 {
		h.signal()
	}
	return first
}

// close takes out what is there, and no more is taken.
func (h *harvest) close() []*flight {
	h.mu.Lock()
	defer h.mu.Unlock()
	var left []*flight
	for _, b := range h.list {
		left = append(left, b.flights...)
	}
	h.list, h.closed = nil, true
	return left
}

// record hands a batch over, if there is one.
func (c *Consumer) record(ctx context.Context, b *batch) {
	if b == nil {
		return
	}
	c.flights.begin(b) // before: the answer may come at once
	c.announce(b.rows)
	watch := recorder.Watch{
		Done:  func(err error) { c.recorded(b, err) },
		Phase: func(p recorder.Phase, attempt int) { c.flights.phase(b, p, attempt) },
		Hurry: slices.ContainsFunc(b.flights, (*flight).suspect), // the next of its kind waits for its place
	}
	if !c.hand(ctx, b.rows, watch) {
		c.flights.end(b)
		c.release(b.flights...)
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
