package replay

import (
	"context"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// History is a target's past.
type History struct {
	TargetID          int64
	Interval, Timeout time.Duration
	Regions           []string
	Conditions        verdict.Conditions
	Runs              []Run // of each region in the order of slots, one beginning after the other has ended
}

func (h History) rules(policy verdict.Policy) verdict.Rules {
	return verdict.Rules{Interval: h.Interval, Timeout: h.Timeout, Active: true, Regions: h.Regions, Policy: policy}
}

// Target replays one target and gives the last state and all decisions. It ends early, with
// those up to then, when ctx does.
func Target(ctx context.Context, h History, policy verdict.Policy) (verdict.FoldState, []verdict.Decision) {
	p := player{rules: h.rules(policy), conditions: h.Conditions, lanes: lanes(h.Runs, policy, h.Conditions), state: verdict.NewState(h.TargetID)}
	p.settled = max(1, policy.DownAfter, policy.UpAfter) + 1
	for l := p.first(); l != nil && ctx.Err() == nil; l = p.first() {
		if p.quiet() && p.skip() {
			continue
		}
		p.step(l)
	}
	return p.state, p.decisions
}

// player replays one target.
type player struct {
	rules      verdict.Rules
	conditions verdict.Conditions
	lanes      []*lane
	settled    int // results after which a region stands where it stands
	state      verdict.FoldState
	decisions  []verdict.Decision
	renewed    []string // regions in the midst of a run
}

// first is the lane with the result that is known first; nil when there is none left.
func (p *player) first() (first *lane) {
	for _, l := range p.lanes {
		if !l.over() && (first == nil || l.before(first)) {
			first = l
		}
	}
	return first
}

func (p *player) step(l *lane) {
	run := l.now()
	o := run.observation(l.n)
	before := p.state
	next, decisions := verdict.Step(before, p.rules, p.conditions, verdict.Event{At: run.known(l.n), Result: &o})
	p.state = next
	p.decisions = append(p.decisions, decisions...)
	l.since++
	switch {
	case changed(before, next):
		for _, other := range p.lanes {
			other.since = 0
		}
	case l.n == 0:
		l.since = 0
	}
	l.take(1)
	if l.late { // how a region stands has to settle again
		for _, other := range p.lanes {
			other.since, other.calm = 0, 0
		}
	}
}

// changed says whether a step did more than confirm what was known.
func changed(a, b verdict.FoldState) bool {
	return a.State != b.State || a.Observed != b.Observed || a.Since != b.Since || a.Incident != b.Incident || a.Waiting != nil || b.Waiting != nil || a.Flap != b.Flap
}

// quiet says whether each region is in the midst of a run in which it stands where it
// stands, or has nothing to say.
func (p *player) quiet() (busy bool) {
	p.renewed = p.renewed[:0]
	for _, l := range p.lanes {
		if l.over() || l.n == 0 {
			continue // between two runs
		}
		run := l.now()
		if l.calm < p.settled || l.since < 1 || run.Every+run.Lag > 2*p.rules.Interval+p.rules.Timeout {
			return false
		}
		busy = true
		if !p.blind(run) {
			p.renewed = append(p.renewed, run.Region)
		}
	}
	return busy && p.state.Waiting == nil
}

// blind says whether the results of a run, which blindness cuts, are no evidence.
func (p *player) blind(run *Run) bool {
	return slices.ContainsFunc(p.conditions.Blind, func(b verdict.Blindness) bool { return b.Region == run.Region && b.Holds(run.First) })
}

// skip takes at once what only confirms what is known; false when that is nothing.
func (p *player) skip() (skipped bool) {
	until := verdict.DeadlineBeside(p.state, p.rules, p.conditions, p.renewed)
	for _, l := range p.lanes {
		if l.over() {
			continue
		}
		end := l.next() // of a run that has not begun
		if l.n > 0 {
			end = l.now().known(l.now().Count - 1)
		}
		if until.IsZero() || end.Before(until) {
			until = end
		}
	}
	for _, l := range p.lanes {
		if l.over() || l.n == 0 {
			continue
		}
		run := l.now()
		n := int((until.Sub(l.next()) + run.Every - 1) / run.Every) // results known before that
		if n > 0 {
			p.state = verdict.Repeat(p.state, p.rules, p.conditions, run.Region, run.Every, run.Lag, n)
			l.take(n)
			skipped = true
		}
	}
	return skipped
}
