package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/replay"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// maxReplays is how many replays a node works on at once: each takes a core or two.
const maxReplays = 2

type replayOutput struct{ Body replayBody }

// replayPolicy says what a policy would have told of the past of targets, beside what theirs
// of now would have.
func (a *api) replayPolicy(ctx context.Context, in *struct{ Body document[ReplayInput] }) (*replayOutput, error) {
	q, err := a.judgeReplay(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	if !a.Fleet.HistoryOK() {
		return nil, down(clickHouse, errNotAnswering)
	}
	if !a.replaying.TryAcquire(1) {
		return nil, problem(http.StatusServiceUnavailable, codeUnavailable, "too many replays are under way: try again").retryAfter(retryWhenDown)
	}
	defer a.replaying.Release(1)
	body, err := whileAnswering(ctx, a.Fleet, func(ctx context.Context) (replayBody, error) { return a.replayAll(ctx, q) })
	if err != nil {
		return nil, err
	}
	return &replayOutput{body}, nil
}

// replayAll replays one target after the other: what is in memory is that of one.
func (a *api) replayAll(ctx context.Context, q replayQuestion) (body replayBody, err error) {
	ids := make([]int64, len(q.targets))
	for i, t := range q.targets {
		ids[i] = t.ID
	}
	every, err := a.Schedules.Intervals(ctx, ids)
	if err != nil {
		return body, err
	}
	windows, err := a.Maintenance.Holding(ctx, q.from.Add(-mostLead))
	if err != nil {
		return body, err
	}
	kept := a.Results.KeptSince().UTC()
	body = replayBody{From: instant(q.from), To: instant(q.to), KeptSince: instant(kept), Targets: []replayedTarget{}}
	var proposed, current []replay.Incident
	for _, t := range q.targets {
		from := later(q.from, kept)
		if changes := every[t.ID]; len(changes) > 1 { // results of another interval are judged by other rules
			from = later(from, changes[len(changes)-1].From)
		}
		past, err := a.pastOf(ctx, t, windows, from, q)
		if err != nil {
			return body, err
		}
		one, a, b, err := past.compare(ctx, q)
		if err != nil {
			return body, err
		}
		body.Results += one.Results
		body.Targets, proposed, current = append(body.Targets, one), append(proposed, a...), append(current, b...)
	}
	body.Proposed, body.Current = told(replay.Sum(0, proposed)), told(replay.Sum(0, current))
	return body, nil
}

// pastOfTarget is what a target's policies are tried on.
type pastOfTarget struct {
	replay.History
	current verdict.Policy
	from    time.Time // what was opened before is none of the answer
	since   time.Time // first result from then on; zero: none
	results int
	leftOut []string
}

// pastOf reads a target's past. It begins a while before from, so that what is open, flaps or
// is counted then is known.
func (a *api) pastOf(ctx context.Context, t uptime.Target, windows []maintenancestore.Window, from time.Time, q replayQuestion) (p pastOfTarget, err error) {
	rules := a.Hub.Rules(t)
	p = pastOfTarget{History: replay.History{TargetID: t.ID, Interval: rules.Interval, Timeout: rules.Timeout, Regions: slices.Clone(rules.Regions)}, current: rules.Policy, from: from}
	begin := from.Add(-leadOf(rules, q.policy))
	if t.ParentID != 0 {
		p.leftOut = []string{"parent"}
	}
	for _, w := range windows {
		for _, span := range w.Between(t.ID, begin, q.to) {
			if span.From = later(span.From, w.CreatedAt); span.Holds(span.From) { // nobody knew of it before
				p.Conditions.Maintenance = append(p.Conditions.Maintenance, span)
			}
		}
	}
	runs := replay.NewCompressor(rules.Interval, slices.DeleteFunc([]int{q.policy.Degraded.LatencyMS, rules.Policy.Degraded.LatencyMS}, func(ms int) bool { return ms == 0 })...)
	err = a.Results.Measured(ctx, []int64{t.ID}, begin, q.to, func(r *uptime.Result) error {
		runs.Add(r)
		if len(runs.Runs()) > maxRuns {
			return mistakes([]Mistake{{Pointer: "/from", Code: codeTooLarge, Message: fmt.Sprintf("the results of %s are too unlike each other to replay so many: ask for fewer days", t.Name)}})
		}
		if !r.Late && !r.ScheduledAt.Before(from) {
			p.results++
			if p.since.IsZero() || r.ScheduledAt.Before(p.since) {
				p.since = r.ScheduledAt
			}
		}
		return nil
	})
	if err != nil {
		if _, is := errors.AsType[*Problem](err); !is {
			err = down(clickHouse, err)
		}
		return p, err
	}
	p.Runs = runs.Runs()
	for _, run := range p.Runs { // those that have left since looked at it then
		if !slices.Contains(p.Regions, run.Region) {
			p.Regions = append(p.Regions, run.Region)
		}
	}
	slices.Sort(p.Regions)
	return p, nil
}

// mostLead bounds what is replayed before the first slot.
const mostLead = 7 * 24 * time.Hour

// leadOf is how long before the first slot something can have begun that still counts then.
func leadOf(rules verdict.Rules, proposed verdict.Policy) time.Duration {
	lead := max(time.Hour, 24*rules.Interval)
	for _, p := range []verdict.Policy{rules.Policy, proposed} {
		lead = max(lead, 2*time.Duration(p.ForS)*time.Second)
	}
	return min(lead, mostLead)
}

// compare tries both policies.
func (p *pastOfTarget) compare(ctx context.Context, q replayQuestion) (out replayedTarget, proposed, current []replay.Incident, err error) {
	short := q.short
	if short < 0 {
		short = 2 * p.Interval
	}
	try := func(policy verdict.Policy, into *[]replay.Incident) func() error {
		return func() error {
			*into = slices.DeleteFunc(replay.Incidents(ctx, p.History, policy, short), func(i replay.Incident) bool { return i.OpenedAt.Before(p.from) })
			return ctx.Err()
		}
	}
	var group errgroup.Group
	group.Go(try(q.policy, &proposed))
	group.Go(try(p.current, &current))
	if err := group.Wait(); err != nil {
		return out, nil, nil, err
	}
	return replayedTarget{
		TargetID: p.TargetID, From: instant(p.from), Since: maybeInstant(p.since), Results: p.results, LeftOut: orEmpty(p.leftOut),
		Proposed: replayedOf(q.policy, replay.Sum(p.results, proposed), proposed),
		Current:  replayedOf(p.current, replay.Sum(p.results, current), current),
	}, proposed, current, nil
}
