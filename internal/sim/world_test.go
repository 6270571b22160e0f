package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Timing of the prober that is modelled.
const (
	secondLook   = 250 * time.Millisecond
	canaryEvery  = 10 * time.Second
	canaryAgain  = time.Second // while they are bad, and after the one before when something failed
	canaryFor    = 2 * time.Second
	canaryWait   = 2 * time.Second
	announcement = 150 * time.Millisecond
)

// fault is what goes wrong in a region.
type fault string

const (
	noFault      fault = "no fault"
	hijack       fault = "DNS hijack"
	resolverDown fault = "resolver down"
	uplinkCut    fault = "uplink cut"
	loss         fault = "5 % loss"
	delay        fault = "10 s delay"
)

// plan is what a run is about.
type plan struct {
	targets, outages int
	regions          []string
	interval         time.Duration
	fault            fault   // in the first region
	lossEverywhere   float64 // of packets
	attemptsLost     float64 // of whole attempts
	policy           verdict.Policy
	slots            int // of a target before, during and after the fault: a third each
}

func (p plan) timeout() time.Duration { return uptime.DefaultTimeout(p.interval) }

// bound is how soon an outage must be told.
func (p plan) bound() time.Duration { return p.interval + 2*p.timeout() + 10*time.Second }

// alone says that nobody can see an outage while the fault lasts.
func (p plan) alone() bool { return len(p.regions) == 1 && p.fault != noFault }

// window is a stretch of trouble.
type window struct{ from, to time.Time }

func (w window) holds(t time.Time) bool { return !t.Before(w.from) && t.Before(w.to) }

// result is a visit that ended.
type result struct {
	target   int
	slot, at time.Time
	failing  bool
	unknown  bool
	failure  uptime.Failure
}

// world is one run.
type world struct {
	plan
	random  *rand.Rand
	end     time.Time
	trouble window
	outage  map[int]window
	rounds  []selfdoubt.Round
	results map[string][]result
}

func newWorld(p plan, seed uint64) *world {
	w := &world{plan: p, random: rand.New(rand.NewPCG(seed, 1)), outage: map[int]window{}, results: map[string][]result{}}
	third := time.Duration(p.slots/3) * p.interval
	w.end = noon.Add(3*third + p.bound())
	some := func() time.Duration { return time.Duration(w.random.Int64N(int64(p.interval))) }
	w.trouble.from = noon.Add(third + some())
	w.trouble.to = w.trouble.from.Add(max(third, time.Minute))
	if w.end.Before(w.trouble.to.Add(third)) {
		w.end = w.trouble.to.Add(third)
	}
	for len(w.outage) < p.outages {
		from := w.trouble.from.Add(time.Duration((w.random.Float64() - 0.5) * float64(third)))
		w.outage[w.random.IntN(p.targets)] = window{from, from.Add(p.interval*3/2 + some())}
	}
	for i, region := range p.regions {
		w.visit(region, i == 0)
	}
	return w
}

// faulty is what is wrong with a region at an instant.
func (w *world) faulty(first bool, at time.Time) fault {
	if first && w.trouble.holds(at) {
		return w.fault
	}
	return noFault
}

// attempt is one visit: how long it took, and what failed.
func (w *world) attempt(target int, first bool, at time.Time) (time.Duration, uptime.Failure) {
	quick := 50*time.Millisecond + time.Duration(w.random.Int64N(int64(150*time.Millisecond)))
	if w.attemptsLost > 0 && w.random.Float64() < w.attemptsLost {
		return quick, uptime.FailureReset
	}
	lost := w.lossEverywhere
	switch w.faulty(first, at) {
	case hijack:
		return quick, uptime.FailureTLSName
	case resolverDown:
		return min(w.timeout(), 3*time.Second), uptime.FailureDNS
	case uplinkCut, delay:
		return w.timeout(), uptime.FailureConnectTimeout
	case loss:
		lost = max(lost, 0.05)
	}
	if w.outage[target].holds(at) {
		switch target % 3 {
		case 0:
			return w.timeout(), uptime.FailureTimeout
		case 1:
			return quick, uptime.FailureConnectRefused
		}
		return quick, uptime.FailureStatusCode
	}
	if took := quick + w.resent(lost); took < w.timeout() {
		return took, uptime.FailureNone
	}
	return w.timeout(), uptime.FailureConnectTimeout
}

// resent is how long lost packets hold a visit up: the first exchange is tried again after
// 1, 3 and 7 s, each of four others after 0.3, 0.9 and 2.1 s, and so on.
func (w *world) resent(lost float64) (waited time.Duration) {
	if lost == 0 {
		return 0
	}
	exchange := 1 - (1-lost)*(1-lost)
	for n := range 5 {
		again := 300 * time.Millisecond
		if n == 0 {
			again = time.Second
		}
		for w.random.Float64() < exchange {
			waited += again
			again *= 2
		}
	}
	return waited
}

// visit plays all slots of a region, and its canaries.
func (w *world) visit(region string, first bool) {
	var all []result
	for target := range w.targets {
		for slot := uptime.NextSlot(int64(target+1), w.interval, noon); slot.Before(w.end); slot = slot.Add(w.interval) {
			took, failure := w.attempt(target, first, slot)
			if failure != "" && took+secondLook+w.timeout() <= w.interval {
				again, then := w.attempt(target, first, slot.Add(took+secondLook))
				took, failure = took+secondLook+again, then
			}
			all = append(all, result{target: target, slot: slot, at: slot.Add(took), failing: failure != "", failure: failure})
		}
	}
	slices.SortFunc(all, func(a, b result) int { return a.at.Compare(b.at) })
	w.results[region] = w.believe(region, first, all)
}

// round is a canary round, until it is decided.
type round struct {
	from, to time.Time
	good     bool
}

func (w *world) round(first bool, from time.Time) round {
	answered, all := 0, [3]time.Duration{}
	for i := range all {
		took := 50*time.Millisecond + time.Duration(w.random.Int64N(int64(100*time.Millisecond)))
		switch w.faulty(first, from) {
		case hijack:
		case loss:
			if took += w.resent(0.05); took < canaryFor {
				answered++
			}
		case noFault:
			if took += w.resent(w.lossEverywhere); took < canaryFor {
				answered++
			}
		default:
			took = canaryFor
		}
		all[i] = min(took, canaryFor)
	}
	slices.Sort(all[:])
	return round{from, from.Add(all[1]), answered >= 2} // the second decides
}

// believe lets failures wait for the first round that begins after them.
func (w *world) believe(region string, first bool, all []result) []result {
	last, bad := round{}, time.Time{} // when the newest bad one was decided
	begin := func(at time.Time) {
		last = w.round(first, at)
		if !last.good && last.to.After(bad) {
			bad = last.to
		}
		w.rounds = append(w.rounds, selfdoubt.Round{Region: region, Prober: region + "-1", At: last.to, Good: last.good})
	}
	due := func() time.Time {
		if last.good {
			return last.from.Add(canaryEvery)
		}
		return last.from.Add(max(canaryAgain, last.to.Sub(last.from)))
	}
	begin(noon.Add(time.Duration(w.random.Int64N(int64(canaryEvery)))))
	for i := range all {
		r := &all[i]
		for at := due(); !at.After(r.at); at = due() {
			begin(at)
		}
		if r.failing {
			r.at, r.unknown = w.judged(r, &last, begin, bad)
		}
		r.at = r.at.Add(announcement)
	}
	slices.SortStableFunc(all, func(a, b result) int { return a.at.Compare(b.at) })
	return all
}

// judged is when it is known whether a failure is believed, and that it is not.
func (w *world) judged(r *result, last *round, begin func(time.Time), bad time.Time) (at time.Time, unknown bool) {
	if !bad.Before(r.slot) { // while it was under way, or while it waits
		return r.at.Add(max(0, min(bad.Sub(r.at), canaryWait))), true
	}
	if last.from.Before(r.at) {
		next := last.from.Add(canaryAgain)
		if next.Before(r.at) {
			next = r.at
		}
		begin(next)
	}
	if last.to.Sub(r.at) > canaryWait {
		return r.at.Add(canaryWait), true
	}
	return last.to, !last.good
}

// event is something the one who folds hears of.
type event struct {
	at     time.Time
	region string
	result *result
	round  *selfdoubt.Round
}

func (w *world) events() []event {
	var all []event
	for _, region := range w.regions {
		for i := range w.results[region] {
			if r := &w.results[region][i]; !r.unknown {
				all = append(all, event{at: r.at, region: region, result: r})
			}
		}
	}
	for i := range w.rounds {
		all = append(all, event{at: w.rounds[i].At, region: w.rounds[i].Region, round: &w.rounds[i]})
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.region, b.region)) })
	return all
}

func host(target int) string { return fmt.Sprint("host-", target/2) }
