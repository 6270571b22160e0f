package deletion

import (
	"time"

	"github.com/probefleet/probefleet/internal/targetstore"
)

const (
	watchedLonger = 24 * time.Hour   // than results are kept: no later row is taken in
	lookEvery     = time.Hour        // while watched
	lookAgain     = 30 * time.Second // when there was something, or the deletion is not in force yet
	quiet         = 11 * time.Minute // after the last slot was published nothing of it is on the way: expiry, confirmation, settling; a check on demand has ended
	computing     = 6 * time.Minute  // longer than figures may take that are being computed from rows since removed
	answering     = 2 * time.Minute  // longer than an answer may take that was begun before the target was gone
)

const stepAnswers = targetstore.StepAnswers

// place is a table that is cleared by a step of its own, or the checks on demand.
type place struct {
	table  string
	source string // the table that its rows are computed from, at any time; "": they come with results, or not at all
}

var places = [...]place{
	{table: "results"}, {table: "results_latest"}, {table: "rollup_dirty"}, {table: "prints"},
	{table: "rollup_1h", source: "results"}, {table: "rollup_1d", source: "rollup_1h"}, {table: "corrections", source: "rollup_1h"},
	{table: targetstore.StepChecks},
}

// Steps are the names of all steps that a deletion has done when it is finished, beside
// telling probers.
func Steps() []string {
	names := []string{stepAnswers}
	for _, p := range places {
		names = append(names, p.table)
	}
	return names
}

// looks are the instants, after the target's last slot was published, at which an
// unfinished deletion is looked at. A check that was running when the target was
// deleted ends within half a minute; the look at 50 s removes its row.
var looks = [...]time.Duration{0, 30 * time.Second, 50 * time.Second, 2 * time.Minute, quiet}

// nextLook is when to look again after a look.
func nextLook(d targetstore.Deletion, at time.Time, clean, done bool) time.Time {
	if clean && done {
		return at.Add(lookEvery)
	}
	if !done && !d.Effective.IsZero() {
		for _, after := range looks {
			if next := ended(d).Add(after); next.After(at) {
				return next
			}
		}
	}
	return at.Add(lookAgain)
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
func over(o targetstore.Owed, at time.Time) bool {
	if o.Tombstoned.IsZero() || o.Effective.IsZero() || at.Before(ended(o.Deletion).Add(quiet)) {
		return false
	}
	if o.Source.Name == "" {
		return true
	}
	return !o.Source.Done.IsZero() && !o.Source.CleanSince.IsZero() && !at.Before(o.Source.CleanSince.Add(computing))
}
