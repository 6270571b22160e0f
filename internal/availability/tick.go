package availability

import "time"

// State is what a stretch of time shows as, in one of a row of ticks or alone.
type State string

// States, the worst first.
const (
	Down     State = "down"
	Degraded State = "degraded"
	Unknown  State = "unknown"
	Up       State = "up"
	NoData   State = "no_data"
)

// State is the tick of a stretch such as a day, by these rules in this order:
//
//   - no_data: nothing was due in it, or all of it was maintenance;
//   - down: the target as a whole was down at least once, however short;
//   - degraded: it never was, but at times it was slow or some region could not reach it;
//   - unknown: less than half of the planned slots were measured;
//   - up: it worked whenever it was looked at, and it was looked at.
//
// The figures are those of the target as a whole, or of one region.
func (f Figures) State() State {
	switch {
	case f.Planned() == 0:
		return NoData
	case f.Down > 0:
		return Down
	case f.Degraded > 0:
		return Degraded
	case 2*f.Measured() < f.Planned():
		return Unknown
	}
	return Up
}

// AtAge is what a state that was true a while ago may still be shown as. Past the
// limit nothing claims any more that the target works; that it was down stays.
func (s State) AtAge(age, limit time.Duration) State {
	if age > limit && (s == Up || s == Degraded) {
		return Unknown
	}
	return s
}
