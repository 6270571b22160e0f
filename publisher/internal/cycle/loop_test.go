package cycle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestSteadyPublishesOneSecondAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(700, 10*time.Second, 60*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(2*time.Minute + 500*time.Millisecond)
		p.stop()
		a := h.audit(t)
		if a.published != a.planned || a.planned < 700*2*6 {
			t.Errorf("%+v", a)
		}
		if h.behind() != 0 {
			t.Errorf("%d s behind", h.behind())
		}
		due, published := 0, 0
		for _, c := range h.results.notes {
			due, published = due+c.Due, published+c.Published
		}
		if due != a.planned || published != a.published {
			t.Errorf("notes say %d due and %d published, there are %d", due, published, a.planned)
		}
		if len(h.results.notes) < 119 || !p.health.ready {
			t.Errorf("%d notes, ready %v", len(h.results.notes), p.health.ready)
		}
	})
}

// Promise: a standby publisher takes over from a killed one
func TestTakeoverAfterKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(1500, 10*time.Second)
		a, b := h.start(t.Context(), "a", true, 0), h.start(t.Context(), "b", false, 0)
		time.Sleep(30*time.Second + 7*time.Millisecond)
		a.kill()
		time.Sleep(7 * time.Second)
		b.lease.give(true)
		time.Sleep(60 * time.Second)
		b.stop()
		if got := h.audit(t); got.published != got.planned || h.behind() > 0 {
			t.Errorf("%+v, stands at %d s", got, h.behind())
		}
	})
}

// Promise: a publisher that froze cannot publish old slots
func TestFreezeRefusesStaleTicks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(1500, 10*time.Second, 60*time.Second)
		a, b := h.start(t.Context(), "a", true, 0), h.start(t.Context(), "b", false, 0)
		time.Sleep(20 * time.Second)
		a.freeze() // and does not know that it lost the lease
		time.Sleep(8 * time.Second)
		b.lease.give(true)
		time.Sleep(52 * time.Second)
		a.thaw()
		time.Sleep(10 * time.Second)
		a.lease.give(false)
		time.Sleep(30 * time.Second)
		a.stop()
		b.stop()
		if got := h.audit(t); got.published != got.planned {
			t.Errorf("%+v", got)
		}
	})
}

// A publisher that froze while it asked Redis for the time must not take the answer for
// an older one: it would publish what is not due yet.
func TestFreezeInTheMiddleOfAskingTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(100, 10*time.Second)
		a := h.start(t.Context(), "a", true, 0)
		time.Sleep(20*time.Second + 500*time.Millisecond) // between two calls
		a.freeze()
		time.Sleep(8 * time.Second)
		a.thaw()
		time.Sleep(10 * time.Second)
		a.stop()
		if h.redis.ahead > 1 {
			t.Errorf("an entry was added %d s before its time", h.redis.ahead)
		}
	})
}

func TestTwoLeadersWhileSchedulesChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(300, 10*time.Second, 13*time.Second)
		a, b := h.start(t.Context(), "a", true, 0), h.start(t.Context(), "b", true, 0)
		for i := int64(1); i <= 200; i++ {
			switch i % 4 {
			case 0:
				h.database.save(target(300+i, 11*time.Second), false)
			case 1:
				h.database.save(target(i, 17*time.Second, "eu"), false)
			case 2:
				paused := target(i, 10*time.Second)
				paused.Active = false
				h.database.save(paused, false)
			case 3:
				h.database.save(target(i, 10*time.Second), true)
			}
			time.Sleep(137 * time.Millisecond)
		}
		h.database.setRegion("ap", true)
		h.database.setRegion("us", false)
		time.Sleep(30 * time.Second)
		a.stop()
		b.stop()
		if got := h.audit(t); got.published != got.planned {
			t.Errorf("%+v", got)
		}
	})
}

func TestCatchUpIsPacedAndStatesTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(600, 60*time.Second) // 10 a second
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(2 * time.Minute)
		p.kill()
		time.Sleep(5 * time.Minute)
		resumed := time.Now()
		p = h.start(t.Context(), "b", true, 0)
		time.Sleep(8 * time.Minute)
		p.stop()
		a := h.audit(t)
		if a.reasons[uptime.ReasonPublisherDown] != a.missed || a.both+a.inGap != 0 || a.published+a.missed != a.planned {
			t.Errorf("%+v", a)
		}
		if a.missed < 4*60*10*2*9/10 || a.missed > 4*60*10*2*11/10 {
			t.Errorf("%d slots missed: all but the last minute of five had expired", a.missed)
		}
		firstMinute := 0
		for _, at := range h.redis.addedAt {
			if !at.Before(resumed) && at.Before(resumed.Add(time.Minute)) {
				firstMinute++
			}
		}
		if firstMinute < 600 || firstMinute > 720 {
			t.Errorf("%d checks in the first minute, the steady rate is 600", firstMinute)
		}
		if h.behind() > 0 {
			t.Errorf("still %d s behind", h.behind())
		}
	})
}

// Promise: a long pause is caught up without a burst, and the rest is stated
func TestHourLongPauseIsOneGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(60, 60*time.Second, 10*time.Minute)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(time.Minute)
		p.kill()
		time.Sleep(3 * time.Hour)
		p = h.start(t.Context(), "b", true, 0)
		time.Sleep(20 * time.Minute)
		p.stop()
		a := h.audit(t)
		if len(h.database.gaps) != 1 || a.inGap == 0 || a.missed > 60*5*2 || a.unexplained > 0 {
			t.Errorf("%+v gaps %v", a, h.database.gaps)
		}
	})
}

// Promise: what a full stream refuses is `missed(backpressure)`
func TestFullStreamIsStated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(6000, 10*time.Second)
		h.redis.drained = false
		p := h.start(t.Context(), "a", true, 3000)
		time.Sleep(30 * time.Second)
		h.redis.set(func() { h.redis.drained = true })
		time.Sleep(10 * time.Second)
		p.stop()
		a := h.audit(t)
		if a.reasons[uptime.ReasonBackpressure] != a.missed || a.missed < 6000*2*2 || a.published+a.missed != a.planned || a.both > 0 {
			t.Errorf("%+v", a)
		}
		if len(h.redis.refused) > 0 || h.redis.length > 3500 {
			t.Errorf("refused %v, length %d", h.redis.refused, h.redis.length)
		}
		if h.behind() > 0 {
			t.Error("the tick stopped")
		}
	})
}

func TestFullStreamAndNoResultsStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(2000, 10*time.Second)
		h.redis.drained, h.results.down = false, true
		p := h.start(t.Context(), "a", true, 1000)
		time.Sleep(60 * time.Second)
		p.stop()
		if a := h.audit(t); a.inGap == 0 || a.unexplained > 0 || p.health.level("results") != service.Degraded {
			t.Errorf("%+v", a)
		}
		if behind := h.behind(); behind > 3 {
			t.Errorf("%d s behind because rows cannot be written", behind)
		}
	})
}

func TestRefusedSecondIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(3000, 10*time.Second)
		h.redis.drained = false
		p := h.start(t.Context(), "a", true, 1500)
		h.results.down = true // so that it hangs in the explanation
		for len(h.refusedNow()) == 0 {
			time.Sleep(50 * time.Millisecond)
		}
		p.kill()
		h.results.down = false
		p = h.start(t.Context(), "b", true, 1500)
		time.Sleep(20 * time.Second)
		p.stop()
		if a := h.audit(t); a.unexplained+a.both > 0 || a.missed == 0 || len(h.redis.refused) > 0 {
			t.Errorf("%+v refused %v", a, h.redis.refused)
		}
	})
}

// behind is how many seconds are due, and have been for a moment, and not complete.
func (h *house) behind() (seconds int64) {
	h.redis.set(func() { seconds = time.Now().Add(-100*time.Millisecond).Unix() + 1 - h.redis.tick })
	return seconds
}

func (h *house) refusedNow() (n map[int64]int64) {
	h.redis.set(func() {
		n = map[int64]int64{}
		for k, v := range h.redis.refused {
			n[k] = v
		}
	})
	return n
}
