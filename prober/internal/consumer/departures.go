package consumer

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// departures are flights that wait for their slots. One goroutine waits for all of them:
// thousands wait in a busy prober, and a goroutine and a timer for each would be as much
// memory, and a good part of the CPU, as the visits themselves.
type departures struct {
	wake   chan struct{} // holds a token when another flight is the next
	mu     sync.Mutex
	list   byInstant
	closed bool
}

func newDepartures() *departures { return &departures{wake: make(chan struct{}, 1)} }

// add lets a flight wait, unless nobody waits for it any more.
func (d *departures) add(f *flight) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	heap.Push(&d.list, f)
	if d.list[0] == f {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// due takes out the next flight whose slot has come, or says how long it is until then.
func (d *departures) due(now time.Time) (f *flight, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) == 0 {
		return nil, time.Hour
	}
	if wait = d.list[0].entry.Check.ScheduledAt.Sub(now); wait > 0 {
		return nil, wait
	}
	f = heap.Pop(&d.list).(*flight)
	f.overslept = f.overslept || -wait > maxOversleep
	return f, 0
}

// close takes out all flights, and no more are taken.
func (d *departures) close() []*flight {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := d.list
	d.list, d.closed = nil, true
	return left
}

// depart begins each visit at its slot until ctx ends. Then it gives back what waits.
func (c *Consumer) depart(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		f, wait := c.departures.due(c.clock.now())
		if f != nil {
			go c.arrive(ctx, f)
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-c.departures.wake:
		case <-ctx.Done():
		}
	}
	left := c.departures.close()
	c.release(left...)
	c.checks.Add(-len(left))
}

// maxOversleep is how long after its instant a check that was waiting for it may begin:
// who wakes later than that is too busy to measure other times exactly.
const maxOversleep = 10 * time.Millisecond

// byInstant is a heap.
type byInstant []*flight

func (l byInstant) Len() int { return len(l) }
func (l byInstant) Less(i, j int) bool {
	return l[i].entry.Check.ScheduledAt.Before(l[j].entry.Check.ScheduledAt)
}
func (l byInstant) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *byInstant) Push(f any)   { *l = append(*l, f.(*flight)) }
func (l *byInstant) Pop() any {
	last := len(*l) - 1
	f := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	return f
}
