// Package asknown tells how a target was as it was known at an instant: from rows that had come
// by then, by the rules that judge it live (package verdict). It is pure: no clock, no I/O.
//
// A row is known from the instant its revision names, at which who measured told it. Three
// things are not told by a row, and are never guessed:
//
//   - what a row said before a later one of the same slot took its place, once the store has
//     dropped it: then the slot is one that was not known;
//   - when a sweep explained a slot: not before it could have, so it is known from then on;
//   - how a target was judged while rows of it are lost that counted then. Where an incident
//     was open, what was decided stands.
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
}

// Past is what is kept of a target for an instant.
type Past struct {
	At       time.Time
	From     time.Time // rows of slots from then on are given; zero: all there are
	TargetID int64
	Kind     uptime.Kind
	Rules    verdict.Rules      // as they were
	Around   verdict.Conditions // as it was known
	PausedAt time.Time          // when it was paused; zero: it was not
	Rows     []Row              // of slots up to the instant
	Looks    []uptime.Look      // of regions that were asked to look again
	Incident *Incident          // open by then; nil: none
}

// Told is how the target was.
type Told struct {
	verdict.Verdict
	Decided bool    // by the incident: rows that counted then are not kept
	Regions []Row   // the newest measurement of each region that checked it
	Slots   [][]Row // at most MostSlots, the oldest first, by region
}

// Fold gives how a target was.
func Fold(p Past) Told {
	rows := slices.Clone(p.Rows)
	for i := range rows {
		rows[i] = rows[i].asOf(p.At, p.Rules.Interval)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(a.ScheduledAt.Compare(b.ScheduledAt), cmp.Compare(a.Region, b.Region))
	})
	t := Told{Slots: slots(rows)}
	var seen []evidence
	newest := map[string]Row{}
	lost := false
	for _, r := range rows {
		if !uptime.Outside(r.Region) && !slices.Contains(p.Rules.Regions, r.Region) {
			continue
		}
		if !r.Known {
			lost = lost || !p.Rules.FreshUntil(r.ScheduledAt).Before(p.At)
			continue
		}
		if r.Status.Measured() && !r.Late {
			o := verdict.Observed(&r.Result)
			o.Said = r.Said(p.Kind)
			seen, newest[r.Region] = append(seen, evidence{r.IngestedAt, o}), r
		}
	}
	for i := range p.Looks {
		l := &p.Looks[i]
		at := l.CheckedAt.Add(time.Duration(l.TotalUS) * time.Microsecond)
		if o := verdict.Confirmed(l); o.Status.Measured() && !at.After(p.At) {
			seen = append(seen, evidence{at, o})
		}
	}
	for _, r := range newest {
		t.Regions = append(t.Regions, r)
	}
	slices.SortFunc(t.Regions, func(a, b Row) int { return cmp.Compare(a.Region, b.Region) })
	t.Verdict = p.judge(seen)
	p.settle(&t, lost)
	return t
}

// evidence is a measurement, and when it was told.
type evidence struct {
	at time.Time
	o  verdict.Observation
}

// judge takes everything in, in the order in which it was told. The newest measurements say it
// all, unless the policy counts results in a row: as live.
func (p *Past) judge(seen []evidence) verdict.Verdict {
	slices.SortStableFunc(seen, func(a, b evidence) int {
		return cmp.Or(a.at.Compare(b.at), a.o.ScheduledAt.Compare(b.o.ScheduledAt), cmp.Compare(a.o.Region, b.o.Region))
	})
	state := verdict.NewState(p.TargetID)
	newest := map[string]verdict.Observation{}
	for i := range seen {
		state, _ = verdict.Step(state, p.Rules, p.Around, verdict.Event{At: seen[i].at, Result: &seen[i].o})
		if o := seen[i].o; !o.ScheduledAt.Before(newest[o.Region].ScheduledAt) {
			newest[o.Region] = o
		}
	}
	if len(seen) > 0 {
		state, _ = verdict.Step(state, p.Rules, p.Around, verdict.Tick(p.At))
	}
	if p.Rules.Policy.Counts() {
		return state.Verdict(p.Rules, p.Around, p.At)
	}
	var believed []verdict.Observation
	for _, o := range newest {
		if !p.Around.BlindAt(o.Region, o.ScheduledAt) {
			believed = append(believed, o)
		}
	}
	slices.SortFunc(believed, func(a, b verdict.Observation) int { return cmp.Compare(a.Region, b.Region) })
	return verdict.Fold(p.Rules, p.Around, believed, verdict.Verdict{State: state.State, Since: state.Since}, p.At)
}

// settle says since when, where rows do not reach as far back, and lets what was decided stand
// where rows are lost. Without fresh evidence there is no data, whatever was decided.
func (p *Past) settle(t *Told, lost bool) {
	i := p.Incident
	if i != nil && lost && better(t.State, i.State) {
		t.State, t.Observed, t.Since, t.Why, t.Decided = i.State, i.State, i.Since, i.Why, true
	}
	edge := p.From.Add(2*p.Rules.Interval + p.Rules.Timeout) // until then regions come in one by one
	switch {
	case t.State == verdict.StatePaused:
		t.Since = p.PausedAt
	case !p.From.IsZero() && t.State == t.Observed && t.State != verdict.StateNoData && t.Since.Before(edge):
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
func (r Row) asOf(at time.Time, interval time.Duration) Row {
	if !r.Known {
		return r
	}
	// What a sweep writes is dated before its slot, so that everything else outranks it.
	if r.IngestedAt.Before(r.ScheduledAt) && !r.Status.Measured() {
		r.IngestedAt = r.ScheduledAt.Add(uptime.Expiry(interval) + sweptAfter)
	}
	if r.IngestedAt.After(at) {
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
