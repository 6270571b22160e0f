package resultstore

import (
	"fmt"
	"time"
)

// Tier names what an answer is made from.
type Tier string

// Tiers, from the finest to the coarsest.
const (
	TierRaw    Tier = "raw"    // results: percentiles are exact
	TierHourly Tier = "hourly" // rollups of hours: percentiles are within 2 %, as of days
	TierDaily  Tier = "daily"  // rollups of UTC days
)

const (
	// hourlyWindow is the longest window that is divided into steps narrower than a day
	// unless the caller wants them: hours of months are many rows.
	hourlyWindow = 45 * day
	// rawWindow is the longest one that is folded from results, whatever its steps.
	rawWindow = 100 * day
	// keptSlack is how much older than they are kept results may be: a page asks for all
	// that is kept, and the question takes its time. They are dropped by whole days, late.
	keptSlack = time.Hour
	// nicePoints is about as many points as a chart has room for.
	nicePoints = 300
)

// niceSteps are the steps that are taken when the caller does not choose, in seconds.
var niceSteps = [...]time.Duration{10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400}

// BoundError says which part of a question asks for too much, or for what is not kept.
type BoundError struct {
	Field   string // from, to or step
	Problem string // for people
}

func (e *BoundError) Error() string { return e.Field + ": " + e.Problem }

// keeps are the instants up to which history goes.
type keeps struct {
	raw, hourly time.Time // results, and hours, are kept from them on
	rolled      time.Time // rollups are good up to it
	corrected   time.Time // no hour that began then or later can have been corrected
}

// seriesPart is a stretch of time that one table answers for.
type seriesPart struct {
	tier     Tier
	from, to time.Time
}

// seriesPlan says what answers a question for a series.
type seriesPlan struct {
	tier     Tier
	step     time.Duration
	from, to time.Time // what the answer covers: all of the question, in whole hours or days of its tier
	parts    []seriesPart
	// corrected is where what may have been corrected ends: see keeps.
	corrected time.Time
}

// planSeries picks the step, unless the question has one, and the tier: results for short
// windows and for steps that are not whole hours, else hours, or days for steps of whole
// days. What is not rolled up yet is always from finer tiers.
func planSeries(q SeriesQuery, have keeps) (seriesPlan, error) {
	p := seriesPlan{tier: TierRaw, step: q.Step, from: ceilMilli(q.From), to: ceilMilli(q.To), corrected: have.corrected}
	length := p.to.Sub(p.from)
	kept := !p.from.Before(have.raw.Add(-keptSlack))
	if p.step == 0 {
		p.step = niceStep(length, kept, !p.from.Before(have.hourly))
	}
	switch {
	case p.step < time.Second || p.step%time.Second != 0:
		return p, &BoundError{"step", fmt.Sprintf("%v is not a number of whole seconds", p.step)}
	case length/p.step+2 > MaxPoints:
		return p, &BoundError{"step", fmt.Sprintf("this makes %d points; at most %d: take a wider step", length/p.step+2, MaxPoints)}
	case kept && length <= exactWindow:
	case p.step%day == 0:
		p.tier = TierDaily
	case p.step%hour == 0 && p.from.Before(have.hourly):
		return p, &BoundError{"step", "hours are kept since " + have.hourly.UTC().Format(time.RFC3339) + ": begin later, or take a step of whole days"}
	case p.step%hour == 0:
		p.tier = TierHourly
	case !kept:
		return p, &BoundError{"step", "results are kept since " + have.raw.UTC().Format(time.RFC3339) + ": begin later, or take a step of whole hours"}
	case length > rawWindow:
		return p, &BoundError{"step", fmt.Sprintf("more than %d days are given in whole hours: take such a step", rawWindow/day)}
	}
	p.divide(have)
	return p, nil
}

// divide names the tables. Rollups are good up to the whole hour that have.rolled is in.
func (p *seriesPlan) divide(have keeps) {
	rolled := have.rolled.Truncate(hour)
	switch p.tier {
	case TierRaw:
		p.parts = []seriesPart{{TierRaw, p.from, p.to}}
		return
	case TierHourly:
		p.from, p.to = p.from.Truncate(hour), ceilTo(p.to, hour)
	case TierDaily:
		p.from, p.to = p.from.Truncate(day), ceilTo(p.to, day)
	}
	at := p.from
	upTo := func(tier Tier, end time.Time) {
		if end = earlier(end, p.to); at.Before(end) {
			p.parts = append(p.parts, seriesPart{tier, at, end})
			at = end
		}
	}
	if today := rolled.Truncate(day); p.tier == TierDaily {
		upTo(TierDaily, today)
		if !today.Before(have.raw) {
			rolled = today // results of a day cost less than its hours and what they lack: one table, and no states
		}
	}
	upTo(TierHourly, rolled)
	upTo(TierRaw, p.to)
}

// niceStep is the narrowest one that makes no more points than a chart has room for, of
// what can be had of the window at little cost.
func niceStep(window time.Duration, resultsKept, hoursKept bool) time.Duration {
	least := time.Second
	switch {
	case window > hourlyWindow || !hoursKept:
		least = day
	case window > exactWindow || !resultsKept:
		least = hour
	}
	for _, step := range niceSteps {
		if step *= time.Second; step >= least && window <= step*nicePoints {
			return step
		}
	}
	return day
}
