package verdict

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Verdict is the state with its explanation.
type Verdict struct {
	State         State
	Observed      State     // what the measurements say: differs from State in maintenance
	Since         time.Time // first slot known to be in this state; zero when not known
	Why           string    // one sentence for people
	Because       []Clause  // and what it says
	DownRegions   []string
	SilentRegions []string
	BlindRegions  []string
	LastResultAt  time.Time // newest measured slot; zero when none
	FreshUntil    time.Time // when the newest evidence goes stale; zero when none
}

// voice is what one region says.
type voice struct {
	newest  *Observation
	failing bool
	since   time.Time // first slot of failing, or of being good again
	streak  int       // results in a row that go against failing, on their way to a threshold
	good    time.Time // newest slot that was not down; zero when none is remembered
	first   time.Time // slot of the first of the streak
}

// unproven says that a region does not count as failing yet, and that what it saw of good is no
// evidence any more.
func (v *voice) unproven(r *Rules, now time.Time) bool {
	return !v.failing && v.newest.Status == uptime.StatusDown && r.FreshUntil(v.good).Before(now)
}

// tally is what the voices come to.
type tally struct {
	fresh, down, degraded []*voice
	unproven              []*voice
	need                  int
	heard                 time.Time // until when those were who are not asked any more
	lastGood              time.Time // newest slot of those who were good and are not asked any more
}

// Fold gives the verdict at now from each region's newest measurement: for a policy
// without thresholds it is that of the State which saw them all (only Since can be up
// to an interval off). previous carries Since over while the state stays. Which of the
// measurements a region made while it was blind is not asked here.
func Fold(rules Rules, c Conditions, observations []Observation, previous Verdict, now time.Time) Verdict {
	voices := make([]voice, 0, len(observations))
	for i := range observations {
		o := &observations[i]
		voices = append(voices, voice{newest: o, failing: o.Status == uptime.StatusDown, since: o.ScheduledAt})
	}
	v, t := rules.judge(voices, c, previous, now)
	v.Because, v.Why = rules.why(v, t, c)
	return v
}

// Shown is what is shown of a target whose newest results say it all. What it would be without
// maintenance goes on beneath: at the end of it, that is what has been since.
type Shown struct {
	Verdict
	Beneath Verdict
}

// Next brings it up to now: whenever a result came, and whenever time or anything else may have
// changed it.
func (s Shown) Next(rules Rules, c Conditions, believed []Observation, now time.Time) (next Shown) {
	without := c
	without.Maintenance = nil
	next.Beneath = Fold(rules, without, believed, s.Beneath, now)
	next.Verdict = next.Beneath
	if c.maintained(now) {
		next.Verdict = Fold(rules, c, believed, s.Verdict, now)
	}
	return next
}

// judge holds the rules of a state, once. It leaves Why to those who need it.
func (r *Rules) judge(voices []voice, c Conditions, previous Verdict, now time.Time) (Verdict, tally) {
	v, t := Verdict{}, tally{fresh: make([]*voice, 0, len(voices))}
	for i := range voices {
		one := &voices[i]
		o := one.newest
		if o.ScheduledAt.After(v.LastResultAt) {
			v.LastResultAt = o.ScheduledAt
		}
		heard, blind := r.FreshUntil(o.ScheduledAt), c.BlindAt(o.Region, now)
		if blind || heard.Before(now) {
			if since := c.blindSince(o.Region, now); blind && since.Before(heard) {
				heard = since
			}
			if heard.After(t.heard) {
				t.heard = heard
			}
			if !one.failing && o.ScheduledAt.After(t.lastGood) {
				t.lastGood = o.ScheduledAt
			}
			continue
		}
		t.fresh = append(t.fresh, one)
		switch {
		case one.failing:
			t.down = append(t.down, one)
			v.DownRegions = append(v.DownRegions, o.Region)
		case one.unproven(r, now):
			t.unproven = append(t.unproven, one)
		case o.Status != uptime.StatusDown && r.degraded(o) != "":
			t.degraded = append(t.degraded, one)
		}
	}
	if !v.LastResultAt.IsZero() {
		v.FreshUntil = r.FreshUntil(v.LastResultAt)
	}
	for _, region := range r.Regions {
		switch {
		case c.BlindAt(region, now):
			v.BlindRegions = append(v.BlindRegions, region)
		case !slices.ContainsFunc(t.fresh, func(one *voice) bool { return one.newest.Region == region }):
			v.SilentRegions = append(v.SilentRegions, region)
		}
	}
	slices.Sort(v.DownRegions)
	t.need = r.Policy.Quorum.need(len(t.fresh))
	against := len(t.down) + len(t.unproven)
	switch {
	case len(t.fresh) == 0:
		v.Observed = StateNoData
	case len(t.down) >= t.need:
		v.Observed = StateDown
	case len(t.degraded) > 0, against > 0 && (!r.Policy.Degraded.IgnoreMinority || against == len(t.fresh)): // all are no minority
		v.Observed = StateDegraded
	default:
		v.Observed = StateUp
	}
	switch {
	case !r.Active:
		v.State, v.Observed = StatePaused, StatePaused
	case c.maintained(now):
		v.State = StateMaintenance
	default:
		v.State = v.Observed
	}
	v.Since = r.since(v, t, c, previous, now)
	return v, t
}

func (r *Rules) since(v Verdict, t tally, c Conditions, previous Verdict, now time.Time) time.Time {
	switch {
	case v.State == previous.State:
		return previous.Since
	case v.State == StateMaintenance:
		var from time.Time
		for _, s := range c.Maintenance {
			if s.Holds(now) && (from.IsZero() || s.From.Before(from)) {
				from = s.From
			}
		}
		return from
	case v.State == StateNoData && t.heard.IsZero() && !previous.Since.IsZero() && previous.Since.Before(r.VisitedSince):
		return r.VisitedSince
	case v.State == StateNoData:
		return t.heard
	case previous.State == "":
		return time.Time{} // no history at hand: the state may be older than the newest result
	case v.State == StatePaused, v.State == StateUp:
		return recovered(t.fresh)
	}
	return r.began(v.Observed, t)
}

// began is the slot at which what is wrong began: that by which the quorum failed, or
// earlier by at most an interval. Who was good and fell silent was no part of it until then.
func (r *Rules) began(observed State, t tally) time.Time {
	var slots []time.Time
	for _, one := range t.down {
		slots = append(slots, one.since)
	}
	if observed != StateDown {
		for _, one := range t.degraded {
			slots = append(slots, one.newest.ScheduledAt)
		}
		for _, one := range t.unproven {
			slots = append(slots, one.first)
		}
		if len(slots) == 0 {
			return time.Time{}
		}
		return slices.MinFunc(slots, time.Time.Compare)
	}
	slices.SortFunc(slots, time.Time.Compare)
	quorum := slots[min(t.need, len(slots))-1]
	if t.lastGood.After(quorum) {
		quorum = t.lastGood
	}
	for _, slot := range slots {
		if !slot.Before(quorum.Add(-r.Interval)) {
			return slot
		}
	}
	return quorum
}

// recovered is the slot since which all of them are good.
func recovered(voices []*voice) (last time.Time) {
	for _, one := range voices {
		if !one.failing && one.since.After(last) {
			last = one.since
		}
	}
	return last
}
