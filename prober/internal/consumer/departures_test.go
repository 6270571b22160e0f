package consumer

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/runqueue"
)

// With no core to spare, visits begin one after the other, the oldest first, whatever order
// they came in; with room for more, so many at a time.
func TestVisitsBeginWhileThereIsRoom(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		var room atomic.Int64
		r.options.Room = func() int { return int(room.Load()) }
		r.visitor.took = func(uptime.Check) time.Duration { return 5 * time.Second }
		for id := range int64(6) { // 1 to 3 last, and a millisecond earlier than 4 to 6
			r.stream.fresh = append(r.stream.fresh, entryIn(6-id, time.Second-breather*time.Duration(id/3)))
		}
		for id := range int64(4) {
			r.stream.fresh = append(r.stream.fresh, entryIn(7+id, 2*time.Second))
		}
		r.start(t)
		begun := func() (n int) {
			r.look(func() { n = len(r.visitor.at) })
			return n
		}
		wait(time.Second - breather + 3*breather + breather/2)
		if got := begun(); got != 4 {
			t.Errorf("%d have begun after three pauses without room, not one in each", got)
		}
		wait(100 * time.Millisecond)
		r.look(func() {
			for id := int64(1); id <= 3; id++ {
				if !r.visitor.at[id].Before(r.visitor.at[id+3]) {
					t.Errorf("%d, which is older, did not begin before %d", id, id+3)
				}
			}
		})
		room.Store(3)
		wait(898 * time.Millisecond)
		if got := begun(); got != 6+3 {
			t.Errorf("%d of those that are due at one instant have begun, with room for 3", got-6)
		}
		wait(breather)
		if got := begun(); got != 6+4 {
			t.Errorf("%d of 10 have begun", got)
		}
		r.finish(t)
	})
}

// A host that asks more of a prober than it can do is behind with its own checks alone: hosts take
// turns, one with a handshake counts as more than one without, and what expired is no turn.
func TestHostsTakeTurnsWhenThereIsNoRoom(t *testing.T) {
	t.Parallel()
	d, now := newDepartures(), time.Now()
	put := func(url string, n int, late time.Duration) {
		for i := range n {
			slot := now.Add(time.Duration(i)*time.Microsecond - late)
			d.add(&flight{entry: checkstream.Entry{Check: uptime.Check{URL: url, ScheduledAt: slot, Interval: time.Minute}}})
		}
	}
	put("http://many.test/", 50, uptime.Expiry(time.Minute))
	put("http://many.test/", 500, time.Second)
	put("https://dear.test/", 500, time.Second-time.Millisecond)
	put("http://few.test/", 1, 0)
	put("http://next.test/", 1, -time.Minute)
	d.due(now.Add(-time.Millisecond), 0) // the first fifty have not expired yet
	begun, expired := map[string]int{}, 0
	for range 101 {
		list, late, pause := d.due(now.Add(time.Millisecond), 1)
		if expired += len(late); len(list) != 1 || pause != 0 {
			t.Fatalf("%d of room for 1, and a pause of %v", len(list), pause)
		}
		begun[list[0].entry.Check.URL]++
	}
	if few, many, dear := begun["http://few.test/"], begun["http://many.test/"], begun["https://dear.test/"]; few != 1 || many < 74 || many > 76 || few+many+dear != 101 {
		t.Errorf("%v", begun)
	}
	if expired != 50 {
		t.Errorf("%d of 50 expired", expired)
	}
	if list, _, pause := d.due(now.Add(time.Millisecond), 10_000); len(list) != 1001-101 || pause <= 0 || pause > time.Minute {
		t.Errorf("%d with room for all, and %v until the next", len(list), pause)
	}
	put("http://many.test/", 2, time.Second)
	d.due(now, 1)
	if left := d.close(); len(left) != 2 {
		t.Errorf("%d left: one behind, and one whose slot is to come", len(left))
	}
}

// What waits for its slot when time is up is given back, and so is what comes then.
func TestWaitingIsGivenBack(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.stream.fresh = append(r.stream.fresh, entryIn(1, drainChecks+time.Second), entryIn(2, drainChecks-time.Second))
		r.start(t)
		wait(time.Millisecond)
		r.finish(t) // checks that each was settled or is pending
		r.look(func() {
			if len(r.visitor.at) != 1 || r.visitor.at[2].IsZero() {
				t.Errorf("visited: %v", r.visitor.at)
			}
		})
		if f := (&flight{}); r.c.departures.add(f) {
			t.Error("a flight was taken though nobody waits any more")
		}
	})
}

type beats struct{ n atomic.Int64 }

func (b *beats) Beat() { b.n.Add(1) }

// The watchdog sees that the loop lives, also while there is nothing to begin.
func TestDepartureBeatsWhileItWaits(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		alive := &beats{}
		r.options.BeatDepart = alive
		r.stream.fresh = append(r.stream.fresh, entryIn(1, 50*time.Second))
		r.start(t)
		wait(time.Second)
		before := alive.n.Load()
		wait(40 * time.Second)
		if got := alive.n.Load() - before; got < 4 {
			t.Errorf("%d beats in 40 seconds", got)
		}
		wait(10 * time.Second)
		r.finish(t)
	})
}

// Where nobody answers for a moment, others do not all begin meanwhile: they begin at a pace that
// reaches ten thousand in good time.
func TestVisitsBeginAtAPaceWhileNobodyAnswers(t *testing.T) {
	in(t, func(t *testing.T) {
		const all = 10_000
		r := newRig()
		r.options.Capacity = all
		r.options.Room = func() int { return 128 }
		r.visitor.took = func(uptime.Check) time.Duration { return 5 * time.Second }
		for id := range int64(all) {
			r.stream.fresh = append(r.stream.fresh, entryIn(1+id, 0, func(e *checkstream.Entry) { e.Check.URL = fmt.Sprintf("http://%d.test/", id) }))
		}
		r.start(t)
		begun := func() (n int) {
			r.look(func() { n = len(r.visitor.at) })
			return n
		}
		most := (&runqueue.Young{}).Room(time.Now())
		wait(140 * time.Millisecond)
		if got := begun(); got < min(all, most) || got > most+140 { // one a millisecond begins in any case
			t.Errorf("%d began in the first moment, not about %d", got, most)
		}
		wait(860 * time.Millisecond)
		if got := begun(); got < min(all, 6*most) {
			t.Errorf("%d began in a second, not %d", got, min(all, 6*most))
		}
		wait(10 * time.Second)
		r.finish(t)
	})
}
