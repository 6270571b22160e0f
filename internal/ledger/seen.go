package ledger

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	bucket      = int64(uptime.MinInterval / time.Millisecond) // ms: so one slot a bucket
	sliceLength = 60 * bucket                                  // so a target's slots fit into a word
)

// seen remembers which planned slots of a slice have a row: one word of bits per
// target and region, because within one version slots are at least MinInterval
// apart. Where versions change within the slice it keeps the slots themselves.
type seen struct {
	plan  *Plan
	slice span
	bits  []uint64
	exact map[uptime.Slot]struct{}
}

func newSeen(plan *Plan, slice span) *seen {
	return &seen{plan: plan, slice: slice, bits: make([]uint64, len(plan.targets)*len(plan.Regions)), exact: map[uptime.Slot]struct{}{}}
}

func (s *seen) mark(slot uptime.Slot) {
	at, known := s.plan.index[slot.TargetID]
	r, served := slices.BinarySearch(s.plan.Regions, slot.Region)
	ms := slot.ScheduledAt.UnixMilli()
	if !known || !served || ms < s.slice.from || ms >= s.slice.to {
		return
	}
	t := &s.plan.targets[at]
	if len(t.phases) != 1 {
		slot.ScheduledAt = slot.ScheduledAt.UTC()
		s.exact[slot] = struct{}{}
		return
	}
	if ph := t.phases[0]; ph.count(t.id, span{ms, ms + 1}) == 1 { // else nobody planned it
		s.bits[int(at)*len(s.plan.Regions)+r] |= 1 << ((ms - s.slice.from) / bucket)
	}
}

func (s *seen) has(at, region int, slot uptime.Slot) bool {
	if len(s.plan.targets[at].phases) != 1 {
		_, found := s.exact[slot]
		return found
	}
	return s.bits[at*len(s.plan.Regions)+region]&(1<<((slot.ScheduledAt.UnixMilli()-s.slice.from)/bucket)) != 0
}
