package heartbeat

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

const (
	slotsStepped = 5000 // of one window; what comes after them is taken to be like them
	mostChanges  = 300  // of the interval: each is a cut of whatever is counted
)

// Intervals say for how long a slot in a window stands: until the next one. Those of one
// quarter of an hour share their mean, and where that would change too often those of an
// hour, of a UTC day, or of the window do.
func (s *Schedule) Intervals(window availability.Span) availability.Intervals {
	if s.period > 0 {
		return availability.NewIntervals(availability.Interval{From: window.From, Every: s.period})
	}
	at := s.slot(window.From.Add(-1))
	if at.IsZero() {
		return nil
	}
	var slots []availability.Interval
	for len(slots) < slotsStepped && (len(slots) == 0 || at.Before(window.To)) {
		next := s.slot(at)
		if next.IsZero() {
			break
		}
		slots = append(slots, availability.Interval{From: at, Every: next.Sub(at)})
		at = next
	}
	if len(slots) == 0 {
		return nil
	}
	if at.Before(window.To) { // days differ little: whole ones
		whole := at.Truncate(24 * time.Hour)
		if n := slices.IndexFunc(slots, func(i availability.Interval) bool { return !i.From.Before(whole) }); n > 0 {
			slots = slots[:n]
		}
	} else {
		for _, grain := range []time.Duration{availability.Quarter, time.Hour, 24 * time.Hour} {
			if all := means(slots, func(t time.Time) time.Time { return t.Truncate(grain) }); len(all) <= mostChanges {
				return all
			}
		}
	}
	return means(slots, func(time.Time) time.Time { return slots[0].From })
}

// means are the mean intervals of slots that belong together.
func means(slots []availability.Interval, group func(time.Time) time.Time) availability.Intervals {
	var all []availability.Interval
	var sum, n time.Duration
	for i, slot := range slots {
		sum, n = sum+slot.Every, n+1
		if from := group(slot.From); i+1 == len(slots) || !group(slots[i+1].From).Equal(from) {
			all = append(all, availability.Interval{From: from, Every: (sum / n).Round(time.Millisecond)})
			sum, n = 0, 0
		}
	}
	return availability.NewIntervals(all...)
}
