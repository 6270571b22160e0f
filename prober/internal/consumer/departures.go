package consumer

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// departures are flights that wait for their slots, or for room at them. One goroutine waits
// for all of them: thousands wait in a busy prober, and a goroutine and a timer for each
// would be as much memory, and a good part of the CPU, as the visits themselves.
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

// due takes out so many flights whose slot has come, the oldest first, and besides all those
// before them that are no longer worth a visit. It says how long it is until the next: nothing
// or less when there was no room for it. A dead letter is visited however late it is.
func (d *departures) due(now time.Time, room int) (list, expired []*flight, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.list) > 0 {
		f := d.list[0]
		wait = f.entry.Check.ScheduledAt.Sub(now)
		late := f.letter == nil && !now.Before(f.entry.Check.ExpiresAt())
		if wait > 0 || len(list) == room && !late {
			return list, expired, wait
		}
		heap.Pop(&d.list)
		if late {
			expired = append(expired, f)
			continue
		}
		f.overslept = f.overslept || f.early && -wait > maxOversleep
		list = append(list, f)
	}
	return list, expired, idle
}

// close takes out all flights, and no more are taken.
func (d *departures) close() []*flight {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := d.list
	d.list, d.closed = nil, true
	return left
}

// depart begins each visit at its slot, or when there is room for it, until ctx ends. Then it
// gives back what waits.
func (c *Consumer) depart(ctx context.Context) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for ctx.Err() == nil {
		c.o.BeatDepart.Beat()
		// One at least: who is in line may wait for something else.
		list, expired, wait := c.departures.due(c.clock.now(), max(1, c.o.Room()))
		for _, f := range list {
			go c.arrive(ctx, f)
		}
		for _, f := range expired {
			c.land(f, explained, f.entry.Check.Missed(c.o.Region, uptime.ReasonExpired, c.o.Name))
			c.checks.Done()
		}
		if wait <= 0 {
			sleep(ctx, breather)
			continue
		}
		timer.Reset(min(wait, idle))
		select {
		case <-timer.C:
		case <-c.departures.wake:
		case <-ctx.Done():
		}
	}
	left := c.departures.close()
	c.release(left...)
	for range left {
		c.checks.Done()
	}
}

// idle is how long the loop rests at most, so that the watchdog sees it alive.
const idle = 10 * time.Second

// breather is how long flights that could begin wait for room.
const breather = time.Millisecond

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
