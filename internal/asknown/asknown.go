// Package asknown tells how a target was as it was known at an instant: from rows that had come
// by then, by the rules that judge it live (package verdict). It is pure: no clock, no I/O.
//
// A row is known from the instant its revision names, at which who measured told it. Three
// things are not told by a row, and are never guessed:
//
//   - what a row said before a later one of the same slot took its place, once the store has
//     dropped it: then the slot is one that was not known;
//   - when a sweep explained a slot, or a ping was missed: not before it could have been, so it
//     is known from then on;
//   - how a target was judged while rows of it are lost that counted then, or where results in
//     a row count, of which older ones than are looked at may matter. Where an incident was
//     open, what was decided stands.
package asknown

import (
	"cmp"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// MostSlots is how many of the newest slots are told.
const MostSlots = 90

// sweptAfter is how long after the expiry of a slot it may be swept, at the earliest.
const sweptAfter = 2 * time.Minute

// SettledAfter is how long after a slot it is told what it came to, whatever went wrong.
func SettledAfter(interval time.Duration) time.Duration {
	return uptime.Expiry(interval) + sweptAfter
}

// Row is the row of a slot as it was at an instant.
type Row struct {
	uptime.Result
	Known   bool      // there was one; else the result is the slot alone
	LaterAt time.Time // when the next one of the slot came; zero: none has
}

// Incident is what had been decided of a target, and not been taken back.
type Incident struct {
	State verdict.State
	Since time.Time
	Why   string
	// Because is what it says.
	Because []verdict.Clause
}

// Past is what is kept of a target for an instant.
type Past struct {
	At       time.Time
	From     time.Time // rows of slots from then on are given; zero: all there are
	TargetID int64
	Kind     uptime.Kind
	Born     bool               // the target was made after From: there was nothing before
	Rules    verdict.Rules      // as they were
	Earlier  []Earlier          // what they had been since From, the oldest first; nil: the same
	Around   verdict.Conditions // as it was known
	Learnt   []time.Time        // when each of Around.Blind came to be known; nil: when it began
	Grace    time.Duration      // how late a heartbeat's ping may be
	PausedAt time.Time          // when it was paused; zero: it was not
	Rows     []Row              // of slots up to the instant
	Older    []Row              // of slots before From, if any: the last that were measured
	Looks    []uptime.Look      // of regions that were asked to look again
	Incident *Incident          // open by then; nil: none
}

// Earlier is what a target was judged by before.
type Earlier struct {
	Until time.Time
	verdict.Rules
}

// Told is how the target was.
type Told struct {
	verdict.Verdict
	Decided bool    // by the incident: rows that counted then are not kept, or results in a row count
	Lost    bool    // rows that may have counted then are not kept
	Regions []Row   // the newest measurement of each region that checked it
	Slots   [][]Row // at most MostSlots, the oldest first, by region
}

// Fold gives how a target was.
func Fold(p Past) Told {
	var t Told
	rows := make([]Row, 0, len(p.Rows))
	for i := range p.Rows {
		t.Lost = t.Lost || p.lost(&p.Rows[i])
		rows = append(rows, p.asOf(p.Rows[i]))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(a.ScheduledAt.Compare(b.ScheduledAt), cmp.Compare(a.Region, b.Region))
	})
	t.Slots = slots(rows)
	var seen []evidence
	for i := range p.Older {
		rows = append(rows, p.asOf(p.Older[i]))
	}
	for _, r := range rows {
		if r.Known && r.Status.Measured() && !r.Late {
			o := verdict.Observed(&r.Result)
			o.Said = r.Said(p.Kind)
			seen = append(seen, evidence{r, o})
		}
	}
	for i := range p.Looks {
		l := &p.Looks[i]
		o := verdict.Confirmed(l)
		r := Row{Known: true, Result: uptime.Result{
			TargetID: p.TargetID, Region: l.Region, ScheduledAt: o.ScheduledAt, CheckedAt: o.CheckedAt, Status: l.Status, Failure: l.Failure, HTTPStatus: l.HTTPStatus, TotalUS: l.TotalUS,
			IngestedAt: l.CheckedAt.Add(time.Duration(l.TotalUS) * time.Microsecond),
		}}
		if o.Status.Measured() && !r.IngestedAt.After(p.At) {
			seen = append(seen, evidence{r, o})
		}
	}
	p.judge(&t, seen)
	p.settle(&t)
	return t
}

// counts says whether what a region measures counts.
func (p *Past) counts(region string) bool { return counts(&p.Rules, region) }

func counts(rules *verdict.Rules, region string) bool {
	return uptime.Outside(region) || slices.Contains(rules.Regions, region)
}

// lost says whether a row may have counted that is not kept. What came next may as well have been
// the first that was told of the slot, as long as that could take: then it was on its way.
func (p *Past) lost(r *Row) bool {
	first := r.ScheduledAt.Add(uptime.Expiry(p.Rules.Interval) + 2*p.Rules.Timeout)
	return !r.Known && r.LaterAt.After(first) && p.counts(r.Region) && !p.Rules.FreshUntil(r.ScheduledAt).Before(p.At)
}

// evidence is a measurement, and the row that told it.
type evidence struct {
	r Row
	o verdict.Observation
}

// judge takes everything in, in the order in which it was told.
func (p *Past) judge(t *Told, seen []evidence) {
	slices.SortStableFunc(seen, func(a, b evidence) int {
		return cmp.Or(a.r.IngestedAt.Compare(b.r.IngestedAt), a.o.ScheduledAt.Compare(b.o.ScheduledAt), cmp.Compare(a.o.Region, b.o.Region))
	})
	s := newStory(p)
	for i := range seen {
		s.take(&seen[i])
	}
	t.Verdict = s.end()
	for _, one := range s.newest {
		if p.counts(one.o.Region) {
			t.Regions = append(t.Regions, one.r)
		}
	}
}

// settle says since when, where rows do not reach as far back, and lets what was decided stand
// where rows are lost, or older results than are looked at count. Without fresh evidence there is no data, whatever was decided.
func (p *Past) settle(t *Told) {
	i := p.Incident
	if i != nil && (t.Lost || p.Rules.Policy.Counts()) && better(t.State, i.State) {
		t.State, t.Observed, t.Since, t.Why, t.Because, t.Decided = i.State, i.State, i.Since, i.Why, i.Because, true
	}
	edge := p.From.Add(2*p.Rules.Interval + p.Rules.Timeout) // until then regions come in one by one
	switch {
	case t.State == verdict.StatePaused:
		t.Since = p.PausedAt
	case !p.From.IsZero() && !p.Born && t.State == t.Observed && t.State != verdict.StateNoData && t.Since.Before(edge):
		t.Since = time.Time{}
	}
	switch {
	case i != nil && t.State == i.State && t.Since.IsZero():
		t.Since = i.Since
	}
}

// better says whether a state is better than what was decided.
func better(s, decided verdict.State) bool {
	return s == verdict.StateUp || s == verdict.StateDegraded && decided == verdict.StateDown
}

// asOf takes a row back that was not known yet.
func (p *Past) asOf(r Row) Row {
	if !r.Known {
		return r
	}
	// What a sweep writes, and what a heartbeat owed, is dated before its slot, so that everything
	// else outranks it.
	switch early := r.IngestedAt.Before(r.ScheduledAt); {
	case early && r.Region == uptime.RegionPush:
		r.IngestedAt = r.ScheduledAt.Add(p.Grace)
	case early && !r.Status.Measured():
		r.IngestedAt = r.ScheduledAt.Add(SettledAfter(p.Rules.Interval))
	}
	if r.IngestedAt.After(p.At) {
		later := r.IngestedAt
		if !r.LaterAt.IsZero() && r.LaterAt.Before(later) {
			later = r.LaterAt
		}
		return Row{Result: uptime.Result{TargetID: r.TargetID, Region: r.Region, ScheduledAt: r.ScheduledAt}, LaterAt: later}
	}
	return r
}

// slots are the newest of rows in order.
func slots(rows []Row) (all [][]Row) {
	for _, r := range rows {
		if n := len(all); n > 0 && all[n-1][0].ScheduledAt.Equal(r.ScheduledAt) {
			all[n-1] = append(all[n-1], r)
			continue
		}
		all = append(all, []Row{r})
	}
	return all[max(0, len(all)-MostSlots):]
}
