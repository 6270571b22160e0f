package rollup

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

const (
	hour = time.Hour
	day  = 24 * time.Hour

	// margin is longer than an insert takes from its mark to its rows, and than the clocks
	// of ClickHouse's nodes differ.
	margin = 2 * time.Minute
	ahead  = 2 * hour // the latest slot that can have a row
)

// plan is what a run has to do, by day, newest first.
type plan struct {
	closed time.Time // hours that ended by then had been published as complete
	days   []dayPlan
}

type dayPlan struct {
	start time.Time
	hours []time.Time // that were marked, newest first
	// ended says that the day is computed too, and all that it is of all targets: it has
	// ended since the last run.
	ended, all bool
}

// markedSince is from when on marks are work, when the last run that finished began at
// an instant (zero: none did). A clock that went back may have made any mark.
func markedSince(succeeded, now time.Time) time.Time {
	if succeeded.IsZero() || succeeded.After(now) {
		return time.Time{}
	}
	return succeeded.Add(-margin)
}

// planned lays out a run that began at an instant, of which the days from before on are
// done (zero: none).
func planned(succeeded, started, before time.Time, dirty []resultstore.DirtyHour) plan {
	p := plan{}
	days := map[time.Time]*dayPlan{}
	at := func(t time.Time) *dayPlan {
		start := t.Truncate(day)
		if days[start] == nil {
			days[start] = &dayPlan{start: start, ended: !start.Add(day + resultstore.CloseAfter).After(started)}
		}
		return days[start]
	}
	for _, d := range dirty {
		one := at(d.Hour)
		one.hours = append(one.hours, d.Hour)
	}
	if !succeeded.IsZero() && !succeeded.After(started) {
		p.closed = succeeded.Add(-resultstore.CloseAfter)
		last := started.Add(-resultstore.CloseAfter).Truncate(day)
		for end := last; end.Add(resultstore.CloseAfter).After(succeeded); end = end.Add(-day) {
			at(end.Add(-day)).all = true
		}
	}
	for start, one := range days {
		if before.IsZero() || start.Before(before) {
			slices.SortFunc(one.hours, func(a, b time.Time) int { return b.Compare(a) })
			p.days = append(p.days, *one)
		}
	}
	slices.SortFunc(p.days, func(a, b dayPlan) int { return b.start.Compare(a.start) })
	return p
}
