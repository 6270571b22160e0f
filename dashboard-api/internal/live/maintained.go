package live

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	// barSlots is how many slots of a target the bar of a page has.
	barSlots = 90
	// rarest is a longer interval than most: jobs may ping once in years, and 90 of those are more than a Duration holds.
	rarest = 366 * 24 * time.Hour
)

// Maintained says when a target is maintained: as far back as its bar reaches, and days ahead, so
// that windows begin and end by themselves while nobody can be asked.
type Maintained func(id int64, back time.Duration) []verdict.Span

// Stretch is a time in which a target was maintained, or is.
type Stretch struct {
	From time.Time  `json:"from"`
	To   *time.Time `json:"to" doc:"what is from then on is after it; null: it has no end yet"`
}

// back is how far the bar of a target reaches that was never paused.
func back(interval time.Duration) time.Duration { return barSlots * min(interval, rarest) }

// SetMaintenance states when targets are maintained.
func (h *Hub) SetMaintenance(of Maintained) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.maintained = of
	now := h.now()
	for _, e := range h.entries {
		before := e.around.Maintenance
		if e.surround(h); slices.Equal(before, e.around.Maintenance) {
			continue
		}
		if e.fold(now) || !slices.Equal(e.within(before, now), e.within(e.around.Maintenance, now)) {
			h.mark(e)
		}
	}
}

// within leaves out the spans that no slot of its bar lies in. That has more slots than are kept
// here, so it begins before these, by its whole length at most: no result is asked for its own.
func (e *entry) within(spans []verdict.Span, now time.Time) (found []verdict.Span) {
	if len(spans) == 0 {
		return nil
	}
	first := now
	if len(e.ticks) > 0 && e.ticks[0].At.Before(now) {
		first = e.ticks[0].At
	}
	begins := first.Add(-back(e.target.Interval))
	for _, s := range spans {
		if !s.From.After(now) && (s.To.IsZero() || s.To.After(begins)) {
			found = append(found, s)
		}
	}
	return found
}

// stretches are when it was maintained, or is, as far as its bar shows it: what was measured then
// does not count, while it goes on and ever after.
func (e *entry) stretches(now time.Time) (all []Stretch) {
	for _, s := range e.within(e.around.Maintenance, now) {
		all = append(all, Stretch{s.From.UTC(), optional(s.To)})
	}
	return all
}
