package verdict

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// arrival is a result on its way.
type arrival struct {
	Event
	order int
}

// aWorld is random: rules, conditions, and the results of an hour or so in the order in
// which they come. late is by how many slots a result may be late.
func aWorld(random *rand.Rand, policy Policy, late int) (Rules, Conditions, []Event) {
	rules := Rules{Interval: time.Minute, Timeout: 10 * time.Second, Active: true, Regions: []string{"ap", "eu", "us"}[:1+random.IntN(3)], Policy: policy}
	var c Conditions
	when := func() time.Time { return noon.Add(time.Duration(random.IntN(3600)) * time.Second) }
	for random.IntN(3) == 0 {
		from := when()
		c.Maintenance = append(c.Maintenance, Span{from, from.Add(time.Duration(random.IntN(600)) * time.Second)})
	}
	for random.IntN(3) == 0 {
		from := when()
		c.Blind = append(c.Blind, Blindness{rules.Regions[random.IntN(len(rules.Regions))], Span{from, from.Add(time.Duration(random.IntN(600)) * time.Second)}})
	}
	words := []uptime.Status{uptime.StatusUp, uptime.StatusUp, uptime.StatusUp, uptime.StatusDegraded, uptime.StatusDown, uptime.StatusDown, uptime.StatusUnknown, uptime.StatusMissed}
	var all []arrival
	for _, region := range rules.Regions {
		word := uptime.StatusUp
		for n := range 60 {
			if random.IntN(4) == 0 {
				word = words[random.IntN(len(words))]
			}
			if random.IntN(30) == 0 {
				continue
			}
			slot := noon.Add(time.Duration(n) * time.Minute)
			o := Observation{Region: region, Status: word, ScheduledAt: slot, CheckedAt: slot, Revision: 1 + uint64(n)}
			if word == uptime.StatusDown {
				o.Failure = uptime.FailureTimeout
			}
			at := slot.Add(time.Duration(100+random.IntN(10_000)) * time.Millisecond)
			if late > 0 && random.IntN(5) == 0 {
				at = at.Add(time.Duration(random.IntN(late*60)) * time.Second)
			}
			all = append(all, arrival{Event{at, &o}, len(all)})
		}
	}
	slices.SortFunc(all, func(a, b arrival) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return a.order - b.order
	})
	var events []Event
	for _, a := range all {
		events = append(events, a.Event)
	}
	return rules, c, events
}

func aPolicy(random *rand.Rand) Policy {
	p := Policy{DownAfter: random.IntN(4), UpAfter: random.IntN(4), ForS: random.IntN(2) * random.IntN(300)}
	p.Quorum = []Quorum{{}, {}, {Rule: QuorumAll}, {Rule: QuorumCount, Count: 1}, {Rule: QuorumCount, Count: 2, Firm: true}}[random.IntN(5)]
	if random.IntN(3) == 0 {
		p.OpenOn = SeverityDegraded
	}
	p.Degraded.IgnoreMinority = random.IntN(4) == 0
	p.Flapping.Off = random.IntN(3) == 0
	return p
}

func run(s FoldState, rules Rules, c Conditions, events []Event) (FoldState, []Decision) {
	var all []Decision
	for _, e := range events {
		next, decisions := Step(s, rules, c, e)
		s, all = next, append(all, decisions...)
	}
	return s, all
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// fewer is how many of a property's cases are tried: a tenth of them in short runs.
func fewer(all uint64) uint64 {
	if testing.Short() {
		return all / 10
	}
	return all
}

func seeds(t *testing.T, n uint64, f func(t *testing.T, random *rand.Rand, name string)) {
	t.Helper()
	t.Parallel()
	for seed := range fewer(n) {
		f(t, rand.New(rand.NewPCG(11, seed)), fmt.Sprint("seed ", seed))
	}
}

// The live page and the one who opens incidents never disagree: with the default policy
// the state that saw everything shows what the newest measurements fold to.
func TestStateIsTheFold(t *testing.T) {
	seeds(t, 100, func(t *testing.T, random *rand.Rand, name string) {
		rules, _, events := aWorld(random, Policy{}, 3)
		s := NewState(1)
		newest := map[string]Observation{}
		for _, e := range events {
			s, _ = Step(s, rules, Conditions{}, e)
			if o := *e.Result; o.Status.Measured() && !newest[o.Region].ScheduledAt.After(o.ScheduledAt) {
				newest[o.Region] = o
			}
			var all []Observation
			for _, o := range newest {
				all = append(all, o)
			}
			slices.SortFunc(all, func(a, b Observation) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
			for _, now := range []time.Time{s.At, s.At.Add(time.Duration(random.IntN(200)) * time.Second)} {
				live, here := Fold(rules, Conditions{}, all, Verdict{}, now), s.Verdict(rules, Conditions{}, now)
				if live.State != here.State || live.Why != here.Why || !live.FreshUntil.Equal(here.FreshUntil) {
					t.Fatalf("%s: a page shows %s %q, the state %s %q", name, live.State, live.Why, here.State, here.Why)
				}
			}
		}
	})
}

// Whatever the rules are: who is up was seen to be well, by a region that can judge, not too long ago.
//
// Promise: no target is up without fresh evidence
func TestUpHasFreshEvidence(t *testing.T) {
	seeds(t, 300, func(t *testing.T, random *rand.Rand, name string) {
		rules, c, events := aWorld(random, aPolicy(random), 3)
		if random.IntN(2) == 0 {
			rules.VisitedSince = events[random.IntN(len(events))].At
		}
		s, seen := NewState(1), map[string]map[time.Time]Observation{}
		for _, e := range events {
			s, _ = Step(s, rules, c, e)
			if o := e.Result; o != nil && o.Status.Measured() && !o.Late {
				if seen[o.Region] == nil {
					seen[o.Region] = map[time.Time]Observation{}
				}
				seen[o.Region][o.ScheduledAt] = *o
			}
			for _, now := range []time.Time{s.At, s.At.Add(time.Duration(random.IntN(200)) * time.Second)} {
				well := false
				for region, slots := range seen {
					for slot, o := range slots {
						before := slot.Before(rules.VisitedSince) && rules.VisitedSince.Before(now) // another URL
						well = well || !before && o.Status != uptime.StatusDown && !rules.FreshUntil(slot).Before(now) && !c.BlindAt(region, now) && !c.BlindAt(region, slot)
					}
				}
				if v := s.Verdict(rules, c, now); v.Observed == StateUp && !well {
					t.Fatalf("%s: %+v at %v: up, %q", name, rules.Policy, now, v.Why)
				}
			}
		}
	})
}

// What came again changes nothing; neither does writing the state down and reading it back.
//
// Promise: a result that arrives twice changes nothing
func TestRepeatsChangeNothing(t *testing.T) {
	seeds(t, 100, func(t *testing.T, random *rand.Rand, name string) {
		rules, c, events := aWorld(random, aPolicy(random), 3)
		s := NewState(1)
		for i, e := range events {
			before := text(t, s)
			next, decisions := Step(s, rules, c, e)
			if text(t, s) != before {
				t.Fatalf("%s: the state that was given changed", name)
			}
			read, err := DecodeState([]byte(before))
			if err != nil {
				t.Fatal(err)
			}
			again, decisionsAgain := Step(read, rules, c, e)
			if text(t, again) != text(t, next) || text(t, decisionsAgain) != text(t, decisions) {
				t.Fatalf("%s: from JSON it is\n%s\nnot\n%s", name, text(t, again), text(t, next))
			}
			s = next
			for range 2 {
				old := events[random.IntN(i+1)]
				old.At = s.At
				repeated, decisions := Step(s, rules, c, old)
				if len(decisions) > 0 || text(t, repeated) != text(t, s) {
					t.Fatalf("%s: a repeat of %+v gives %+v\n%s\n%s", name, *old.Result, decisions, text(t, s), text(t, repeated))
				}
			}
		}
	})
}

// Whatever the order in which results come, the regions stand as if they had come in
// order: as long as none is later than what is remembered.
//
// Promise: a verdict does not depend on the order in which results arrive
func TestOrderDoesNotMatter(t *testing.T) {
	seeds(t, 100, func(t *testing.T, random *rand.Rand, name string) {
		rules, c, events := aWorld(random, aPolicy(random), 3)
		shuffled, _ := run(NewState(1), rules, c, events)
		ordered := slices.Clone(events)
		slices.SortStableFunc(ordered, func(a, b Event) int { return a.Result.ScheduledAt.Compare(b.Result.ScheduledAt) })
		inOrder, _ := run(NewState(1), rules, c, ordered)
		if text(t, shuffled.Regions) != text(t, inOrder.Regions) {
			t.Fatalf("%s: regions\n%s\nin order\n%s", name, text(t, shuffled.Regions), text(t, inOrder.Regions))
		}
	})
}

// No event that is late, and no time that passes before a deadline, opens anything; and
// keys are never used twice.
func TestOnlyFreshFailuresOpen(t *testing.T) {
	late, opened := 0, 0
	seeds(t, 200, func(t *testing.T, random *rand.Rand, name string) {
		rules, c, events := aWorld(random, aPolicy(random), 3)
		s := NewState(1)
		newest, keys, open := map[string]time.Time{}, map[time.Time]bool{}, false
		for _, e := range events {
			o := *e.Result
			inOrder := o.ScheduledAt.After(newest[o.Region])
			if inOrder && o.Status.Measured() {
				newest[o.Region] = o.ScheduledAt
			} else {
				late++
			}
			var all []Decision
			s, all = Step(s, rules, c, e)
			for _, d := range all {
				switch d.Kind {
				case Opened:
					opened++
					if !inOrder && d.At.Equal(e.At) || open || keys[d.Slot] {
						t.Fatalf("%s: %+v by %+v", name, d, o)
					}
					open, keys[d.Slot] = true, true
				case Resolved:
					if d.SuppressedBy == "" && !open || d.Ended.Before(d.Began) {
						t.Fatalf("%s: %+v", name, d)
					}
					open = open && d.SuppressedBy != ""
				}
			}
			if open != (s.Incident != nil) {
				t.Fatalf("%s: an incident that nobody was told of", name)
			}
		}
	})
	if late < int(fewer(1000)) || opened < int(fewer(300)) {
		t.Errorf("%d late results, %d incidents: this proves little", late, opened)
	}
}

// Many results like the newest one, at once, are as many steps.
func TestRepeatIsSteps(t *testing.T) {
	seeds(t, 300, func(t *testing.T, random *rand.Rand, name string) {
		policy := aPolicy(random)
		policy.ForS, policy.Flapping.Off = 0, true // no deadlines
		rules := Rules{Interval: time.Minute, Timeout: 10 * time.Second, Active: true, Regions: []string{"eu"}, Policy: policy}
		s, slot := NewState(1), noon
		step := func(s FoldState, status uptime.Status) FoldState {
			s, _ = Step(s, rules, Conditions{}, Event{slot.Add(2 * time.Second), &Observation{Region: "eu", Status: status, ScheduledAt: slot, Revision: 1}})
			slot = slot.Add(time.Minute)
			return s
		}
		for range random.IntN(8) {
			s = step(s, []uptime.Status{uptime.StatusUp, uptime.StatusDown}[random.IntN(2)])
		}
		status := []uptime.Status{uptime.StatusUp, uptime.StatusDown}[random.IntN(2)]
		for range 4 { // then it stands where it stands
			s = step(s, status)
		}
		for n := range 25 {
			at := slot
			want := s
			for range n {
				want = step(want, status)
			}
			slot = at
			if got := Repeat(s, rules, Conditions{}, "eu", time.Minute, 2*time.Second, n); text(t, got) != text(t, want) {
				t.Fatalf("%s, %d times:\n%s\nwant\n%s", name, n, text(t, got), text(t, want))
			}
		}
	})
}

// It does not matter how often somebody ticks.
func TestTicksChangeNothing(t *testing.T) {
	seeds(t, 200, func(t *testing.T, random *rand.Rand, name string) {
		rules, c, events := aWorld(random, aPolicy(random), 3)
		state, decisions := run(NewState(1), rules, c, events)
		var ticking []Event
		for i, e := range events {
			if i > 0 {
				gap := e.At.Sub(events[i-1].At)
				for range random.IntN(3) {
					ticking = append(ticking, Tick(events[i-1].At.Add(time.Duration(random.Int64N(int64(gap)+1)))))
				}
			}
			ticking = append(ticking, e)
		}
		again, decisionsAgain := run(NewState(1), rules, c, ticking)
		if text(t, state) != text(t, again) || text(t, decisions) != text(t, decisionsAgain) {
			t.Fatalf("%s:\n%s\n%s\n%s\n%s", name, text(t, state), text(t, again), text(t, decisions), text(t, decisionsAgain))
		}
	})
}

// Before NextDeadline nothing changes by itself.
func TestNothingHappensBeforeTheDeadline(t *testing.T) {
	kept := 0
	seeds(t, 100, func(t *testing.T, random *rand.Rand, name string) {
		rules, c, events := aWorld(random, aPolicy(random), 2)
		s := NewState(1)
		for _, e := range events {
			s, _ = Step(s, rules, c, e)
			end := s.At.Add(10 * time.Minute)
			if at := NextDeadline(s, rules, c); !at.IsZero() && at.Before(end) {
				kept++
				end = at.Add(-time.Nanosecond)
			}
			between := s.At.Add(time.Duration(random.Int64N(int64(end.Sub(s.At)) + 1)))
			waited, decisions := Step(s, rules, c, Tick(between))
			waited.At = s.At
			if len(decisions) > 0 || text(t, waited) != text(t, s) {
				t.Fatalf("%s: %v after the event: %+v\n%s\n%s", name, between.Sub(s.At), decisions, text(t, s), text(t, waited))
			}
		}
	})
	if kept < int(fewer(1000)) {
		t.Errorf("%d deadlines: this proves little", kept)
	}
}
