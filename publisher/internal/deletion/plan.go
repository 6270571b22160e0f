package deletion

import (
	"time"

	"github.com/probefleet/probefleet/internal/targetstore"
)

const (
	watched   = 31 * 24 * time.Hour // a day longer than results are kept
	lookEvery = time.Hour           // while watched
	lookAgain = 30 * time.Second    // when there was something, or the deletion is not in force yet
	quiet     = 11 * time.Minute    // after the last slot was published nothing of it is on the way: expiry, confirmation, settling
)

// looks are the instants, after the target's last slot was published, at which an
// unfinished deletion is looked at. A check that was running when the target was
// deleted ends within half a minute; the look at 50 s removes its row.
var looks = [...]time.Duration{0, 30 * time.Second, 50 * time.Second, 2 * time.Minute, quiet}

// nextLook is when an unfinished deletion is to be looked at; zero means never yet.
func nextLook(d targetstore.Deletion) time.Time {
	if d.Erased.IsZero() {
		return time.Time{}
	}
	if !d.Effective.IsZero() {
		for _, after := range looks {
			if at := ended(d).Add(after); at.After(d.Erased) {
				return at
			}
		}
	}
	return d.Erased.Add(lookAgain)
}

// ended is when the last slot may have been published.
func ended(d targetstore.Deletion) time.Time {
	if d.Effective.After(d.Requested) {
		return d.Effective
	}
	return d.Requested
}

// over says that a look at an instant sees everything that can come, but for what
// lies on a disk and will ask for the tombstone.
func over(d targetstore.Deletion, at time.Time) bool {
	return !d.Tombstoned.IsZero() && !d.Effective.IsZero() && !at.Before(ended(d).Add(quiet))
}
