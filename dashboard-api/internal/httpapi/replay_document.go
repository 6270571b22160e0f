package httpapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/replay"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Bounds of a replay.
const (
	maxReplayTargets = 50
	maxReplayDays    = 90
	replayDays       = 30
	// maxReplayed is how many results may be asked for, by what is planned of the targets.
	maxReplayed = 2_500_000
	// maxRuns is how many runs of results that are alike are held in memory at a time.
	maxRuns = 300_000
	// maxReplayIncidents are told one by one, of a target and policy.
	maxReplayIncidents = 500
	maxShortS          = 24 * 3600
)

// ReplayInput asks what a policy would have told of the past.
type ReplayInput struct {
	TargetIDs []int64         `json:"target_ids" minItems:"1" maxItems:"50" nullable:"false"`
	Policy    *verdict.Policy `json:"policy" doc:"The proposed one. It is compared with each target's own of now."`
	From      *string         `json:"from,omitempty" format:"date-time" doc:"First slot. Default 30 days before to; at most 90 days are replayed, as far as results are kept."`
	To        *string         `json:"to,omitempty" format:"date-time" doc:"First slot that is not included. Default now."`
	ShortS    *int64          `json:"short_s,omitempty" minimum:"0" maximum:"86400" doc:"A page about a shorter outage is a false alarm. Default two of the target's intervals."`
}

// replayQuestion is a ReplayInput that can be answered.
type replayQuestion struct {
	targets  []uptime.Target
	policy   verdict.Policy
	from, to time.Time
	short    time.Duration // negative: two intervals
}

// ReplayFigures are what a policy would have told.
type ReplayFigures struct {
	Incidents   int               `json:"incidents"`
	Pages       int               `json:"pages" doc:"how often somebody would have been paged"`
	FalseAlarms int               `json:"false_alarms" doc:"pages about an outage that was shorter than short_s, or that only one of several regions saw"`
	DelayP50S   nullable[float64] `json:"delay_p50_s" doc:"from the first failing slot until the page; null without pages, like the two below"`
	DelayP99S   nullable[float64] `json:"delay_p99_s"`
	DelayMostS  nullable[float64] `json:"delay_most_s"`
	DowntimeS   float64           `json:"downtime_s" doc:"of all incidents"`
	StillOpen   int               `json:"still_open" doc:"incidents that were open at the end"`
}

// replayedIncident is an incident that would have been.
type replayedIncident struct {
	FirstSlot  instant           `json:"first_slot"`
	BeganAt    instant           `json:"began_at" doc:"the first slot, corrected by what came late"`
	EndedAt    nullable[instant] `json:"ended_at" doc:"null: it was open at the end"`
	PagedAt    nullable[instant] `json:"paged_at" doc:"null: nobody would have been paged"`
	Severity   string            `json:"severity" enum:"down,degraded"`
	FalseAlarm bool              `json:"false_alarm"`
}

// replayedPolicy is what one policy would have told of one target.
type replayedPolicy struct {
	Policy verdict.Policy `json:"policy"`
	ReplayFigures
	Items   []replayedIncident `json:"items" nullable:"false" doc:"its incidents, the oldest first; at most 500"`
	LeftOut int                `json:"left_out" doc:"incidents that are not among them"`
}

type replayedTarget struct {
	TargetID int64             `json:"target_id"`
	From     instant           `json:"from" doc:"from when on it was replayed: not before results are kept, nor before its interval became what it is"`
	Since    nullable[instant] `json:"results_since" doc:"the first result there is; null: none"`
	Results  int               `json:"results"`
	LeftOut  []string          `json:"left_out" nullable:"false" enum:"parent" doc:"what the target is judged by and a replay is not: parent, the target that it depends on. What was down with that is among the pages here"`
	Proposed replayedPolicy    `json:"proposed"`
	Current  replayedPolicy    `json:"current"`
}

type replayBody struct {
	From      instant          `json:"from"`
	To        instant          `json:"to"`
	KeptSince instant          `json:"kept_since" doc:"from when on results are kept: figures of hours do not say in which order things failed"`
	Results   int              `json:"results"`
	Proposed  ReplayFigures    `json:"proposed"`
	Current   ReplayFigures    `json:"current"`
	Targets   []replayedTarget `json:"targets" nullable:"false"`
}

// judgeReplay gives what an input asks, or every mistake in it.
func (a *api) judgeReplay(ctx context.Context, body document[ReplayInput]) (q replayQuestion, err error) {
	var failed error
	p := read(body, func(in ReplayInput, _ nulls) (found []Mistake) {
		mistake := func(pointer, code, format string, args ...any) {
			found = append(found, Mistake{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
		}
		if in.Policy == nil {
			mistake("/policy", codeRequired, "say which policy to try: {} is the default")
		} else {
			q.policy = *in.Policy
			found = append(found, mistakesIn(q.policy)...)
		}
		if q.short = -1; in.ShortS != nil {
			if q.short = time.Duration(*in.ShortS) * time.Second; *in.ShortS < 0 || *in.ShortS > maxShortS {
				mistake("/short_s", verdict.CodeOutOfRange, "want 0 to %d seconds", maxShortS)
			}
		}
		q.from, q.to = a.replayRange(in, mistake)
		switch n := len(in.TargetIDs); {
		case n == 0:
			mistake("/target_ids", codeRequired, "say whose past to replay")
		case n > maxReplayTargets:
			mistake("/target_ids", codeTooLong, "at most %d targets at once", maxReplayTargets)
		default:
			if q.targets, failed = a.Targets.ByIDs(ctx, in.TargetIDs); failed != nil {
				return found
			}
			for i, id := range in.TargetIDs {
				if !slices.ContainsFunc(q.targets, func(t uptime.Target) bool { return t.ID == id }) {
					mistake(item("/target_ids", i), codeNotFound, "there is no such target")
				}
			}
		}
		if len(found) == 0 {
			if asked := a.planned(q); asked > maxReplayed {
				mistake("/from", codeTooLarge, "this asks for about %d results, and %d is the limit: ask for fewer days, or fewer targets at once", asked, maxReplayed)
			}
		}
		return found
	})
	switch {
	case failed != nil:
		return q, failed
	case p != nil:
		return q, p
	}
	return q, nil
}

// replayRange gives the range that is meant.
func (a *api) replayRange(in ReplayInput, mistake func(pointer, code, format string, args ...any)) (from, to time.Time) {
	const day = 24 * time.Hour
	instantOf := func(pointer string, given *string, other time.Time) time.Time {
		if given == nil {
			return other
		}
		at, err := time.Parse(time.RFC3339, *given)
		if err != nil {
			mistake(pointer, codeInvalidText, "want an instant such as 2026-03-01T12:00:00Z")
			return other
		}
		return at.UTC()
	}
	now := a.Now().UTC().Truncate(time.Millisecond)
	to = instantOf("/to", in.To, now)
	from = instantOf("/from", in.From, to.Add(-replayDays*day))
	switch kept := a.Results.KeptSince(); {
	case to.After(now):
		mistake("/to", codeInvalidRange, "the future cannot be replayed: leave it out for now")
	case !from.Before(to):
		mistake("/from", codeInvalidRange, "from must be before to")
	case to.Sub(from) > maxReplayDays*day:
		mistake("/from", codeInvalidRange, "at most %d days can be replayed", maxReplayDays)
	case !to.After(kept):
		mistake("/to", codeInvalidRange, "results are kept since %s: nothing is kept of this range", kept.UTC().Format(time.RFC3339))
	}
	return from, to
}

// planned is about how many results a question is about.
func (a *api) planned(q replayQuestion) (results int64) {
	for _, t := range q.targets {
		rules := a.Hub.Rules(t)
		results += int64(q.to.Sub(later(q.from, a.Results.KeptSince()))/rules.Interval) * int64(max(1, len(rules.Regions)))
	}
	return results
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// mistakesIn a policy that is a document's member policy.
func mistakesIn(p verdict.Policy) (found []Mistake) {
	for _, problem := range p.Validate() {
		found = append(found, Mistake{Pointer: "/policy" + problem.Pointer, Code: problem.Code, Message: problem.Message})
	}
	return found
}

func told(r replay.Report) ReplayFigures {
	f := ReplayFigures{Incidents: r.Incidents, Pages: r.Pages, FalseAlarms: r.FalseAlarms, DowntimeS: r.Downtime.Seconds(), StillOpen: r.StillOpen}
	if r.Pages > 0 {
		f.DelayP50S, f.DelayP99S, f.DelayMostS = some(r.DelayP50.Seconds()), some(r.DelayP99.Seconds()), some(r.DelayMost.Seconds())
	}
	return f
}

func replayedOf(p verdict.Policy, r replay.Report, incidents []replay.Incident) replayedPolicy {
	shown := incidents[:min(len(incidents), maxReplayIncidents)]
	out := replayedPolicy{Policy: p, ReplayFigures: told(r), Items: make([]replayedIncident, len(shown)), LeftOut: len(incidents) - len(shown)}
	for i, one := range shown {
		out.Items[i] = replayedIncident{FirstSlot: instant(one.Slot), BeganAt: instant(one.Began), PagedAt: maybeInstant(one.PagedAt), Severity: string(one.Severity), FalseAlarm: one.FalseAlarm}
		if !one.Open {
			out.Items[i].EndedAt = some(instant(one.Until))
		}
	}
	return out
}
