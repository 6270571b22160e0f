package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/troublestore"
)

const (
	// vitalPatience is how old what keeps the promise may be: a standby is at work after 8 s.
	vitalPatience = 15 * time.Second
	accountEvery  = 5 * time.Minute
	accountSpan   = time.Hour
	accountBound  = 20 * time.Second
)

// vitals look at what the promise needs.
type vitals struct {
	watch   *fleetWatch
	now     func() time.Time // that of Redis
	judged  func() time.Time // see evaluator.JudgedUntil
	account interface {
		Report(ctx context.Context, from, to time.Time) ([]ledger.Line, error)
	}

	counted time.Time              // when the account was read last
	lost    []troublestore.Trouble // what it said
}

// wrong says what keeps the fleet from its promise, a sentence each, in the same words as
// long as it is the same. It is used by one goroutine.
func (v *vitals) wrong(ctx context.Context) (said []string) {
	found, unknown := v.look(ctx)
	if unknown != "" {
		return []string{unknown}
	}
	for _, one := range found {
		said = append(said, one.Says)
	}
	return said
}

// troubles is the same for those who tell people; known is false while nothing can be said.
func (v *vitals) troubles(ctx context.Context) (found []troublestore.Trouble, known bool) {
	found, unknown := v.look(ctx)
	return found, unknown == ""
}

func (v *vitals) look(ctx context.Context) (found []troublestore.Trouble, unknown string) {
	now := v.now()
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	add := func(name, title string, severity incidentstore.Severity, says string) {
		found = append(found, troublestore.Trouble{Name: name, Title: title, Severity: severity, Says: says})
	}
	v.watch.mu.Lock()
	seen, adopted, regions := v.watch.seen, slices.Clone(v.watch.adopted), liveRegions(v.watch.adopted, v.watch.aged())
	v.watch.mu.Unlock()
	switch {
	case seen.at.IsZero():
		return nil, "Redis has not answered yet: nothing is known of the fleet"
	case time.Since(seen.at) > vitalPatience:
		return nil, "Redis does not answer since " + stamp(seen.at) + ": nothing is known of the fleet"
	}
	if now.Sub(seen.tick) > vitalPatience {
		add("publisher", "The publisher", incidentstore.Down, "the publisher does not publish: the last second is "+stamp(seen.tick))
	}
	for _, r := range regions {
		if !r.Live && slices.Contains(adopted, r.Region) {
			add("region:"+r.Region, "Probers of region "+r.Region, incidentstore.Down, "no prober of the region "+r.Region+" is alive, or all are drained")
		}
	}
	if until := v.judged(); now.Sub(until) > vitalPatience {
		add("evaluator", "The evaluator", incidentstore.Down, "the evaluator does not judge results: the last it did were of "+stamp(until))
	}
	if now.Sub(v.counted) > accountEvery {
		v.count(ctx, now)
	}
	return append(found, v.lost...), ""
}

// count reads the account of the last hour for which every row is owed. While it cannot be
// read, what it said last stands.
func (v *vitals) count(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, accountBound)
	defer cancel()
	to := now.Truncate(time.Minute)
	lines, err := v.account.Report(ctx, to.Add(-accountSpan), to)
	if err != nil {
		return
	}
	v.counted, v.lost = now, nil
	for _, l := range lines {
		if l.Unexplained > 0 {
			v.lost = append(v.lost, troublestore.Trouble{
				Name: "unexplained:" + l.Region, Title: "Slots of region " + l.Region, Severity: incidentstore.Degraded,
				Says: fmt.Sprintf("%d slots of the region %s have neither a row nor a reason", l.Unexplained, l.Region),
			})
		}
	}
}
