package sim

import (
	"time"

	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// outcome is what people were told in a run, or in many.
type outcome struct {
	checks     int
	falsePages int
	outages    int
	untold     int             // outages nobody was told of in time
	detected   []time.Duration // from the beginning of an outage to the page
	blind      []time.Duration // from the beginning of a fault until the region was found blind
	unblinded  int             // faults during which it was not
	back       []time.Duration // from the repair until the region was believed again
	counted    []time.Duration // from the repair to the last target of which it is heard again
	example    string          // of a false page
}

func (o *outcome) add(p outcome) {
	o.checks += p.checks
	o.falsePages += p.falsePages
	o.outages += p.outages
	o.untold += p.untold
	o.unblinded += p.unblinded
	o.detected = append(o.detected, p.detected...)
	o.blind = append(o.blind, p.blind...)
	o.back = append(o.back, p.back...)
	o.counted = append(o.counted, p.counted...)
	if o.example == "" {
		o.example = p.example
	}
}

// judge follows a world as it is followed live.
type judge struct {
	*world
	outcome
	rules  verdict.Rules
	blind  verdict.Conditions
	watch  *selfdoubt.Watch
	states []verdict.FoldState
	told   map[int]bool
}

func run(p plan, seed uint64) outcome {
	j := &judge{world: newWorld(p, seed), watch: selfdoubt.New(), told: map[int]bool{}}
	j.rules = verdict.Rules{Interval: p.interval, Timeout: p.timeout(), Active: true, Regions: p.regions, Policy: p.policy}
	for target := range p.targets {
		j.states = append(j.states, verdict.NewState(int64(target+1)))
	}
	for _, region := range p.regions {
		j.checks += len(j.results[region])
	}
	j.follow()
	for target, o := range j.outage {
		if o.to.Before(j.end.Add(-p.bound())) && !p.alone() {
			j.outages++
			if !j.told[target] {
				j.untold++
			}
		}
	}
	return j.outcome
}

func (j *judge) follow() {
	first := j.regions[0]
	var found, back time.Time
	heard := map[int]time.Time{}
	for _, e := range j.events() {
		changed := false
		switch {
		case e.round != nil:
			changed = j.watch.Canary(*e.round)
		default:
			r := e.result
			changed = j.watch.Take(selfdoubt.Result{TargetID: int64(r.target + 1), Host: host(r.target), Region: e.region, Slot: r.slot, At: r.at, Failing: r.failing})
			o := verdict.Observation{Region: e.region, Status: uptime.StatusUp, ScheduledAt: r.slot, Revision: 1}
			if r.failing {
				o.Status, o.Failure = uptime.StatusDown, r.failure
			}
			j.step(r.target, verdict.Event{At: e.at, Result: &o})
			if e.region == first && !r.slot.Before(j.trouble.to) && heard[r.target].IsZero() {
				heard[r.target] = e.at
			}
		}
		if !changed {
			continue
		}
		j.blind.Blind = nil
		for _, w := range j.watch.Windows() {
			j.blind.Blind = append(j.blind.Blind, w.Blindness)
		}
		for target := range j.states {
			j.step(target, verdict.Tick(e.at))
		}
		open := false
		for _, b := range j.blind.Blind {
			open = open || b.Region == first && b.To.IsZero()
		}
		if open && j.trouble.holds(e.at) && found.IsZero() {
			found = e.at
		}
		if !open && !e.at.Before(j.trouble.to) && back.IsZero() {
			back = e.at
		}
	}
	for target := range j.states {
		j.step(target, verdict.Tick(j.end))
	}
	if j.fault == noFault || j.fault == loss {
		return // a region that loses a few packets goes on as it was
	}
	if found.IsZero() {
		j.unblinded++
		return
	}
	j.outcome.blind = append(j.outcome.blind, found.Sub(j.trouble.from))
	j.back = append(j.back, back.Sub(j.trouble.to))
	var last time.Time
	for _, at := range heard {
		if at.After(last) {
			last = at
		}
	}
	j.counted = append(j.counted, last.Sub(j.trouble.to))
}

func (j *judge) step(target int, e verdict.Event) {
	next, decisions := verdict.Step(j.states[target], j.rules, j.blind, e)
	j.states[target] = next
	for _, d := range decisions {
		if d.Kind != verdict.Opened {
			continue
		}
		switch o, real := j.outage[target]; {
		case !real || d.At.Before(o.from) || d.Slot.After(o.to):
			j.falsePages++
			if j.example == "" {
				j.example = d.Why
			}
		case !j.told[target] && !j.alone():
			j.told[target] = true
			j.detected = append(j.detected, d.At.Sub(o.from))
		}
	}
}
