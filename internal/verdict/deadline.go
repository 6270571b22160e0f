package verdict

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// tick is how exactly deadlines are told: slots have whole milliseconds.
const tick = time.Millisecond

// NextDeadline is the first instant after the last event at which time alone changes
// something: evidence goes stale, a wait is over, a window begins or ends. Zero when
// nothing is to come.
func NextDeadline(s FoldState, rules Rules, c Conditions) time.Time {
	return DeadlineBeside(s, rules, c, nil)
}

// DeadlineBeside is NextDeadline for somebody who knows that the evidence of some regions
// is renewed before it goes stale.
func DeadlineBeside(s FoldState, rules Rules, c Conditions, renewed []string) (next time.Time) {
	soonest := func(t time.Time) {
		if t.After(s.At) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, span := range c.Maintenance {
		soonest(span.From)
		soonest(span.To)
	}
	for _, b := range c.Blind {
		soonest(b.From)
		soonest(b.To)
	}
	if c.Parent != nil {
		soonest(c.Parent.Until)
	}
	for _, v := range s.voices(&rules, &c) {
		if !v.failing && v.newest.Status == uptime.StatusDown {
			soonest(rules.FreshUntil(v.good).Add(tick))
		}
		if slices.Contains(renewed, v.newest.Region) {
			continue
		}
		soonest(rules.FreshUntil(v.newest.ScheduledAt).Add(tick))
	}
	if s.Waiting != nil {
		waits := step{FoldState: s, rules: rules, conditions: c}
		soonest(waits.opensAt(*s.Waiting))
		if waits.ripe(*s.Waiting) {
			soonest(s.At.Add(tick)) // a late result may not open it: the next instant does
		}
	}
	if s.Incident != nil && s.Young(rules, c, s.At) {
		soonest(s.hearsUntil(&rules))
	}
	if s.Flap.Active {
		soonest(s.flapEndOf(rules))
	}
	return next
}

// idle says that no deadline can lie up to an instant: quickly, for the ordinary case of a
// target that is well and of which nothing is known but results.
func idle(s *FoldState, rules *Rules, c *Conditions, until time.Time) bool {
	if s.Waiting != nil || s.Flap.Active || len(c.Maintenance) > 0 || len(c.Blind) > 0 || c.Parent != nil && c.Parent.Until.After(s.At) {
		return false
	}
	if s.Incident != nil && s.Young(*rules, *c, s.At) {
		return false
	}
	for i := range s.Regions {
		newest := s.Regions[i].Newest
		if len(newest) == 0 {
			continue
		}
		last := &newest[len(newest)-1]
		if last.Status == uptime.StatusDown && rules.Policy.Counts() { // what was good before it may go stale
			return false
		}
		if stale := rules.FreshUntil(last.ScheduledAt).Add(tick); stale.After(s.At) && !stale.After(until) {
			return false
		}
	}
	return true
}
