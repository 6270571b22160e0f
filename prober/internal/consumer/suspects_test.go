package consumer

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A prober that was killed at 10,000 checks a minute leaves hundreds of suspects. When
// targets answer fast they are settled in seconds, and never more than a few at once.
func TestManySuspectsAreSettledFast(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.age = time.Second
		r.visitor.took = func(uptime.Check) time.Duration { return 5 * time.Millisecond }
		for id := int64(1); id <= 500; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, -30*time.Second, again(2)))
		}
		r.start(t)
		wait(3 * time.Second)
		r.look(func() {
			if r.visitor.most != suspectsAtOnce || len(r.stream.acked) != 500 {
				t.Errorf("%d at once, %d acked", r.visitor.most, len(r.stream.acked))
			}
			for _, rows := range r.sink.rows {
				if rows[0].Status != uptime.StatusUp || rows[0].Attempt != 2 {
					t.Errorf("%v at attempt %d", rows[0].Status, rows[0].Attempt)
				}
			}
		})
		r.finish(t)
	})
}

// From the third delivery on there is one at a time, and what waits its turn is not
// even taken over: the next crash counts against one. Their rows wait for no company:
// a prober killed twice within a second leaves as many as it had in hand.
func TestOftenDeliveredAreProbedAlone(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.age = time.Second
		r.visitor.took = func(uptime.Check) time.Duration { return 20 * time.Millisecond }
		for id := int64(1); id <= 80; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, -30*time.Second, again(3+id%2)))
		}
		r.start(t)
		wait(time.Second)
		r.look(func() {
			if settled, taken := len(r.stream.acked), len(r.stream.delivered); taken > settled+1 {
				t.Errorf("%d taken over, %d settled", taken, settled)
			}
		})
		wait(6 * time.Second)
		r.look(func() {
			if r.visitor.most != 1 || len(r.stream.acked) != 80 {
				t.Errorf("%d at once, %d acked", r.visitor.most, len(r.stream.acked))
			}
		})
		r.finish(t)
	})
}

// Entries that cannot be read are visited by nobody, so nobody waits for them: hundreds that a
// killed prober left must not keep an honest check behind them from its turn.
func TestUnreadableEntriesTakeNobodysTurn(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		for id := int64(1); id <= 300; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, -40*time.Second, again(3), func(e *checkstream.Entry) { e.Err = errors.New("cut off") }))
		}
		honest := entryIn(301, -30*time.Second, again(3))
		r.stream.own = append(r.stream.own, honest)
		r.start(t)
		wait(time.Second)
		r.look(func() {
			if r.stream.acked[honest.ID] != 1 || len(r.stream.dead) != 300 {
				t.Errorf("acked %v; %d dead letters", r.stream.acked, len(r.stream.dead))
			}
		})
		r.finish(t)
	})
}

// One that hangs delays those of its own kind; these end with a row all the same, and
// others are not delayed.
func TestHangingSuspectDelaysOnlyItsKind(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.took = func(check uptime.Check) time.Duration {
			if check.TargetID <= 10 {
				return 10 * time.Second
			}
			return 5 * time.Millisecond
		}
		for id := int64(1); id <= 10; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, -30*time.Second, again(3)))
		}
		for id := int64(11); id <= 300; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, -30*time.Second, again(2)))
		}
		r.start(t)
		wait(3 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 290 {
				t.Errorf("%d acked", len(r.stream.acked))
			}
		})
		wait(40 * time.Second)
		r.look(func() {
			counts := map[uptime.Status]int{}
			for _, rows := range r.sink.rows {
				counts[rows[0].Status]++
			}
			if counts[uptime.StatusUp] < 293 || counts[uptime.StatusUp]+counts[uptime.StatusMissed] != 300 {
				t.Errorf("%v", counts)
			}
		})
		r.finish(t)
	})
}

// A check that is not for this region is owed no row here, also when its body is gone.
func TestGoneEntryOfAnotherRegionIsSettledWithoutARow(t *testing.T) {
	t.Parallel()
	var slots slotMemory
	options := &Options{Region: "eu"}
	here, elsewhere := entryIn(1, 0), entryIn(1, time.Minute)
	elsewhere.Check.Regions = []string{"us"}
	gone := checkstream.Entry{ID: here.ID, TargetID: 1, Second: here.Second, Gone: true}
	now := time.Now().Add(skew)
	slots.remember(uptime.Check{TargetID: 1, Interval: time.Second}) // every second has a slot
	if got := admit(gone, options, now, &slots); got.action != actRecord {
		t.Errorf("%+v", got)
	}
	admit(elsewhere, options, now, &slots)
	if got := admit(gone, options, now, &slots); got.action != actSettle {
		t.Errorf("%+v", got)
	}
}

// While nothing can be recorded entries stay in hand: the janitor must not take them
// for abandoned until they have expired, and may then.
func TestHeldEntriesAreRenewedUntilTheyExpire(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.delay = 3 * time.Minute
		for id := int64(1); id <= 20; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		r.start(t)
		renewed := func() map[string]int {
			counts := map[string]int{}
			r.look(func() { maps.Copy(counts, r.stream.renewed) })
			return counts
		}
		expiry := uptime.Expiry(time.Minute)
		wait(expiry)
		before := renewed()
		least := int(expiry/checkstream.JanitorGrace) + 1
		for id, n := range before {
			if n < least {
				t.Fatalf("%s was renewed %d times, want %d or more", id, n, least)
			}
		}
		if len(before) != 20 {
			t.Errorf("%d were renewed", len(before))
		}
		wait(renewEvery + time.Second) // once more at the very end
		before = renewed()
		wait(time.Minute)
		if !maps.Equal(before, renewed()) {
			t.Error("expired entries are kept from everybody")
		}
		wait(2 * time.Minute)
		r.finish(t)
	})
}
