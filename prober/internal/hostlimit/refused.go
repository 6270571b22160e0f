package hostlimit

import "time"

// Cause is why a check got no place.
type Cause string

// Causes.
const (
	CauseExpired   Cause = "expired"    // no place came free in time
	CauseCrowded   Cause = "crowded"    // too many wait, and most of them for this host
	CauseLeftAlone Cause = "left_alone" // the host asked for it
)

// Refused is why a check cannot be run: nothing was sent to its host.
type Refused struct {
	Cause   Cause
	message string // one line, for people
}

func (r *Refused) Error() string { return r.message }

func tooLate() *Refused {
	return &Refused{CauseExpired, "other checks of this host took so long that this one could not begin before it expired"}
}

func crowded() *Refused {
	return &Refused{CauseCrowded, "too many checks of this host are waiting for their turn already"}
}

func leftAlone(until time.Time) *Refused {
	return &Refused{CauseLeftAlone, "the host answered 429 and asked to be left alone until " + until.UTC().Format(time.RFC3339)}
}
