package consumer

import (
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// maxDeliveries is how often an entry is tried: once among all, once among few, three
// times alone. Whoever is there at the next delivery was not killed by its neighbours.
const maxDeliveries = 5

// action is what becomes of a delivered entry.
type action uint8

const (
	actRun     action = iota // probe it at its slot
	actSuspect               // probe it at its slot, among few
	actAlone                 // probe it at its slot, with no other of these in hand
	actRecord                // no probe: its row says why
	actSettle                // no probe and no row
	actFail                  // a dead letter, after its row if the slot is known
)

// ruling is the admission's answer for one entry.
type ruling struct {
	action action
	row    uptime.Result // for actRecord, and for actFail when the slot is known
	dead   string        // for actFail: the reason
	remark string        // log it
}

// admit decides what becomes of an entry. It does no I/O.
func admit(e checkstream.Entry, o *Options, now time.Time, slots *slotMemory) ruling {
	switch {
	case e.Tombstoned:
		return ruling{action: actSettle}
	case e.Gone:
		at, known := slots.at(e)
		if !known { // its exact slot is not in the id: the ledger's sweep will state it
			return ruling{action: actSettle, remark: "entry was trimmed before it was settled, its slot is unknown here"}
		}
		gone := uptime.Check{TargetID: e.TargetID, ScheduledAt: at}
		return ruling{action: actRecord, row: gone.Missed(o.Region, uptime.ReasonTrimmed, o.Name), remark: "entry was trimmed before it was settled"}
	case e.Err != nil:
		r := ruling{action: actFail, dead: "malformed: " + e.Err.Error(), remark: "entry is malformed"}
		if at, known := slots.at(e); known {
			r.row = deadRow(o, uptime.Check{TargetID: e.TargetID, ScheduledAt: at}, "the check could not be read")
		}
		return r
	}
	if !slices.Contains(e.Check.Regions, o.Region) {
		slots.forget(e.TargetID)
		return ruling{action: actSettle}
	}
	slots.remember(e.Check)
	switch {
	case !now.Before(e.Check.ExpiresAt()):
		return ruling{action: actRecord, row: e.Check.Missed(o.Region, uptime.ReasonExpired, o.Name)}
	case e.Deliveries > maxDeliveries:
		row := deadRow(o, e.Check, "given up after several deliveries that nobody finished")
		return ruling{action: actFail, row: row, dead: "too many deliveries", remark: "entry was delivered too often"}
	case e.Deliveries > 2:
		return ruling{action: actAlone}
	case e.Deliveries > 1:
		return ruling{action: actSuspect}
	}
	return ruling{action: actRun}
}

// deadRow is what the slot of a dead letter gets.
func deadRow(o *Options, check uptime.Check, why string) uptime.Result {
	return uptime.Result{
		TargetID: check.TargetID, Region: o.Region, ScheduledAt: check.ScheduledAt, Status: uptime.StatusUnknown, Reason: uptime.ReasonDeadLetter,
		Message: why, Prober: o.Name, SpecVersion: check.SpecVersion,
	}
}

// slotMemory knows the interval of the region's targets seen lately, to name the slot of an
// entry of which only the id is left.
type slotMemory struct {
	mu        sync.Mutex
	intervals map[int64]time.Duration
}

const maxRemembered = 1_000_000

func (m *slotMemory) remember(check uptime.Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.intervals == nil || len(m.intervals) >= maxRemembered {
		m.intervals = make(map[int64]time.Duration)
	}
	m.intervals[check.TargetID] = check.Interval
}

// forget is for a target that this region does not check: it is owed no row here.
func (m *slotMemory) forget(targetID int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.intervals, targetID)
}

// at finds the slot that lies in the entry's second.
func (m *slotMemory) at(e checkstream.Entry) (time.Time, bool) {
	m.mu.Lock()
	interval := m.intervals[e.TargetID]
	m.mu.Unlock()
	if interval <= 0 {
		return time.Time{}, false
	}
	second := time.Unix(e.Second, 0)
	slot := uptime.NextSlot(e.TargetID, interval, second)
	return slot, slot.Before(second.Add(time.Second))
}
