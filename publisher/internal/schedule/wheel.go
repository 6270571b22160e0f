package schedule

import (
	"slices"
	"time"
	"unique"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Wheel holds the schedule in force at one second, and the changes still to come.
type Wheel struct {
	at      int64 // the second whose schedule is in force
	newest  int64 // the latest effective second among applied changes
	queue   []waiting
	rows    table
	rings   rings
	regions regionSet
	sets    sets
	ids     []int64 // scratch of Due
}

// New is an empty wheel standing at a second.
func New(at int64) *Wheel {
	return &Wheel{at: at, rings: rings{}, regions: regionSet{known: map[string]region{}}, sets: newSets()}
}

// Apply takes a change in: at once if its second has come, else when Advance
// reaches it. A change older than what is in force for its target is ignored,
// so applying a version twice is harmless.
func (w *Wheel) Apply(c Change) {
	if c.Effective > w.at {
		w.wait(waiting{effective: c.Effective, seq: c.Seq, target: &c})
		return
	}
	w.apply(c)
}

// ApplyRegion is Apply for a region.
func (w *Wheel) ApplyRegion(c RegionChange) {
	if c.Effective > w.at {
		w.wait(waiting{effective: c.Effective, seq: c.Seq, region: &c})
		return
	}
	w.applyRegion(c)
}

func (w *Wheel) wait(change waiting) {
	at, _ := slices.BinarySearchFunc(w.queue, change, waiting.compare)
	w.queue = slices.Insert(w.queue, at, change)
}

// Advance moves the wheel to a second, applying the changes on the way. It
// never goes back: see Rewind.
func (w *Wheel) Advance(second int64) {
	if second <= w.at {
		return
	}
	w.at = second
	n := 0
	for n < len(w.queue) && w.queue[n].effective <= second {
		if change := w.queue[n]; change.target != nil {
			w.apply(*change.target)
		} else {
			w.applyRegion(*change.region)
		}
		n++
	}
	w.queue = slices.Delete(w.queue, 0, n)
}

// Rewind moves the wheel back, which it can do only where no applied change
// would have to be undone. Otherwise it answers false and the caller loads anew.
func (w *Wheel) Rewind(second int64) bool {
	if second < w.newest {
		return false
	}
	w.at = second
	return true
}

// ResetTo moves the wheel to a second and keeps what is in force: the last
// resort of a publisher that must go back and cannot load anew.
func (w *Wheel) ResetTo(second int64) { w.at = second }

// NextChange is the second of the earliest change that waits; false when none does.
func (w *Wheel) NextChange() (second int64, waits bool) {
	if len(w.queue) == 0 {
		return 0, false
	}
	return w.queue[0].effective, true
}

// Newest is the latest effective second of all changes applied so far.
func (w *Wheel) Newest() int64 { return w.newest }

// At is the second the wheel stands at.
func (w *Wheel) At() int64 { return w.at }

func (w *Wheel) apply(c Change) {
	w.newest = max(w.newest, c.Effective)
	id := c.Schedule.TargetID
	row, found := w.rows.find(id)
	if found && row.seq >= c.Seq {
		return
	}
	if c.Deleted {
		if found {
			w.unplan(row)
			w.rows.remove(id)
		}
		return
	}
	if !found {
		row = w.rows.insert(id)
	}
	interval := uint32(c.Schedule.Interval / time.Second)
	if row.planned && (!c.Schedule.Active || row.interval != interval) {
		w.unplan(row)
	}
	row.seq, row.interval, row.regions = c.Seq, interval, w.sets.intern(c.Schedule.Regions)
	if c.Spec != nil {
		w.describe(row, *c.Spec)
	}
	if c.Schedule.Active && !row.planned && interval > 0 {
		w.rings.add(id, interval)
		row.planned = true
	}
}

func (w *Wheel) unplan(row *row) {
	if row.planned {
		w.rings.remove(row.id, row.interval)
		row.planned = false
	}
}

func (w *Wheel) applyRegion(c RegionChange) {
	w.newest = max(w.newest, c.Effective)
	if w.regions.apply(c) {
		w.sets.forget()
	}
}

// Describe sets the specification of a target the wheel already knows: the bulk
// load reads versions first and specifications second.
func (w *Wheel) Describe(id int64, spec Spec) {
	if row, found := w.rows.find(id); found {
		w.describe(row, spec)
	}
	for i := range w.queue {
		if c := w.queue[i].target; c != nil && c.Schedule.TargetID == id && c.Spec == nil {
			c.Spec = &spec
		}
	}
}

func (w *Wheel) describe(row *row, spec Spec) {
	if spec.Version < row.spec {
		return
	}
	row.spec, row.url, row.timeout = spec.Version, spec.URL, uint32(spec.Timeout/time.Millisecond)
	row.kind, row.text = spec.Kind, unique.Make(spec.Text)
}

// Due appends the checks of a second to dst, ascending by target id. The
// regions of a check are shared: do not change them. A target nobody has
// described yet, or that no region serves, is not due.
func (w *Wheel) Due(dst []uptime.Check, second int64) []uptime.Check {
	w.ids = w.ids[:0]
	lists := 0
	for interval, ring := range w.rings {
		if ids := ring.buckets[int32(second%int64(interval))]; len(ids) > 0 {
			w.ids = append(w.ids, ids...)
			lists++
		}
	}
	if lists > 1 {
		slices.Sort(w.ids)
	}
	dst = slices.Grow(dst, len(w.ids))
	for _, id := range w.ids {
		row, found := w.rows.find(id)
		if !found || row.url == "" {
			continue
		}
		if regions := w.sets.resolve(row.regions, w.regions.active); len(regions) > 0 {
			dst = append(dst, w.check(row, second, regions))
		}
	}
	return dst
}

func (w *Wheel) check(row *row, second int64, regions []string) uptime.Check {
	interval := time.Duration(row.interval) * time.Second
	at := time.Unix(second, int64(uptime.Phase(row.id, interval)%time.Second)).UTC()
	return uptime.Check{
		TargetID: row.id, ScheduledAt: at, Interval: interval, SpecVersion: row.spec, Regions: regions,
		Kind: row.kind, URL: row.url, Timeout: time.Duration(row.timeout) * time.Millisecond, Spec: row.specText(),
	}
}

// SlotIn is the slot of a target within a second, under the interval in force
// now. It is how an entry whose body is gone is named again.
func (w *Wheel) SlotIn(id, second int64) (uptime.Check, bool) {
	row, found := w.rows.find(id)
	if !found || row.interval == 0 {
		return uptime.Check{}, false
	}
	check := w.check(row, second, w.sets.resolve(row.regions, w.regions.active))
	due := uptime.NextSlot(id, check.Interval, time.Unix(second, 0))
	return check, due.Equal(check.ScheduledAt)
}

// Knows says whether a target exists and is not deleted.
func (w *Wheel) Knows(id int64) bool {
	_, found := w.rows.find(id)
	return found
}

// Regions are the active ones, sorted.
func (w *Wheel) Regions() []string { return slices.Clone(w.regions.active) }

// Retired gives the regions that are known and no longer active, with the
// second from which they are not.
func (w *Wheel) Retired() map[string]int64 {
	retired := map[string]int64{}
	for name, state := range w.regions.known {
		if !state.active {
			retired[name] = state.since
		}
	}
	return retired
}

// Targets is the number of targets that are planned at all.
func (w *Wheel) Targets() int {
	n := 0
	for _, ring := range w.rings {
		n += ring.count
	}
	return n
}

// Rate is the steady number of checks a second.
func (w *Wheel) Rate() float64 {
	rate := 0.0
	for interval, ring := range w.rings {
		rate += float64(ring.count) / float64(interval)
	}
	return rate
}

// Window is the number of entries that one expiry window holds: what waits in
// the stream when nobody reads it and nothing is refused.
func (w *Wheel) Window() int64 {
	entries := int64(0)
	for interval, ring := range w.rings {
		each := int64(uptime.Expiry(time.Duration(interval)*time.Second) / time.Second)
		entries += int64(ring.count) * ((each + int64(interval) - 1) / int64(interval))
	}
	return entries
}
