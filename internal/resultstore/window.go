package resultstore

import "time"

// KeptSince is the instant from which on results are there, as far as is known.
func (s *Store) KeptSince() time.Time { return s.keeps().raw }

// FiguresSince is the first day of which figures are surely there, as far as is known: those
// of older ones may have been dropped, and nothing shows where.
func (s *Store) FiguresSince() time.Time {
	return ceilTo(s.now().Add(-s.LastKept().Daily), day).UTC()
}

// keptWindow is the part of [from, to) of which results are kept, to the millisecond. With
// none it is a *BoundError.
func (s *Store) keptWindow(from, to time.Time) (time.Time, time.Time, error) {
	oldest := s.keeps().raw
	if !to.After(oldest) {
		return from, to, &BoundError{"to", "results are kept since " + oldest.UTC().Format(time.RFC3339) + ": nothing is kept of this range"}
	}
	if !from.Before(to) {
		return from, to, &BoundError{"from", "from must be before to"}
	}
	return ceilMilli(later(from, oldest)).UTC(), ceilMilli(to).UTC(), nil
}
