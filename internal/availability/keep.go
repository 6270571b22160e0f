package availability

import "time"

// Settle is how long after its end an hour may still fill up without that being a
// correction: rows take a while to arrive, and the sweep states the missing ones.
const Settle = 10 * time.Minute

// How long answers may be kept.
const (
	keepOpen   = 5 * time.Second
	keepClosed = time.Hour
)

// Closed says whether, at now, every hour with slots before to has closed: what changes
// from then on is a correction.
func Closed(to, now time.Time) bool {
	return !to.After(now.Add(-Settle).Truncate(time.Hour))
}

// Keep is how long, at now, an answer about slots before to may be given again
// without asking: seconds while any hour of it still fills up, an hour when all have
// closed. A correction ends it early.
func Keep(to, now time.Time) time.Duration {
	if Closed(to, now) {
		return keepClosed
	}
	return keepOpen
}
