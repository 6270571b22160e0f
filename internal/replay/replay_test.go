package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// each steps every result, in the order in which they were known.
func each(h History, policy verdict.Policy) (verdict.FoldState, []verdict.Decision) {
	state, rules := verdict.NewState(h.TargetID), h.rules(policy)
	var events []verdict.Event
	for _, r := range h.Runs {
		for n := range r.Count {
			o := r.observation(n)
			events = append(events, verdict.Event{At: r.known(n), Result: &o})
		}
	}
	slices.SortFunc(events, func(a, b verdict.Event) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Result.Region, b.Result.Region), a.Result.ScheduledAt.Compare(b.Result.ScheduledAt))
	})
	var decisions []verdict.Decision
	for _, e := range events {
		after, all := verdict.Step(state, rules, h.Conditions, e)
		state, decisions = after, append(decisions, all...)
	}
	return state, decisions
}

// aHistory is random: long runs and short ones, gaps, slow answers, maintenance, blindness.
func aHistory(random *rand.Rand, slots int) History {
	interval := time.Duration(10+random.IntN(110)) * time.Second
	h := History{TargetID: 7, Interval: interval, Timeout: min(10*time.Second, interval/2), Regions: []string{"ap", "eu", "us"}[:1+random.IntN(3)]}
	length := time.Duration(slots) * interval
	some := func() verdict.Span {
		from := noon.Add(time.Duration(random.Int64N(int64(length)))).Truncate(time.Millisecond)
		return verdict.Span{From: from, To: from.Add(time.Duration(random.Int64N(int64(length) / 5))).Truncate(time.Millisecond)}
	}
	for random.IntN(3) == 0 {
		h.Conditions.Maintenance = append(h.Conditions.Maintenance, some())
	}
	for random.IntN(2) == 0 {
		h.Conditions.Blind = append(h.Conditions.Blind, verdict.Blindness{Region: h.Regions[random.IntN(len(h.Regions))], Span: some()})
	}
	statuses := []uptime.Status{uptime.StatusUp, uptime.StatusUp, uptime.StatusDown, uptime.StatusDown, uptime.StatusDegraded}
	for _, region := range h.Regions {
		slot := noon.Add(time.Duration(random.IntN(3)) * interval)
		for slot.Before(noon.Add(length)) {
			r := Run{Region: region, First: slot, Every: interval, Count: 1 + random.IntN(3), Status: statuses[random.IntN(len(statuses))], TotalUS: uint32(random.IntN(2)) * 900_000, Lag: time.Duration(1+random.IntN(12)) * time.Second}
			if random.IntN(2) == 0 {
				r.Count = 1 + random.IntN(slots/3)
			}
			if random.IntN(8) == 0 { // another interval for a while
				r.Every = time.Duration(1+random.IntN(4)) * interval
			}
			if r.Status == uptime.StatusDown {
				r.Failure = uptime.Failures()[random.IntN(3)]
			}
			if random.IntN(10) == 0 { // it was long on the way
				r.Lag = time.Duration(random.IntN(20)) * interval
			}
			if random.IntN(4) == 0 {
				r.CertNotAfter = noon.Add(15*24*time.Hour + time.Duration(random.Int64N(int64(length))))
			}
			h.Runs = append(h.Runs, r)
			slot = r.slot(r.Count)
			if random.IntN(6) == 0 {
				slot = slot.Add(time.Duration(random.IntN(10)) * interval)
			}
		}
	}
	return h
}

func aPolicy(random *rand.Rand) verdict.Policy {
	p := verdict.Policy{DownAfter: random.IntN(4), UpAfter: random.IntN(4), ForS: random.IntN(2) * random.IntN(600)}
	p.Quorum = []verdict.Quorum{{}, {}, {Rule: verdict.QuorumAll}, {Rule: verdict.QuorumCount, Count: 1}, {Rule: verdict.QuorumCount, Count: 2, Firm: true}}[random.IntN(5)]
	if random.IntN(3) == 0 {
		p.OpenOn = verdict.SeverityDegraded
	}
	p.Degraded = verdict.Degraded{IgnoreMinority: random.IntN(4) == 0, LatencyMS: random.IntN(2) * 500, CertificateDays: random.IntN(2) * 15}
	p.Flapping.Off = random.IntN(3) == 0
	return p
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Runs give, bit for bit, what stepping each result gives.
func TestRunsAreTheirResults(t *testing.T) {
	t.Parallel()
	decided, histories := 0, uint64(400)
	if testing.Short() {
		histories = 25
	}
	for seed := range histories {
		random := rand.New(rand.NewPCG(5, seed))
		h, policy := aHistory(random, 150), aPolicy(random)
		state, decisions := Target(t.Context(), h, policy)
		want, all := each(h, policy)
		decided += len(all)
		for i, d := range all {
			if i >= len(decisions) || text(t, d) != text(t, decisions[i]) {
				t.Fatalf("seed %d: decision %d is %s\nwant %s", seed, i, text(t, decisions[min(i, len(decisions)):]), text(t, d))
			}
		}
		if len(decisions) != len(all) || text(t, state) != text(t, want) {
			t.Fatalf("seed %d: %d decisions and\n%s\nwant %d and\n%s", seed, len(decisions), text(t, state), len(all), text(t, want))
		}
	}
	if decided < 5*int(histories) {
		t.Errorf("%d decisions: this proves little", decided)
	}
}

// The cost goes with the changes: a year of nothing is a few steps.
func TestNothingCostsNothing(t *testing.T) {
	t.Parallel()
	for _, count := range []int{100, 100_000, 10_000_000} {
		h := History{TargetID: 1, Interval: time.Minute, Timeout: time.Second, Regions: []string{"eu", "us"}}
		for _, region := range h.Regions {
			h.Runs = append(h.Runs, Run{Region: region, First: noon, Every: time.Minute, Count: count, Status: uptime.StatusUp, Lag: time.Second})
		}
		p := player{rules: h.rules(verdict.Policy{}), lanes: lanes(h.Runs, verdict.Policy{}, h.Conditions), state: verdict.NewState(1), settled: 2}
		steps := 0
		for l := p.first(); l != nil; l = p.first() {
			if p.quiet() && p.skip() {
				continue
			}
			p.step(l)
			steps++
		}
		if steps > 12 {
			t.Errorf("%d results took %d steps", 2*count, steps)
		}
	}
}

// Results make runs, and the runs make the same results.
func TestCompress(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	var results []uptime.Result
	for i := range 3000 {
		r := uptime.Result{Region: []string{"eu", "us"}[i%2], ScheduledAt: noon.Add(time.Duration(i/2) * time.Minute), Status: uptime.StatusUp, TotalUS: uint32(random.IntN(400_000))}
		r.CheckedAt = r.ScheduledAt.Add(5 * time.Millisecond)
		switch random.IntN(60) {
		case 0:
			r.Status, r.Failure = uptime.StatusDown, uptime.FailureTimeout
		case 1:
			r.Status, r.Reason = uptime.StatusUnknown, uptime.ReasonProbeBlind
		case 2:
			r.TotalUS = 700_000
		case 3:
			r.Late = true
		}
		results = append(results, r)
	}
	measured := 0
	for _, r := range results {
		if r.Status.Measured() && !r.Late {
			measured++
		}
	}
	runs, fine := Compress(results, time.Minute), Compress(results, time.Minute, 500)
	counted, failing := 0, 0
	for _, r := range fine {
		counted += r.Count
		if r.Status == uptime.StatusDown {
			failing += r.Count
		}
	}
	if counted != measured || len(runs) > 250 || len(fine) <= len(runs) || failing == 0 {
		t.Errorf("%d of %d results in %d runs, %d with latency", counted, measured, len(runs), len(fine))
	}
	h := History{TargetID: 1, Interval: time.Minute, Timeout: 10 * time.Second, Regions: []string{"eu", "us"}, Runs: fine}
	slow := verdict.Policy{Degraded: verdict.Degraded{LatencyMS: 500}, OpenOn: verdict.SeverityDegraded}
	state, decisions := Target(t.Context(), h, slow)
	want, all := each(h, slow)
	if text(t, state) != text(t, want) || text(t, decisions) != text(t, all) || len(all) < 20 {
		t.Errorf("%d decisions, want %d", len(decisions), len(all))
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	run := func(region string, minute, count int, status uptime.Status) Run {
		r := Run{Region: region, First: noon.Add(time.Duration(minute) * time.Minute), Every: time.Minute, Count: count, Status: status, Lag: 2 * time.Second}
		if status == uptime.StatusDown {
			r.Failure = uptime.FailureTimeout
		}
		return r
	}
	h := History{TargetID: 1, Interval: time.Minute, Timeout: 10 * time.Second, Regions: []string{"eu", "us"}}
	const up, down = uptime.StatusUp, uptime.StatusDown
	h.Runs = []Run{
		run("eu", 0, 60, up), run("eu", 60, 1, down), run("eu", 61, 59, up), run("eu", 120, 10, down), run("eu", 130, 50, up), run("eu", 180, 5, down), run("eu", 185, 55, up), run("eu", 240, 5, down),
		run("us", 0, 60, up), run("us", 60, 1, down), run("us", 61, 59, up), run("us", 120, 10, down), run("us", 130, 110, up), run("us", 240, 5, down),
	}
	quick, slow := Compare([]History{h}, verdict.Policy{}, verdict.Policy{DownAfter: 3}, 5*time.Minute, 2)
	for name, c := range map[string]struct{ got, want Report }{
		"quorum":         {quick, Report{Results: 490, Incidents: 3, Pages: 3, FalseAlarms: 1, DelayP50: 2 * time.Second, DelayP99: 2 * time.Second, DelayMost: 2 * time.Second, Downtime: 11*time.Minute + 4*time.Minute + 2*time.Second, StillOpen: 1}},
		"three in a row": {slow, Report{Results: 490, Incidents: 2, Pages: 2, DelayP50: 122 * time.Second, DelayP99: 122 * time.Second, DelayMost: 122 * time.Second, Downtime: 10*time.Minute + 4*time.Minute + 2*time.Second, StillOpen: 1}},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%s:\n%+v, want\n%+v", name, c.got, c.want)
		}
	}
	any := Fleet([]History{h}, verdict.Policy{Quorum: verdict.Quorum{Rule: verdict.QuorumCount, Count: 1}}, 5*time.Minute, 1)
	if any.Pages != 4 || any.FalseAlarms != 2 {
		t.Errorf("any region pages: %+v", any)
	}
}

// ninetyDays of 1,000 targets in three regions, a result a minute: 389 million. One in a
// thousand fails alone, and each target has a real outage a week.
func ninetyDays(targets int) []History {
	const slots = 90 * 24 * 60
	var all []History
	for id := range targets {
		random := rand.New(rand.NewPCG(1, uint64(id)))
		h := History{TargetID: int64(id), Interval: time.Minute, Timeout: 10 * time.Second, Regions: []string{"ap", "eu", "us"}}
		var outages [][2]int
		for week := range 13 {
			from := week*7*1440 + random.IntN(6*1440)
			outages = append(outages, [2]int{from, from + 1 + random.IntN(60)})
		}
		for _, region := range h.Regions {
			status, since := uptime.StatusUp, 0
			flush := func(to int, next uptime.Status) {
				if to > since {
					r := Run{Region: region, First: noon.Add(time.Duration(since) * time.Minute), Every: time.Minute, Count: to - since, Status: status, Lag: time.Second}
					if status == uptime.StatusDown {
						r.Failure, r.Lag = uptime.FailureTimeout, 11*time.Second
					}
					h.Runs = append(h.Runs, r)
				}
				since, status = to, next
			}
			at := 0
			for _, o := range append(outages, [2]int{slots, slots}) {
				for at += 1 + int(random.ExpFloat64()*1000); at < o[0]; at += 2 + int(random.ExpFloat64()*1000) {
					flush(at, uptime.StatusDown)
					flush(at+1, uptime.StatusUp)
				}
				flush(o[0], uptime.StatusDown)
				flush(o[1], uptime.StatusUp)
				at = o[1]
			}
			flush(slots, uptime.StatusUp)
		}
		all = append(all, h)
	}
	return all
}

func BenchmarkNinetyDays(b *testing.B) {
	histories := ninetyDays(1000)
	runs := 0
	for _, h := range histories {
		runs += len(h.Runs)
	}
	for b.Loop() {
		r := Fleet(histories, verdict.Policy{}, 2*time.Minute, 2)
		b.ReportMetric(float64(r.Results), "results")
		b.ReportMetric(float64(runs), "runs")
		b.ReportMetric(float64(r.Pages), "pages")
	}
}

// That it flaps says nothing of when an incident began.
func TestFlappingLeavesTheBeginning(t *testing.T) {
	t.Parallel()
	h := History{TargetID: 1, Interval: time.Minute, Timeout: 10 * time.Second, Regions: []string{"eu"}}
	at := noon
	more := func(status uptime.Status, count int) {
		h.Runs = append(h.Runs, Run{Region: "eu", First: at, Every: time.Minute, Count: count, Status: status, Lag: time.Second})
		at = at.Add(time.Duration(count) * time.Minute)
	}
	for range 4 {
		more(uptime.StatusDown, 1)
		more(uptime.StatusUp, 1)
	}
	more(uptime.StatusUp, 200)
	var kinds []verdict.Kind
	_, decisions := Target(t.Context(), h, verdict.Policy{})
	for _, d := range decisions {
		kinds = append(kinds, d.Kind)
	}
	if !slices.Contains(kinds, verdict.FlappingBegan) || !slices.Contains(kinds, verdict.FlappingEnded) {
		t.Fatal("it does not flap:", kinds)
	}
	for _, i := range Incidents(t.Context(), h, verdict.Policy{}, 0) {
		if !i.Began.Equal(i.Slot) || i.Until.Sub(i.Began) != time.Minute || i.Severity != verdict.SeverityDown {
			t.Errorf("%+v", i)
		}
	}
}
