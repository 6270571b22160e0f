package maintenance

import (
	"slices"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/probefleet/probefleet/internal/verdict"
)

// span is one window.
type span struct{ from, to time.Time }

func (s span) empty() bool { return !s.from.Before(s.to) }

// span is the window that begins at a time on the wall.
func (s *Schedule) span(wall time.Time) span {
	from, _ := instants(wall, s.zone)
	_, to := instants(wall.Add(s.long), s.zone)
	return span{from, to}
}

// starts are the beginnings on the wall in [from, to], at most so many; 0: all.
func (s *Schedule) starts(from, to time.Time, most int) (all []time.Time) {
	take := func(t time.Time) (enough bool) {
		if !t.Before(from) && !t.After(to) {
			all = append(all, t)
		}
		return most > 0 && len(all) >= most
	}
	if take(s.start) || s.rule == nil {
		return all
	}
	bounded := *s.rule
	if bounded.Until.IsZero() || bounded.Until.After(to) {
		bounded.Until = to // never further than asked
	}
	if bounded.Until.Before(s.start) {
		return all
	}
	rule, err := rrule.NewRRule(bounded)
	if err != nil {
		return all // New has judged it
	}
	next := rule.Iterator()
	for t, more := next(); more; t, more = next() {
		if !t.Equal(s.start) && take(t) {
			return all
		}
	}
	return all
}

// Between gives the windows, or parts of windows, in [from, to), in order; those that
// overlap or touch are one.
func (s *Schedule) Between(from, to time.Time) []verdict.Span {
	return merge(s.within(from, to))
}

func (s *Schedule) within(from, to time.Time) (all []span) {
	for _, wall := range s.starts(from.UTC().Add(-s.long-furthest), to.UTC().Add(furthest), 0) {
		one := s.span(wall)
		if one.from.Before(from) {
			one.from = from.UTC()
		}
		if one.to.After(to) {
			one.to = to.UTC()
		}
		if !one.empty() {
			all = append(all, one)
		}
	}
	return all
}

func merge(all []span) (merged []verdict.Span) {
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	for _, one := range all {
		if n := len(merged); n > 0 && !one.from.After(merged[n-1].To) {
			if one.to.After(merged[n-1].To) {
				merged[n-1].To = one.to
			}
			continue
		}
		merged = append(merged, verdict.Span{From: one.from, To: one.to})
	}
	return merged
}

// Active says whether it holds at an instant.
func (s *Schedule) Active(at time.Time) bool {
	return len(s.within(at, at.Add(time.Nanosecond))) > 0
}

// At is the window that holds at an instant, whole; of several the one that holds longest.
func (s *Schedule) At(at time.Time) (holds verdict.Span, found bool) {
	for _, wall := range s.starts(at.UTC().Add(-s.long-furthest), at.UTC().Add(furthest), 0) {
		if one := s.span(wall); !one.from.After(at) && one.to.After(at) && (!found || one.to.After(holds.To)) {
			holds, found = verdict.Span{From: one.from, To: one.to}, true
		}
	}
	return holds, found
}

// Next is the first window that begins at or after an instant; false when none does within
// ten years.
func (s *Schedule) Next(at time.Time) (verdict.Span, bool) {
	for ahead := 32 * 24 * time.Hour; ; ahead *= 8 {
		ahead = min(ahead, lookAhead)
		for _, wall := range s.starts(at.UTC().Add(-furthest), at.UTC().Add(ahead), 0) {
			if one := s.span(wall); !one.from.Before(at) && !one.empty() {
				return verdict.Span{From: one.from, To: one.to}, true
			}
		}
		if ahead == lookAhead {
			return verdict.Span{}, false
		}
	}
}

// Begins is when it holds for the first time.
func (s *Schedule) Begins() time.Time { return s.span(s.start).from }
