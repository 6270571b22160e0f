package ledger

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

var epoch = time.Unix(1_800_000_000, 0).UTC()

// world is the stores of a test: versions, gaps, rows.
type world struct {
	versions []schedulestore.Version
	regions  []schedulestore.RegionVersion
	gaps     []schedulestore.Gap
	rows     map[uptime.Slot]uptime.Result
	swept    time.Time
	refuse   bool // rows do not become durable
}

func newWorld() *world { return &world{rows: map[uptime.Slot]uptime.Result{}} }

func (w *world) EachVersion(_ context.Context, after int64, fn func(schedulestore.Version) error) error {
	for _, v := range w.versions {
		if v.Seq > after {
			if err := fn(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) RegionVersions(_ context.Context, after int64) ([]schedulestore.RegionVersion, error) {
	return slices.DeleteFunc(slices.Clone(w.regions), func(v schedulestore.RegionVersion) bool { return v.Seq <= after }), nil
}

func (w *world) SweptTo(context.Context) (time.Time, error)      { return w.swept, nil }
func (w *world) SetSweptTo(_ context.Context, t time.Time) error { w.swept = t; return nil }
func (w *world) Gaps(_ context.Context, from, to time.Time) ([]schedulestore.Gap, error) {
	return slices.DeleteFunc(slices.Clone(w.gaps), func(g schedulestore.Gap) bool { return !g.From.Before(to) || !g.To.After(from) }), nil
}

func (w *world) SlotsSeen(_ context.Context, from, to time.Time, fn func(uptime.Slot) error) error {
	for slot := range w.rows {
		if !slot.ScheduledAt.Before(from) && slot.ScheduledAt.Before(to) {
			if err := fn(slot); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) Outcomes(_ context.Context, from, to time.Time, fn func(int64, string, uptime.Reason, [6]uint64) error) error {
	type key struct {
		id     int64
		region string
		reason uptime.Reason
	}
	counts := map[key][6]uint64{}
	for slot, r := range w.rows {
		if !slot.ScheduledAt.Before(from) && slot.ScheduledAt.Before(to) {
			k := key{slot.TargetID, slot.Region, r.Reason}
			c := counts[k]
			c[r.Status]++
			counts[k] = c
		}
	}
	for k, c := range counts {
		if err := fn(k.id, k.region, k.reason, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) RecordWait(_ context.Context, rows []uptime.Result) error {
	if w.refuse {
		return errors.New("store is away")
	}
	for _, r := range rows {
		if _, there := w.rows[r.Slot()]; there {
			return errors.New("a row was there already")
		}
		w.rows[r.Slot()] = r
	}
	return nil
}

func (w *world) up(slot uptime.Slot) {
	w.rows[slot] = uptime.Result{TargetID: slot.TargetID, Region: slot.Region, ScheduledAt: slot.ScheduledAt, Status: uptime.StatusUp}
}

// force is the definition: the version with the highest seq effective by then.
func (w *world) force(id int64, at time.Time) (found schedulestore.Version, ok bool) {
	for _, v := range w.versions {
		if v.Schedule.TargetID == id && !v.Deleted && !v.EffectiveFrom.IsZero() && !v.EffectiveFrom.After(at) {
			found, ok = v, true
		}
	}
	return found, ok && found.Schedule.Active
}

func (w *world) activeRegions(at time.Time) (active []string) {
	state := map[string]bool{}
	for _, v := range w.regions {
		if !v.EffectiveFrom.IsZero() && !v.EffectiveFrom.After(at) {
			state[v.Region] = v.Active
		}
	}
	for name, on := range state {
		if on {
			active = append(active, name)
		}
	}
	return active
}

// planned lists every slot of a window by brute force: each millisecond's
// second is asked for each target.
func (w *world) planned(from, to time.Time) map[uptime.Slot]bool {
	slots := map[uptime.Slot]bool{}
	gone, ids := map[int64]bool{}, map[int64]bool{}
	for _, v := range w.versions {
		gone[v.Schedule.TargetID], ids[v.Schedule.TargetID] = v.Deleted, true
	}
	for id := range ids {
		if gone[id] {
			continue
		}
		for at := from.Truncate(time.Second); at.Before(to); at = at.Add(time.Second) {
			v, on := w.force(id, at)
			if !on {
				continue
			}
			slot := uptime.NextSlot(id, v.Schedule.Interval, at)
			if slot.Before(from) || !slot.Before(to) || !slot.Before(at.Add(time.Second)) {
				continue
			}
			for _, region := range uptime.ResolveRegions(v.Schedule.Regions, w.activeRegions(at)) {
				slots[uptime.Slot{TargetID: id, Region: region, ScheduledAt: slot}] = true
			}
		}
	}
	return slots
}

// randomWorld has a few targets whose schedules and regions change all the time.
func randomWorld(rng *rand.Rand, within time.Duration) *world {
	w := newWorld()
	names := []string{"ap", "eu", "us"}
	gone := map[int64]bool{} // an id is never used again
	for seq := int64(1); seq <= 40; seq++ {
		effective := epoch.Add(time.Duration(rng.Int64N(int64(within/time.Second))) * time.Second)
		if rng.IntN(10) == 0 {
			effective = time.Time{}
		}
		if rng.IntN(4) == 0 || seq == 1 {
			w.regions = append(w.regions, schedulestore.RegionVersion{Seq: seq, Region: names[rng.IntN(3)], Active: rng.IntN(3) > 0, EffectiveFrom: effective})
			continue
		}
		v := schedulestore.Version{Seq: seq, EffectiveFrom: effective, Deleted: rng.IntN(30) == 0}
		id := 1 + rng.Int64N(6)
		if gone[id] {
			continue
		}
		gone[id] = v.Deleted
		v.Schedule = uptime.Schedule{TargetID: id, Interval: uptime.MinInterval + time.Duration(rng.IntN(80))*time.Second, Active: !v.Deleted && rng.IntN(4) > 0}
		if rng.IntN(2) == 0 {
			v.Schedule.Regions = []string{"eu", "us"}[rng.IntN(2):]
		}
		w.versions = append(w.versions, v)
	}
	return w
}
