package consumer

import (
	"container/heap"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/fairqueue"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
)

// departures are flights that wait for their slots, or for room at them. One goroutine waits
// for all of them: thousands wait in a busy prober, and a goroutine and a timer for each
// would be as much memory, and a good part of the CPU, as the visits themselves.
type departures struct {
	wake   chan struct{} // holds a token when another flight is the next
	mu     sync.Mutex
	list   byInstant
	behind fairqueue.Queue[*flight] // due, with no room at their slot: their hosts take turns
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
	if d.list[0].flight == f {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// due takes out so many flights whose slot has come, and besides all those it meets that are no
// longer worth a visit. It says how long it is until the next: nothing when there was no room for
// all. The oldest is the first; of those there was no room for, hosts take turns. A dead letter is
// visited however late it is.
func (d *departures) due(now time.Time, room int) (list, expired []*flight, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	take := func(f *flight) (cost uint64) {
		check := &f.entry.Check
		if f.letter == nil && !now.Before(check.ExpiresAt()) {
			expired = append(expired, f)
			return 0
		}
		f.overslept = f.overslept || f.early && now.Sub(check.ScheduledAt) > maxOversleep
		list = append(list, f)
		return asks(check)
	}
	wait = idle
	for len(d.list) > 0 {
		if wait = time.Duration(d.list[0].slot-now.UnixMicro()) * time.Microsecond; wait > 0 {
			break
		}
		wait = idle
		f := heap.Pop(&d.list).(*flight)
		if d.behind.Len() > 0 || len(list) == room {
			d.behind.Push(hostlimit.Name(f.entry.Check.URL), f)
		} else {
			take(f)
		}
	}
	for len(list) < room {
		if _, found := d.behind.Pop(take); !found {
			break
		}
	}
	if d.behind.Len() > 0 {
		wait = 0
	}
	return list, expired, wait
}

// asks is about what a visit asks of a core, in visits of plain HTTP: a handshake is as much as
// two of them. The README has both.
func asks(check *uptime.Check) uint64 {
	scheme, _, _ := strings.Cut(check.URL, ":")
	switch scheme {
	case "https", "wss", "grpcs", "tls":
		return 3
	}
	return 1
}

// close takes out all flights, and no more are taken.
func (d *departures) close() []*flight {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := make([]*flight, 0, len(d.list)+d.behind.Len())
	for _, waiting := range d.list {
		left = append(left, waiting.flight)
	}
	for d.behind.Len() > 0 {
		d.behind.Pop(func(f *flight) uint64 { left = append(left, f); return 0 })
	}
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
		began := time.Now()
		list, expired, wait := c.departures.due(c.Clock.Now(), max(1, min(c.o.Room(), c.young.Room(began))))
		c.young.Begin(began, len(list))
		for _, f := range list {
			go c.arrive(ctx, f, began)
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

// byInstant is a heap of flights. Their slots are beside them: with thousands in line, to look
// for each in its flight took an eighth of a busy core.
type byInstant []departure

type departure struct {
	slot   int64 // Unix time in µs
	flight *flight
}

func (l byInstant) Len() int           { return len(l) }
func (l byInstant) Less(i, j int) bool { return l[i].slot < l[j].slot }
func (l byInstant) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *byInstant) Push(x any) {
	f := x.(*flight)
	*l = append(*l, departure{f.entry.Check.ScheduledAt.UnixMicro(), f})
}
func (l *byInstant) Pop() any {
	last := len(*l) - 1
	f := (*l)[last].flight
	(*l)[last] = departure{}
	*l = (*l)[:last]
	return f
}
