package cycle

import (
	"context"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/uptime"
)

// audit is the equation, from the definition of a version in force and not from
// the code under test: every planned slot of the window is in the stream, or is a
// missed row, or lies in a stated gap; nothing else is there.
type audit struct {
	planned, published, missed, inGap, unexplained, unplanned, both int
	reasons                                                         map[uptime.Reason]int
}

func (h *house) audit(t *testing.T) audit {
	t.Helper()
	to := h.redis.tick + 1
	planned := h.planned(to)
	a := audit{planned: len(planned), reasons: map[uptime.Reason]int{}}
	for slot := range planned {
		row, missed := h.results.rows[slot]
		published := h.redis.added[slot] > 0
		switch {
		case published && missed:
			a.both++
		case published:
			a.published++
		case missed:
			a.missed++
			a.reasons[row.Reason]++
		case h.inGap(slot.ScheduledAt):
			a.inGap++
		default:
			a.unexplained++
			if a.unexplained <= 3 {
				t.Errorf("unexplained: %+v", slot)
			}
		}
	}
	gone := map[int64]bool{}
	for _, v := range h.database.versions {
		gone[v.Schedule.TargetID] = v.Deleted
	}
	for slot := range h.redis.added {
		if !planned[slot] && !gone[slot.TargetID] {
			a.unplanned++
			if a.unplanned <= 3 {
				t.Errorf("published and not planned: %+v", slot)
			}
		}
	}
	for slot := range h.results.rows {
		if !planned[slot] && !gone[slot.TargetID] {
			a.unplanned++
			t.Errorf("missed and not planned: %+v", slot)
		}
	}
	if h.redis.twice > 0 || h.redis.unordered > 0 || h.redis.noGroup > 0 {
		t.Errorf("%d entries added twice, %d out of order, %d before their group", h.redis.twice, h.redis.unordered, h.redis.noGroup)
	}
	return a
}

// sweep closes the ledger, a good while later.
func (h *house) sweep(t *testing.T) {
	t.Helper()
	sweeper := ledger.NewSweeper(h.database, h.database, h, h.results, nil, ledger.DefaultSettle)
	if _, err := sweeper.Sweep(t.Context(), time.Now().Add(time.Hour), time.Unix(h.redis.tick+1, 0)); err != nil {
		t.Error(err)
	}
}

// SlotsSeen takes for granted that what is in the stream gets a row.
func (h *house) SlotsSeen(_ context.Context, from, to time.Time, fn func(uptime.Slot) error) error {
	within := func(slot uptime.Slot) bool { return !slot.ScheduledAt.Before(from) && slot.ScheduledAt.Before(to) }
	for slot := range h.redis.added {
		if within(slot) {
			if err := fn(slot); err != nil {
				return err
			}
		}
	}
	for slot := range h.results.rows {
		if within(slot) {
			if err := fn(slot); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *house) inGap(at time.Time) bool {
	for _, g := range h.database.gaps {
		if !at.Before(g.From) && at.Before(g.To) {
			return true
		}
	}
	return false
}

// planned lists all slots before a second: for each second and target the version
// with the highest sequence effective by then.
func (h *house) planned(to int64) map[uptime.Slot]bool {
	slots := map[uptime.Slot]bool{}
	type state struct {
		interval time.Duration
		regions  []string
		active   bool
		from     int64
	}
	history, gone := map[int64][]state{}, map[int64]bool{}
	begin := to
	for _, v := range h.database.versions {
		id := v.Schedule.TargetID
		if gone[id] = v.Deleted; !v.EffectiveFrom.IsZero() {
			history[id] = append(history[id], state{v.Schedule.Interval, v.Schedule.Regions, v.Schedule.Active, v.EffectiveFrom.Unix()})
			begin = min(begin, v.EffectiveFrom.Unix())
		}
	}
	for second := begin; second < to; second++ {
		on := map[string]bool{}
		for _, r := range h.database.regions {
			if !r.EffectiveFrom.IsZero() && r.EffectiveFrom.Unix() <= second {
				on[r.Region] = r.Active
			}
		}
		var active []string
		for name, yes := range on {
			if yes {
				active = append(active, name)
			}
		}
		for id, states := range history {
			var force state
			for _, s := range states {
				if s.from <= second {
					force = s
				}
			}
			if gone[id] || !force.active {
				continue
			}
			at := uptime.NextSlot(id, force.interval, time.Unix(second, 0))
			if at.Unix() != second {
				continue
			}
			for _, region := range uptime.ResolveRegions(force.regions, active) {
				slots[uptime.Slot{TargetID: id, Region: region, ScheduledAt: at}] = true
			}
		}
	}
	return slots
}

// furnish gives the house regions and targets with a few intervals.
func (h *house) furnish(targets int64, intervals ...time.Duration) {
	h.database.setRegion("eu", true)
	h.database.setRegion("us", true)
	for id := int64(1); id <= targets; id++ {
		h.database.save(target(id, intervals[int(id)%len(intervals)]), false)
	}
}

func target(id int64, every time.Duration, regions ...string) uptime.Target {
	return uptime.Target{ID: id, URL: "http://lab/", Kind: uptime.KindHTTP, Interval: every, Timeout: time.Second, Regions: regions, Active: true}
}
