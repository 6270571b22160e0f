package live

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func aPolicy(random *rand.Rand) verdict.Policy {
	p := verdict.Policy{DownAfter: random.IntN(4), UpAfter: random.IntN(4), ForS: random.IntN(2) * random.IntN(300)}
	p.Quorum = []verdict.Quorum{{}, {}, {Rule: verdict.QuorumAll}, {Rule: verdict.QuorumCount, Count: 1}, {Rule: verdict.QuorumCount, Count: 2, Firm: true}}[random.IntN(5)]
	p.Degraded = verdict.Degraded{IgnoreMinority: random.IntN(4) == 0, LatencyMS: random.IntN(2) * 500, CertificateDays: random.IntN(2) * 14}
	return p
}

// someResults are those of an hour: late ones, ones that come twice, late measurements,
// corrections and reasons among them.
func someResults(random *rand.Rand, id int64, regions []string, interval time.Duration) (all []uptime.Result) {
	words := []uptime.Status{uptime.StatusUp, uptime.StatusUp, uptime.StatusDown, uptime.StatusDegraded, uptime.StatusMissed, uptime.StatusUnknown}
	for n := range 60 {
		slot := noon.Add(time.Duration(n) * interval)
		for _, region := range regions {
			r := result(id, region, slot, words[random.IntN(len(words))])
			r.IngestedAt = slot.Add(time.Duration(random.IntN(9000)) * time.Millisecond)
			r.TotalUS = uint32(random.IntN(2)) * 900_000
			r.Late = r.Status.Measured() && random.IntN(10) == 0
			if random.IntN(3) == 0 {
				r.CertNotAfter = slot.AddDate(0, 0, 13+random.IntN(3))
			}
			all = append(all, r)
			if random.IntN(10) == 0 { // a second one of the slot
				r.Status, r.Failure, r.Late, r.IngestedAt = uptime.StatusDown, uptime.FailureTimeout, false, r.IngestedAt.Add(time.Second)
				all = append(all, r)
			}
			if random.IntN(5) == 0 {
				all = append(all, all[random.IntN(len(all))])
			}
		}
		if random.IntN(4) == 0 { // what came out of order
			i, j := len(all)-1, max(0, len(all)-1-random.IntN(6))
			all[i], all[j] = all[j], all[i]
		}
	}
	return all
}

// What a page shows is what the one who opens incidents says, by any policy.
func TestShownIsWhatTheRulesDecide(t *testing.T) {
	t.Parallel()
	differs := 0
	seeds := uint64(100)
	if testing.Short() {
		seeds = 25
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(17, seed))
		now := noon
		h := New(Options{Now: func() time.Time { return now }})
		one := target(1)
		one.Interval = time.Duration(10+random.IntN(50)) * time.Second
		policy := aPolicy(random)
		one.Policy = policy.Text()
		active := []string{"ap", "eu", "us"}[:1+random.IntN(3)]
		h.Load([]uptime.Target{one}, nil, active)
		state, rules := verdict.NewState(1), h.Watched()[0].Rules
		if diff := cmp.Diff(policy, rules.Policy); diff != "" {
			t.Fatal(diff)
		}
		for i, r := range someResults(random, 1, active, one.Interval) {
			if at := r.ScheduledAt.Add(time.Duration(random.IntN(12_000)) * time.Millisecond); at.After(now) {
				now = at
			}
			if random.IntN(50) == 0 { // nothing came for a while
				now = now.Add(3 * one.Interval)
			}
			o := verdict.Observed(&r)
			state, _ = verdict.Step(state, rules, verdict.Conditions{}, verdict.Event{At: now, Result: &o})
			h.Apply([]uptime.Result{r})
			h.Refold()
			want, got := state.Verdict(rules, verdict.Conditions{}, now), h.Snapshot().Items[0]
			if got.State != want.State || got.Why != want.Why {
				t.Fatalf("seed %d, result %d, policy %+v: %s, %q\nwant %s, %q", seed, i, policy, got.State, got.Why, want.State, want.Why)
			}
			if policy.Counts() && !cmp.Equal(got.Since, optional(want.Since)) {
				t.Fatalf("seed %d, result %d, policy %+v: since %v, want %v", seed, i, policy, got.Since, want.Since)
			}
			if newest := verdict.Fold(rules, verdict.Conditions{}, h.entries[1].evidence(), verdict.Verdict{}, now); newest.State != want.State {
				differs++
			}
		}
	}
	if differs < 300 {
		t.Errorf("the newest results alone would have said something else %d times: this proves little", differs)
	}
}

// A policy is judged by from when it is saved, on what is known already; neither the bar nor
// the newest results go.
func TestPolicyIsChangedOnTheWay(t *testing.T) {
	t.Parallel()
	now := noon
	h := New(Options{Now: func() time.Time { return now }})
	one := target(1)
	h.Load([]uptime.Target{one}, nil, []string{"eu"})
	come := func(statuses ...uptime.Status) {
		for _, status := range statuses {
			now = now.Add(one.Interval)
			h.Apply([]uptime.Result{result(1, "eu", now, status)})
		}
	}
	save := func(p verdict.Policy) {
		one.SpecVersion++
		one.Policy = p.Text()
		h.Upsert(one)
	}
	shown := func(when string, state verdict.State, ticks int) {
		t.Helper()
		if got := h.Snapshot().Items[0]; got.State != state || len(got.Ticks) != ticks || len(got.RegionStates) != 1 {
			t.Errorf("%s: %s, %q, %d ticks; want %s and %d", when, got.State, got.Why, len(got.Ticks), state, ticks)
		}
	}
	come(uptime.StatusUp, uptime.StatusDown)
	shown("by default", verdict.StateDown, 2)
	save(verdict.Policy{DownAfter: 3})
	shown("one of three", verdict.StateUp, 2)
	come(uptime.StatusDown)
	shown("two of three", verdict.StateUp, 3)
	come(uptime.StatusDown)
	shown("three of three", verdict.StateDown, 4)
	save(verdict.Policy{DownAfter: 3, UpAfter: 2})
	come(uptime.StatusUp)
	shown("one good of two", verdict.StateDown, 5)
	save(verdict.Policy{UpAfter: 3})
	shown("one good of three", verdict.StateDown, 5)
	save(verdict.Policy{})
	shown("by default again", verdict.StateUp, 5)
	save(verdict.Policy{DownAfter: 2})
	now = now.Add(3 * one.Interval)
	h.Refold()
	shown("without fresh evidence", verdict.StateNoData, 5)
}

// One result of a target that is up in three regions.
func BenchmarkApply(b *testing.B) {
	for name, policy := range map[string]verdict.Policy{"default": {}, "thresholds": {DownAfter: 3, UpAfter: 2}} {
		b.Run(name, func(b *testing.B) {
			now := noon
			h := New(Options{Now: func() time.Time { return now }})
			one := target(1)
			one.Policy = policy.Text()
			regions := []string{"ap", "eu", "us"}
			h.Load([]uptime.Target{one}, nil, regions)
			rows := make([]uptime.Result, 1)
			b.ReportAllocs()
			for i := range b.N {
				now = noon.Add(time.Duration(i/3) * one.Interval)
				rows[0] = result(1, regions[i%3], now, uptime.StatusUp)
				h.Apply(rows)
				if i%30 == 0 {
					h.flush(0)
				}
			}
		})
	}
}
