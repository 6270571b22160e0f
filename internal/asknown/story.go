package asknown

import (
	"cmp"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// story folds what was told of a target again as pages did live: each measurement when it was told,
// by the rules and amid what was known at that time, and what time alone brought about when it did.
type story struct {
	*Past
	now    time.Time
	begun  bool
	edges  []time.Time // of rules and conditions, ascending
	newest []evidence  // one a region, by name
	shown  verdict.Shown
	state  verdict.FoldState // only where the policy counts results in a row
}

func newStory(p *Past) *story {
	s := &story{Past: p, begun: p.Born && !p.Rules.Policy.Counts(), now: p.From, state: verdict.NewState(p.TargetID)}
	if p.Born {
		s.shown.State, s.shown.Beneath.State = verdict.StateNoData, verdict.StateNoData
	}
	for _, e := range p.Earlier {
		s.edges = append(s.edges, e.Until)
	}
	for _, span := range p.Around.Maintenance {
		s.edges = append(s.edges, span.From, span.To)
	}
	for i, b := range p.Around.Blind {
		s.edges = append(s.edges, p.learnt(i), b.To)
	}
	slices.SortFunc(s.edges, time.Time.Compare)
	return s
}

// learnt is when a blindness came to be known.
func (p *Past) learnt(i int) time.Time {
	if i < len(p.Learnt) && p.Learnt[i].After(p.Around.Blind[i].From) {
		return p.Learnt[i]
	}
	return p.Around.Blind[i].From
}

func (p *Past) rulesAt(t time.Time) *verdict.Rules {
	for i := range p.Earlier {
		if t.Before(p.Earlier[i].Until) {
			return &p.Earlier[i].Rules
		}
	}
	return &p.Rules
}

// aroundAt is what was known around the target at an instant: of blindness not before it was found out.
func (p *Past) aroundAt(t time.Time) verdict.Conditions {
	c := p.Around
	c.Blind = nil
	for i, b := range p.Around.Blind {
		if !p.learnt(i).After(t) {
			c.Blind = append(c.Blind, b)
		}
	}
	return c
}

// take takes a measurement in when it was told.
func (s *story) take(e *evidence) {
	s.pass(e.r.IngestedAt)
	s.begun = s.begun || counts(s.rulesAt(s.now), e.o.Region)
	i, found := slices.BinarySearchFunc(s.newest, e.o.Region, func(a evidence, region string) int { return cmp.Compare(a.o.Region, region) })
	switch {
	case !found:
		s.newest = slices.Insert(s.newest, i, *e)
	case !e.o.ScheduledAt.Before(s.newest[i].o.ScheduledAt):
		s.newest[i] = *e
	}
	if s.begun {
		s.fold(&e.o)
	}
}

// end is what was shown at the instant that is asked for.
func (s *story) end() verdict.Verdict {
	s.pass(s.At)
	if s.begun || !s.Rules.Policy.Counts() {
		s.fold(nil)
	}
	if s.Rules.Policy.Counts() {
		return s.state.Verdict(s.Rules, s.Around, s.At)
	}
	return s.shown.Verdict
}

// pass lets time pass up to an instant. Before anything was told nobody knows what was shown, unless the
// target is as young as that, or nothing had been told for so long that nothing could count any more.
func (s *story) pass(until time.Time) {
	if silent := s.silentFrom(); !s.begun && !silent.IsZero() && until.After(silent) {
		s.begun, s.now = true, silent
		s.shown.State, s.shown.Beneath.State = verdict.StateNoData, verdict.StateNoData
	}
	for s.begun {
		next := s.next()
		if next.IsZero() || next.After(until) {
			break
		}
		s.now = next
		s.fold(nil)
	}
	if until.After(s.now) {
		s.now = until
	}
}

// silentFrom is when what was told before From has stopped counting; zero: that is not known, or results
// in a row count.
func (s *story) silentFrom() time.Time {
	if s.From.IsZero() || s.Rules.Policy.Counts() {
		return time.Time{}
	}
	silent := s.rulesAt(s.From).FreshUntil(s.From).Add(time.Millisecond)
	for i := range s.Rows {
		if r := &s.Rows[i]; !r.Known && !r.ScheduledAt.After(silent) && s.counts(r.Region) {
			return time.Time{} // it may have been told by then, and is not kept
		}
	}
	return silent
}

// next is when time alone may have changed what was shown; zero: it may not any more.
func (s *story) next() (next time.Time) {
	if i, _ := slices.BinarySearchFunc(s.edges, s.now, func(edge, now time.Time) int {
		if edge.After(now) {
			return 1
		}
		return -1
	}); i < len(s.edges) {
		next = s.edges[i]
	}
	rules := s.rulesAt(s.now)
	if s.Rules.Policy.Counts() {
		if due := verdict.NextDeadline(s.state, *rules, s.aroundAt(s.now)); due.After(s.now) && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	for i := range s.newest {
		if stale := rules.FreshUntil(s.newest[i].o.ScheduledAt).Add(time.Millisecond); stale.After(s.now) && (next.IsZero() || stale.Before(next)) {
			next = stale
		}
	}
	return next
}

// fold brings what was shown up to now; o is what was told at that moment, or nil.
func (s *story) fold(o *verdict.Observation) {
	rules, around := s.rulesAt(s.now), s.aroundAt(s.now)
	if s.Rules.Policy.Counts() {
		s.state, _ = verdict.Step(s.state, *rules, around, verdict.Event{At: s.now, Result: o})
		return
	}
	believed := make([]verdict.Observation, 0, len(s.newest))
	for i := range s.newest {
		if one := &s.newest[i].o; counts(rules, one.Region) && !around.BlindAt(one.Region, one.ScheduledAt) {
			believed = append(believed, *one)
		}
	}
	s.shown = s.shown.Next(*rules, around, believed, s.now)
}
