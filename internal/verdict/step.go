package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Event is a result that came, or the time that passed.
type Event struct {
	At     time.Time    // when it was announced: never the time at which a backlog is read
	Result *Observation // nil: nothing but the time, or the rules and conditions, changed
}

// Tick is the event of time that passed. Without one at NextDeadline what time alone
// brings about is told late.
func Tick(now time.Time) Event { return Event{At: now} }

// step is one step on its way.
type step struct {
	FoldState
	rules      Rules
	conditions Conditions
	verdict    Verdict
	tally      tally
	grown      bool        // everybody who is waited for has spoken, or had time to, since the last event
	how        fit         // of the event's result
	result     Observation // where how is not fitNothing
	decisions  []Decision
}

// Step folds one event in. It is a pure function, and what it was given before changes
// nothing: a result that comes again is a tick. Deadlines that passed since the last event
// are met first, each at its time, so that it does not matter how often somebody ticks.
func Step(s FoldState, rules Rules, c Conditions, e Event) (FoldState, []Decision) {
	e.At = e.At.UTC().Truncate(tick)
	var all []Decision
	if rules.VisitedSince.After(s.VisitedSince) {
		s, all = anew(s, rules, c, e.At)
	}
	if idle(&s, &rules, &c, e.At) {
		next, decisions := once(s, rules, c, e)
		return next, append(all, decisions...)
	}
	for at := NextDeadline(s, rules, c); !at.IsZero() && !at.After(e.At); at = NextDeadline(s, rules, c) {
		ticked, decisions := once(s, rules, c, Tick(at))
		s, all = ticked, append(all, decisions...)
	}
	next, decisions := once(s, rules, c, e)
	return next, append(all, decisions...)
}

// anew begins with what a target is now that it is visited otherwise: what was seen of it before is
// forgotten, and an outage that waited is over. An incident stays open until something good is seen. What
// is known of it already stays: whoever folds may be told late.
func anew(s FoldState, rules Rules, c Conditions, at time.Time) (FoldState, []Decision) {
	now := step{FoldState: s, rules: rules, conditions: c}
	now.VisitedSince, now.Regions = rules.VisitedSince, nil
	if rules.VisitedSince.Before(at) {
		at = rules.VisitedSince
	}
	if !now.At.IsZero() && at.After(now.At) {
		now.At = at
	}
	for _, r := range s.Regions {
		if i := slices.IndexFunc(r.Newest, func(o Observation) bool { return !rules.Former(o.ScheduledAt) }); i >= 0 {
			kept := RegionState{Region: r.Region, Floor: r.Floor, Newest: r.Newest[i:]}
			if !r.Base.Since.IsZero() && !rules.Former(r.Base.Since) {
				kept.Base = r.Base
			}
			now.Regions = append(now.Regions, kept)
		}
	}
	if now.Waiting != nil && rules.Former(now.Waiting.Slot) {
		now.verdict, now.tally = rules.judge(now.voices(&rules, &c), c, Verdict{State: s.State, Since: s.Since}, now.At)
		now.lapse()
	}
	return now.FoldState, now.decisions
}

func once(s FoldState, rules Rules, c Conditions, e Event) (FoldState, []Decision) {
	now := step{FoldState: s, rules: rules, conditions: c}
	if now.BegunAt.IsZero() {
		now.BegunAt = e.At
	}
	if e.At.After(now.At) {
		now.At = e.At
	}
	correction := ""
	young := s.Incident != nil && s.Young(rules, c, s.At)
	if e.Result != nil {
		correction = now.take(e.Result)
	}
	now.grown = young && !now.Young(rules, c, now.At)
	now.verdict, now.tally = rules.judge(now.voices(&rules, &c), c, Verdict{State: s.State, Since: s.Since}, now.At)
	now.State, now.Observed, now.Since = now.verdict.State, now.verdict.Observed, now.verdict.Since
	if correction != "" {
		now.correct(correction)
	}
	now.incidents()
	if now.Flap.Active && !now.At.Before(now.flapEnd()) {
		now.calm()
	}
	return now.FoldState, now.decisions
}

// take puts a result in its place and tells what that corrects.
func (s *step) take(o *Observation) (correction string) {
	i, found := slices.BinarySearchFunc(s.Regions, o.Region, func(r RegionState, name string) int { return strings.Compare(r.Region, name) })
	before := RegionState{Region: o.Region}
	if found {
		before = s.Regions[i]
	}
	after, how := before.take(o, &s.rules, &s.conditions)
	if how == fitNothing {
		return ""
	}
	s.how, s.result = how, *o
	if found {
		s.Regions = slices.Clone(s.Regions)
		s.Regions[i] = after
	} else {
		s.Regions = slices.Insert(slices.Clone(s.Regions), i, after)
	}
	if how == fitNewest {
		return ""
	}
	was, _ := before.voice(&s.rules, &s.conditions)
	is, _ := after.voice(&s.rules, &s.conditions)
	if was.failing == is.failing && was.since.Equal(is.since) {
		return ""
	}
	how2 := "came late"
	if how == fitReplaced {
		how2 = "was corrected"
	}
	return fmt.Sprintf("%s's result of %s (%s) %s: %s", o.Region, clock(o.ScheduledAt), told(o), how2, standing(o.Region, is))
}

func standing(region string, v voice) string {
	switch {
	case v.failing:
		return region + " has been failing since " + clock(v.since)
	case v.since.IsZero():
		return region + " was not failing"
	}
	return region + " has been good since " + clock(v.since)
}

func told(o *Observation) string {
	if o.Status == uptime.StatusDown {
		return "down, " + cause(o)
	}
	return o.Status.String()
}

// correct tells that history is not what it was, and moves the beginning of an incident.
func (s *step) correct(correction string) {
	slot, severity := s.result.ScheduledAt, Severity("")
	if s.Incident != nil {
		slot, severity = s.Incident.Slot, s.Incident.Severity
		if began := s.rules.began(s.Observed, s.tally); s.bad() != "" && began.After(s.LastEnd) && !began.Equal(s.Incident.Began) && !s.Incident.Began.Before(s.VisitedSince) {
			moved := *s.Incident
			moved.Began = began
			s.Incident = &moved
			correction += fmt.Sprintf("; the incident began at %s", clock(began))
		}
	}
	d := s.decide(Corrected, slot, severity, NotifyNobody, correction)
	if s.Incident != nil {
		d.Began = s.Incident.Began
	}
}

// bad is the severity of what is observed; "" when it is nothing to open an incident for.
func (s *step) bad() Severity {
	switch {
	case s.Observed == StateDown:
		return SeverityDown
	case s.Observed == StateDegraded && s.rules.Policy.openOn() == SeverityDegraded:
		return SeverityDegraded
	}
	return ""
}

// fails says whether the event is evidence, in order, for what is observed.
func (s *step) fails() bool {
	here := func(v *voice) bool { return v.newest.Region == s.result.Region }
	return s.how == fitNewest && (slices.ContainsFunc(s.tally.down, here) || s.bad() == SeverityDegraded && slices.ContainsFunc(s.tally.degraded, here))
}

// incidents opens, changes and ends them.
func (s *step) incidents() {
	bad := s.bad()
	switch {
	case s.State == StatePaused:
		s.pause()
	case s.Incident != nil:
		s.follow(bad)
	case bad != "":
		s.consider(bad)
	case s.Waiting != nil && s.Observed != StateNoData:
		s.lapse()
	}
}

func (s *step) pause() {
	if i := s.Incident; i != nil {
		s.resolve(s.At, "The target was paused: it is not known how it ended")
	}
	if s.Waiting != nil {
		s.lapse()
	}
}

// lapse ends an outage for which no incident was opened.
func (s *step) lapse() {
	if w := s.Waiting; w.HeldBy != "" {
		d := s.decide(Resolved, w.Slot, SeverityDown, NotifyNobody, "No longer down", s.why())
		d.SuppressedBy, d.Began, d.Ended = w.HeldBy, w.Slot, s.recovery(w.Slot)
	}
	s.Waiting = nil
}

// consider opens an incident, or says what it waits for.
func (s *step) consider(bad Severity) {
	w := Waiting{}
	switch {
	case s.Waiting != nil:
		w = *s.Waiting
	case !s.fails():
		return // nobody saw it fail just now: it may be that others fell silent
	default:
		w.FoundAt, w.Slot = s.At, s.rules.began(s.Observed, s.tally)
		if !w.Slot.After(s.LastKey) { // a region has been failing since the one before
			w.Slot = s.result.ScheduledAt
		}
		if !w.Slot.After(s.LastKey) {
			w.Slot = s.LastKey.Add(tick)
		}
		s.LastKey = w.Slot
	}
	if s.fails() && s.result.ScheduledAt.After(w.EvidenceAt) {
		w.EvidenceAt = s.result.ScheduledAt
	}
	s.Waiting = &w
	if cause, why := s.held(w); cause != "" {
		if w.HeldBy != cause {
			d := s.decide(Suppressed, w.Slot, bad, NotifyNobody, s.why(), why)
			d.SuppressedBy, d.Began = cause, w.Slot
		}
		w.HeldBy, w.HeldTo = cause, w.EvidenceAt
		if p := s.conditions.Parent; cause == ByParent && p.Until.After(w.HeldTo) {
			w.HeldTo = p.Until // what was measured before may have waited for its timeout since
		}
		return
	}
	if s.ripe(w) && s.how != fitLate && s.how != fitReplaced { // a late result opens nothing
		s.open(w, bad)
	}
}

// ripe says whether an outage is to open an incident now.
func (s *step) ripe(w Waiting) bool {
	cause, _ := s.held(w)
	held := cause != "" || w.HeldBy != "" && !w.EvidenceAt.After(w.HeldTo) // it has not failed since
	return !held && s.bad() != "" && s.Incident == nil && s.State != StatePaused && !s.opensAt(w).After(s.At)
}

// held is what suppresses an outage now.
func (s *step) held(w Waiting) (Cause, string) {
	switch {
	case s.conditions.Parent.Holds(s.At) || s.conditions.Parent.Holds(w.EvidenceAt):
		return ByParent, "Nobody is told: " + DependsOn(s.conditions.Parent.Name)
	case s.conditions.maintained(s.At) || s.conditions.maintained(w.EvidenceAt):
		return ByMaintenance, "Nobody is told: it is in maintenance"
	}
	return "", ""
}

// opensAt is when an outage has lasted long enough, and everyone had time to say something, also
// what it depends on.
func (s *step) opensAt(w Waiting) time.Time {
	at := w.Slot.Add(s.rules.Policy.duration())
	if a := s.conditions.Await; a != nil {
		until := w.FoundAt.Add(a.For)
		if !a.Good.Before(w.Slot) && a.Known.Before(until) {
			until = a.Known
		}
		if until.After(at) {
			at = until
		}
	}
	if first := s.hearsUntil(&s.rules); first.After(at) && s.unheard(&s.rules, &s.conditions, s.At) {
		return first
	}
	return at
}

// Young says that regions may still speak for the first time of what a target is: until then those that have are no
// quorum.
func (s *FoldState) Young(rules Rules, c Conditions, now time.Time) bool {
	return now.Before(s.hearsUntil(&rules)) && s.unheard(&rules, &c, now)
}

// hearsUntil is until when the first word of everyone is waited for: of a target that was made to be visited
// otherwise not for long once somebody has spoken, since all regions have the same slots.
func (s *FoldState) hearsUntil(rules *Rules) time.Time {
	begun, spoken := s.BegunAt, 2*rules.Timeout+awaitSlack
	if edited := s.VisitedSince.Add(handedOut); !s.VisitedSince.IsZero() && edited.After(begun) {
		begun = edited
	}
	until := begun.Add(rules.Interval + spoken)
	if s.VisitedSince.IsZero() {
		return until
	}
	for i := range s.Regions {
		r := &s.Regions[i]
		if !slices.Contains(rules.Regions, r.Region) || len(r.Newest) == 0 {
			continue
		}
		first := r.Newest[0].ScheduledAt
		if !rules.Former(r.Floor) && !r.Floor.IsZero() {
			first = r.Floor
		}
		if heard := first.Add(spoken + spokenSlack); heard.Before(until) {
			until = heard
		}
	}
	return until
}

// unheard says whether a region that is to check the target never said anything yet.
func (s *FoldState) unheard(rules *Rules, c *Conditions, now time.Time) bool {
	for _, region := range rules.Regions {
		if !c.BlindAt(region, now) && !slices.ContainsFunc(s.Regions, func(r RegionState) bool { return r.Region == region }) {
			return true
		}
	}
	return false
}

func (s *step) open(w Waiting, bad Severity) {
	s.Waiting = nil
	if s.Flap.Active && !s.At.Before(s.flapEnd()) {
		s.calm()
	}
	began := s.bump(w.Slot)
	parts := []string{s.why(), "It began at " + clock(w.Slot)}
	if bad == SeverityDown {
		parts = append(parts, "Rule: "+s.rules.Policy.Quorum.words(len(s.tally.fresh))+s.thresholds())
	}
	if w.HeldBy != "" {
		parts = append(parts, "Until now it was suppressed by "+string(w.HeldBy))
	}
	notify := NotifyPage
	if s.Flap.Active {
		notify = NotifyNobody
	}
	s.Incident = &Incident{Slot: w.Slot, Began: w.Slot, Severity: bad, OpenedAt: s.At, Told: !s.Flap.Active}
	d := s.decide(Opened, w.Slot, bad, notify, parts...)
	d.Began, d.Because = w.Slot, s.opening(w, bad)
	if began {
		s.decide(FlappingBegan, w.Slot, bad, NotifyNote, "It is flapping, and down again", "Nobody is told of single changes until it has been quiet or down for a while", s.why())
	}
}

func (s *step) because() []Clause { return s.rules.clauses(s.verdict, s.tally, s.conditions) }

func (s *step) why() string { return sentenceOf(s.because()) }

// opening is what the sentences say with which an incident is opened.
func (s *step) opening(w Waiting, bad Severity) []Clause {
	all := append(s.because(), Clause{Is: FactBegan, At: w.Slot})
	if bad == SeverityDown {
		policy, fresh := s.rules.Policy, len(s.tally.fresh)
		all = append(all, Clause{Is: FactNeeds, N: policy.Quorum.need(fresh), Of: fresh})
		if n := policy.downAfter(); n > 1 {
			all = append(all, Clause{Is: FactTimes, N: n})
		}
		if d := policy.duration(); d > 0 {
			all = append(all, Clause{Is: FactLasting, N: int(d / time.Second)})
		}
	}
	if w.HeldBy != "" {
		all = append(all, Clause{Is: FactHeld, What: string(w.HeldBy)})
	}
	return all
}

func (s *step) thresholds() (text string) {
	if n := s.rules.Policy.downAfter(); n > 1 {
		text += fmt.Sprintf(", each %d times in a row", n)
	}
	if d := s.rules.Policy.duration(); d > 0 {
		text += ", for " + lasted(d)
	}
	return text
}

// follow keeps an open incident.
func (s *step) follow(bad Severity) {
	switch i := s.Incident; {
	case s.how == fitNothing && !s.grown || s.Observed == StateNoData: // nobody saw anything new
	case s.Young(s.rules, s.conditions, s.At): // it was made to be visited otherwise
	case bad == "" && (s.grown || s.goodNews()):
		s.resolve(s.recovery(i.Began), s.why())
	case bad != "" && bad != i.Severity && (s.grown || s.how == fitNewest):
		changed := *i
		changed.Severity = bad
		s.Incident = &changed
		notify := NotifyNobody
		if bad == SeverityDown && !s.Flap.Active {
			notify, changed.Told = NotifyPage, true
			s.Incident = &changed
		}
		d := s.decide(SeverityChanged, i.Slot, bad, notify, "From "+string(i.Severity)+" to "+string(bad), s.why())
		d.Began, d.Because = i.Began, append([]Clause{{Is: FactChanged, What: string(i.Severity), Name: string(bad)}}, s.because()...)
	}
}

// goodNews says whether the event is a reason to believe in recovery: a region that is
// good, or what was known is corrected.
func (s *step) goodNews() bool {
	return s.how != fitNewest || slices.ContainsFunc(s.tally.fresh, func(v *voice) bool { return v.newest.Region == s.result.Region && !v.failing })
}

// recovery is the first slot at which it was good again.
func (s *step) recovery(began time.Time) time.Time {
	if at := recovered(s.tally.fresh); at.After(began) {
		return at
	}
	if s.how == fitNewest && s.result.ScheduledAt.After(began) {
		return s.result.ScheduledAt
	}
	return s.At
}

func (s *step) resolve(ended time.Time, why string) {
	i := *s.Incident
	s.Incident, s.LastEnd = nil, ended
	notify := NotifyNobody
	if i.Told {
		notify = NotifyNote
	}
	d := s.decide(Resolved, i.Slot, i.Severity, notify, "Ended after "+lasted(ended.Sub(i.Began)), why)
	d.Began, d.Ended = i.Began, ended
}
