package cycle

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

func paused(id int64, every time.Duration) uptime.Target {
	t := target(id, every)
	t.Active = false
	return t
}

// The database can be read and not be written (a full disk, a replica): changes wait,
// and the schedule known so far goes on.
func TestReadOnlyDatabaseStopsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(100, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(30 * time.Second)
		readOnly := func(is bool) {
			h.database.mu.Lock()
			defer h.database.mu.Unlock()
			h.database.readOnly = is
		}
		readOnly(true)
		for id := int64(101); id <= 120; id++ {
			h.database.save(target(id, 10*time.Second), false)
			time.Sleep(3 * time.Second)
			if behind := h.behind(); behind > 1 {
				t.Fatalf("%d s behind", behind)
			}
		}
		if p.health.level("schedule") != service.Degraded {
			t.Error("health is silent")
		}
		readOnly(false)
		time.Sleep(30 * time.Second)
		p.stop()
		if a := h.audit(t); a.published != a.planned || h.database.versions[119].EffectiveFrom.IsZero() || p.health.level("schedule") != service.OK {
			t.Errorf("%+v %v", a, p.health.why["schedule"])
		}
	})
}

// Redis comes back without its last second, whose checks have been run, and a change
// is adopted at once: it must not reach back to what was run.
func TestChangeDoesNotReachBackToWhatRedisForgot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(300, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(20*time.Second + 500*time.Millisecond)
		restore := h.redis.remember()
		time.Sleep(2 * time.Second)
		var ran map[uptime.Slot]int
		h.redis.set(func() { ran = maps.Clone(h.redis.added) })
		for id := int64(1); id <= 300; id++ {
			h.database.save(paused(id, 10*time.Second), false)
		}
		restore()
		time.Sleep(20 * time.Second)
		p.stop()
		planned := h.planned(h.redis.tick + 1)
		for slot := range ran {
			if !planned[slot] {
				t.Fatalf("was run and is not planned any more: %+v", slot)
			}
		}
		if a := h.audit(t); a.published != a.planned {
			t.Errorf("%+v", a)
		}
	})
}

// Slots are stated as missed, then Redis goes away before the tick has moved on; what
// changes meanwhile must not reach back to them.
func TestChangeDoesNotReachBackToWhatWasStated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		h.furnish(300, 10*time.Second)
		p := h.start(t.Context(), "a", true, 0)
		time.Sleep(20 * time.Second)
		down := func(is bool) { h.redis.set(func() { h.redis.down = is }) }
		down(true)
		time.Sleep(2 * time.Minute)
		h.results.mu.Lock()
		h.results.stored = func() { down(true) }
		h.results.mu.Unlock()
		down(false)
		time.Sleep(10 * time.Second)
		for id := int64(1); id <= 300; id++ {
			h.database.save(paused(id, 10*time.Second), false)
		}
		h.results.mu.Lock()
		if len(h.results.rows) == 0 {
			t.Error("nothing was stated")
		}
		h.results.stored = nil
		h.results.mu.Unlock()
		down(false)
		time.Sleep(time.Minute)
		p.stop()
		h.audit(t) // fails on what is missed and not planned
	})
}
