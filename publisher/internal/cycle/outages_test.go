package cycle

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestRedisDownIsNamed(t *testing.T) {
	t.Parallel()
	t.Run("refused", func(t *testing.T) { t.Parallel(); redisDownIsNamed(t, 0) })
	t.Run("hangs", func(t *testing.T) { t.Parallel(); redisDownIsNamed(t, 2500*time.Millisecond) })
}

func redisDownIsNamed(t *testing.T, hangs time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(100, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(30 * time.Second)
		h.redis.set(func() { h.redis.down, h.redis.hangs = true, hangs })
		time.Sleep(3 * time.Minute)
		if p.health.level("redis") != service.Error {
			t.Error("health does not say that redis is down")
		}
		h.redis.set(func() { h.redis.down = false })
		time.Sleep(7 * time.Minute)
		p.stop()
		a := h.audit(t)
		if a.missed == 0 || a.reasons[uptime.ReasonRedisDown] != a.missed || a.published+a.missed != a.planned {
			t.Errorf("%+v", a)
		}
		if p.health.level("redis") != service.OK || p.health.level("publishing") != service.OK {
			t.Errorf("health did not recover: %v", p.health.why)
		}
	})
}

// What expired while Redis was away fills many batches. Whoever can still be checked
// does not wait for them, and yet each gets its row.
func TestLongOutageDoesNotHoldUpWhatIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(3000, time.Minute)
		h.results.slow = time.Millisecond // 3,000 checks a minute: half a minute for ten of them
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(30 * time.Second)
		h.redis.set(func() { h.redis.down = true })
		time.Sleep(10 * time.Minute)
		h.redis.set(func() { h.redis.down = false })
		time.Sleep(3 * time.Second)
		if behind := h.behind(); behind > 60 {
			t.Errorf("%d s behind: what is due waits for what is lost", behind)
		}
		time.Sleep(8 * time.Minute)
		p.stop()
		a := h.audit(t)
		if a.unexplained > 0 || a.missed < 27_000 || a.reasons[uptime.ReasonRedisDown] != a.missed || a.published+a.missed != a.planned {
			t.Errorf("%+v", a)
		}
	})
}

func TestRedisLosesEverything(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(500, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(40 * time.Second)
		h.redis.set(func() { h.redis.down = true })
		time.Sleep(10 * time.Second)
		h.redis.loseData()
		h.redis.set(func() { h.redis.down = false })
		time.Sleep(40 * time.Second)
		p.stop()
		a := h.audit(t)
		if a.unexplained > 0 || a.inGap == 0 || len(h.database.gaps) != 1 || h.database.gaps[0].Reason != uptime.ReasonRedisLost {
			t.Errorf("%+v gaps %v", a, h.database.gaps)
		}
		if h.redis.seq != h.database.seq {
			t.Error("the fence was not raised again")
		}
	})
}

func TestNewHouseHasNoGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(5 * time.Second)
		h.furnish(5, 10*time.Second)
		time.Sleep(15 * time.Second)
		p.stop()
		if a := h.audit(t); len(h.database.gaps) > 0 || a.published != a.planned || a.planned == 0 {
			t.Errorf("%+v %v", a, h.database.gaps)
		}
	})
}

func TestDatabaseDownChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(100, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(30 * time.Second)
		h.database.mu.Lock()
		h.database.down = true
		h.database.mu.Unlock()
		time.Sleep(10 * time.Minute)
		if p.health.level("database") != service.Degraded {
			t.Error("health is silent")
		}
		h.database.mu.Lock()
		h.database.down = false
		h.database.mu.Unlock()
		h.database.save(target(999, 10*time.Second), false)
		time.Sleep(20 * time.Second)
		p.stop()
		if a := h.audit(t); a.published != a.planned || p.health.level("database") != service.OK {
			t.Errorf("%+v", a)
		}
	})
}

// A schedule that cannot be read is told all the time, and in the log once.
func TestScheduleThatCannotBeReadIsTold(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(d *database, is bool){
		"one of its parts": func(d *database, is bool) { d.unread = is },
		"the database":     func(d *database, is bool) { d.down = is },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.furnish(100, 10*time.Second)
			set := func(is bool) {
				h.database.mu.Lock()
				defer h.database.mu.Unlock()
				broken(h.database, is)
			}
			set(true)
			p := h.start(t.Context(), "a", true, 0)
			for range 300 {
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				if level := p.health.level("database"); level != service.Error {
					t.Fatalf("%s: the database is %v", name, level)
				}
			}
			set(false)
			time.Sleep(20 * time.Second)
			p.stop()
			if a := h.audit(t); a.published == 0 || p.health.level("database") != service.OK {
				t.Errorf("%s: %+v, %v", name, a, p.health.level("database"))
			}
			if said := strings.Count(h.log.text.String(), "before the schedule can be read"); said != 1 {
				t.Errorf("%s: said %d times", name, said)
			}
		})
	}
}

// The answer of the adoption is lost and the database goes away: publishing goes
// on by the old schedule, and the difference is stated when it is back.
func TestTornAdoptionIsStated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(100, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(30 * time.Second)
		h.database.mu.Lock()
		h.database.tearOff = true
		h.database.mu.Unlock()
		h.database.save(target(101, 10*time.Second), false)
		time.Sleep(time.Minute)
		behind := h.behind()
		h.database.mu.Lock()
		h.database.down, h.database.tearOff = false, false
		h.database.mu.Unlock()
		time.Sleep(30 * time.Second)
		p.stop()
		a := h.audit(t)
		if behind > 0 || a.unexplained > 0 || a.inGap < 10 || a.planned != a.published+a.inGap {
			t.Errorf("%d s behind, %+v %v", behind, a, h.database.gaps)
		}
	})
}

// Promise: publishing pauses while clocks disagree
func TestClocksThatDisagreePausePublishing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(50, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(30 * time.Second)
		h.redis.set(func() { h.redis.skew = time.Hour })
		time.Sleep(time.Minute)
		added := 0
		h.redis.set(func() { added = len(h.redis.added) })
		if p.health.level("clock") != service.Error || added > 50*2*5 {
			t.Error("it published by a clock an hour ahead")
		}
		if p.lease.yielded.Load() == 0 {
			t.Error("nobody else is let to work")
		}
		h.redis.set(func() { h.redis.skew = 0 })
		time.Sleep(5 * time.Second)
		if p.health.level("clock") != service.OK {
			t.Error("health did not recover")
		}
		time.Sleep(6 * time.Minute)
		p.stop()
		if a := h.audit(t); a.unexplained+a.both > 0 || a.published+a.missed != a.planned {
			t.Errorf("%+v", a)
		}
	})
}

// Redis comes back as it was two seconds ago (its log lost the tail, or an old
// replica took over), and schedules changed in between.
func TestRedisGoesBack(t *testing.T) {
	t.Parallel()
	for _, databaseDown := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse()
			h.furnish(200, 10*time.Second)
			p := h.start(t.Context(), "a", true, 0)
			time.Sleep(20*time.Second + 500*time.Millisecond)
			for range 10 {
				restore := h.redis.remember()
				h.database.save(target(1+h.database.seq%200, 13*time.Second), false)
				time.Sleep(2 * time.Second)
				if databaseDown {
					h.database.mu.Lock()
					h.database.down = true
					h.database.mu.Unlock()
				}
				restore()
				time.Sleep(3 * time.Second)
				h.database.mu.Lock()
				h.database.down = false
				h.database.mu.Unlock()
			}
			time.Sleep(3 * time.Minute)
			p.stop()
			if h.behind() > 0 {
				t.Errorf("%d s behind", h.behind())
			}
			if databaseDown { // it publishes on, by the newest schedule it knows: up to a slot each time is off
				h.redis.twice = 0
				return
			}
			if a := h.audit(t); a.published != a.planned {
				t.Errorf("%+v", a)
			}
		})
	}
}

// A watchdog hears of the tick all the time, whatever is down and however much there is
// to catch up with.
func TestTickBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(100, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		for _, part := range []struct {
			mu   *sync.Mutex
			down *bool
		}{{&h.redis.mu, &h.redis.down}, {&h.database.mu, &h.database.down}, {&h.results.mu, &h.results.down}} {
			time.Sleep(30 * time.Second)
			part.mu.Lock()
			*part.down = true
			part.mu.Unlock()
			time.Sleep(3 * time.Minute)
			part.mu.Lock()
			*part.down = false
			part.mu.Unlock()
		}
		p.freeze()
		time.Sleep(30 * time.Minute)
		p.thaw()
		p.beats.forget()
		time.Sleep(5 * time.Minute)
		p.stop()
		if p.beats.count == 0 || p.beats.longest > 10*time.Second {
			t.Errorf("%d beats, silent for %v", p.beats.count, p.beats.longest)
		}
	})
}
