package availability

import (
	"slices"
	"time"
)

// Span is a stretch of time [From, To).
type Span struct{ From, To time.Time }

// Empty says that no instant is in it.
func (s Span) Empty() bool { return !s.From.Before(s.To) }

// Within is what both have in common.
func (s Span) Within(o Span) Span {
	if o.From.After(s.From) {
		s.From = o.From
	}
	if o.To.Before(s.To) {
		s.To = o.To
	}
	return s
}

// Holds says whether all of o, which is not empty, is in it.
func (s Span) Holds(o Span) bool { return !o.From.Before(s.From) && !o.To.After(s.To) }

// Touches says whether any of o is in it.
func (s Span) Touches(o Span) bool { return !s.Within(o).Empty() }

// Spans are stretches in ascending order that neither overlap nor touch. Make them
// with NewSpans.
type Spans []Span

// NewSpans orders stretches and merges those that overlap or touch.
func NewSpans(all ...Span) Spans {
	sorted := slices.DeleteFunc(slices.Clone(all), Span.Empty)
	slices.SortFunc(sorted, func(a, b Span) int { return a.From.Compare(b.From) })
	var merged Spans
	for _, s := range sorted {
		if n := len(merged); n > 0 && !s.From.After(merged[n-1].To) {
			if s.To.After(merged[n-1].To) {
				merged[n-1].To = s.To
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// before is the number of spans that begin at or before an instant.
func (all Spans) before(t time.Time) int {
	n, found := slices.BinarySearchFunc(all, t, func(s Span, t time.Time) int { return s.From.Compare(t) })
	if found {
		n++
	}
	return n
}

// share says how much of s the spans hold.
func (all Spans) share(s Span) share {
	for _, one := range all[max(0, all.before(s.From)-1):] {
		switch {
		case !one.From.Before(s.To):
			return none
		case one.Holds(s):
			return whole
		case one.Touches(s):
			return part
		}
	}
	return none
}

// share is how much of one stretch lies in others.
type share int

const (
	none share = iota
	part
	whole
)
