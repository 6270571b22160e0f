package evaluator

import (
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	// patience is how long an outage waits at most for a look at what its target depends on. Its
	// regions are asked at once: mostly it is a second.
	patience      = 90 * time.Second
	patienceSlack = 5 * time.Second
	// askAgain is how soon they are asked again for another one that depends on it.
	askAgain = 10 * time.Second
)

// family notes who depends on whom, and lets who waits know of it.
func (f *fold) family() {
	clear(f.children)
	for _, t := range f.targets {
		if t.Target.ParentID != 0 {
			f.children[t.Target.ParentID] = append(f.children[t.Target.ParentID], t)
		}
		if t.Target.ParentID != 0 || t.conditions.Parent != nil {
			f.tellChild(t)
		}
	}
}

// isDown says whether the regions that can judge a target see it down, and whether they did when
// there is no result of it any more. What holds back its own incident does not matter.
func (t *target) isDown() bool {
	s := &t.state
	if s.Incident == nil && s.Young(t.Rules, t.conditions, s.At) {
		return false // the first to speak are no quorum
	}
	return s.Observed == verdict.StateDown || s.Observed == verdict.StateNoData && s.Incident != nil && s.Incident.Severity == verdict.SeverityDown
}

// depend settles what is known of the target that one depends on, and says whether it is down
// now, or not any more, and was not before.
func (f *fold) depend(t *target) (changed bool) {
	p, found := f.targets[t.Target.ParentID]
	before := t.conditions.Parent
	if !found || !p.Rules.Active || p == t {
		t.conditions.Parent, t.conditions.Await = nil, nil
		return before != nil
	}
	t.conditions.Await = f.awaited(p)
	switch same := before != nil && before.TargetID == p.Target.ID; {
	case p.isDown():
		if same && before.Until.IsZero() {
			return false
		}
		t.conditions.Parent = &verdict.Parent{TargetID: p.Target.ID, Name: p.Target.Name}
		return true
	case same && before.Until.IsZero():
		t.conditions.Parent = &verdict.Parent{TargetID: p.Target.ID, Name: p.Target.Name, Until: p.state.At}
		return true
	case before != nil && !same:
		t.conditions.Parent = nil
		return true
	}
	return false
}

// awaited says since when a target that is not down is known not to be, if it is; nil: there is
// nobody whose word could be waited for.
func (f *fold) awaited(p *target) *verdict.Await {
	var good time.Time
	heard := p.state.Regions
	if p.state.Young(p.Rules, p.conditions, f.now) {
		heard = nil // who has not spoken yet may say that it is down
	}
	for _, r := range heard {
		if len(r.Newest) == 0 || !uptime.Outside(r.Region) && !slices.Contains(p.Rules.Regions, r.Region) || p.conditions.BlindAt(r.Region, p.state.At) {
			continue
		}
		slot := r.Newest[len(r.Newest)-1].ScheduledAt
		if p.Rules.FreshUntil(slot).Before(f.now) {
			continue
		}
		if good.IsZero() || slot.Before(good) {
			good = slot
		}
	}
	if len(p.Rules.Regions) == 0 {
		return nil
	}
	return &verdict.Await{Good: good, Known: p.state.At, For: min(patience, p.Rules.Interval+p.Rules.Timeout+patienceSlack)}
}

// tellChild lets a target know of what it depends on. What waits only to hear that it is well goes
// on when time passes.
func (f *fold) tellChild(t *target) {
	if changed := f.depend(t); changed {
		f.step(t, verdict.Tick(later(f.now, t.state.At)))
	}
	f.schedule(t)
}

// askParent has the regions look at what a target depends on when it may be down, too.
func (f *fold) askParent(t *target) {
	p, found := f.targets[t.Target.ParentID]
	if a := t.conditions.Await; !found || a == nil || t.state.Waiting == nil || !a.Good.Before(t.state.Waiting.Slot) || !p.Target.Kind.Probed() || f.now.Sub(p.asked) < askAgain {
		return
	}
	p.asked = f.now
	job := checkstream.Confirmation{TargetID: p.Target.ID, Slot: t.state.Waiting.Slot}.Job()
	for _, region := range p.Rules.Regions {
		f.look(p, job, region)
	}
}

// dependents are words for those that depend on a target.
func dependents(n int) string {
	if n == 1 {
		return " One target depends on it, and nobody is told of that while this one is down."
	}
	return fmt.Sprintf(" %d targets depend on it, and nobody is told of those while this one is down.", n)
}
