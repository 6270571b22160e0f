package httpapi

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
)

type seriesBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Tier       string            `json:"tier" enum:"raw,hourly,daily" doc:"what the series is made from: results, or figures of hours or UTC days, of which percentiles are within 2 %. What has no such figures yet is always from results"`
	From       instant           `json:"from" doc:"what the series covers: the range, in whole hours or days where it is made from those"`
	To         instant           `json:"to"`
	Lacks
	StepS      int64               `json:"step_s"`
	Partial    bool                `json:"partial" doc:"the first or the last step is cut off by what the series covers, or by the present"`
	RevisedAt  nullable[instant]   `json:"revised_at" doc:"when an hour of it was last corrected after it had closed; null when none was"`
	Revised    []revisedStep       `json:"revised" nullable:"false" doc:"the steps with such an hour"`
	X          []int64             `json:"x" nullable:"false" doc:"Unix seconds of the start of each step"`
	Count      []uint64            `json:"count" nullable:"false"`
	Up         []uint64            `json:"up" nullable:"false"`
	Degraded   []uint64            `json:"degraded" nullable:"false"`
	Down       []uint64            `json:"down" nullable:"false"`
	Unknown    []uint64            `json:"unknown" nullable:"false"`
	Missed     []uint64            `json:"missed" nullable:"false"`
	P50US      []nullable[float64] `json:"p50_us" nullable:"false"`
	P95US      []nullable[float64] `json:"p95_us" nullable:"false"`
	P99US      []nullable[float64] `json:"p99_us" nullable:"false"`
	DNSUS      []nullable[float64] `json:"dns_us" nullable:"false" doc:"mean, like the other phases"`
	ConnectUS  []nullable[float64] `json:"connect_us" nullable:"false"`
	TLSUS      []nullable[float64] `json:"tls_us" nullable:"false"`
	WaitUS     []nullable[float64] `json:"wait_us" nullable:"false"`
	TransferUS []nullable[float64] `json:"transfer_us" nullable:"false"`
}

type revisedStep struct {
	X         int64   `json:"x" doc:"Unix seconds of the start of the step"`
	RevisedAt instant `json:"revised_at"`
}

// Steps are those of a series.
type Steps struct {
	StepS int64 `query:"step_s" minimum:"1" maximum:"86400" doc:"a range of more than two days, or of which no results are kept, is best had in whole hours; one of more than 45 days in whole days. By default what gives at most 300 points of those"`
}

func (s Steps) duration() time.Duration { return time.Duration(s.StepS) * time.Second }

// whole is the widest tier that a series of such steps may be made from; 0: results.
func (s Steps) whole() time.Duration {
	for _, tier := range []time.Duration{24 * time.Hour, time.Hour} {
		if s.duration()%tier == 0 { // also of those that are chosen by the length of the range
			return tier
		}
	}
	return 0
}

func (a *api) series(ctx context.Context, in *struct {
	TargetPath
	Between
	Steps
	Region string `query:"region" maxLength:"32" doc:"by default all, and counts are their sums"`
	Folded bool   `query:"folded" doc:"count the target as a whole: all regions of one slot time once. Latencies stay those of all regions"`
}) (*pastOutput[seriesBody], error) {
	now := a.Now()
	from, to, err := in.upTo(longestFigures, now)
	if err != nil {
		return nil, err
	}
	if in.Folded && in.Region != "" {
		return nil, mistakes([]Mistake{{Parameter: "folded", Code: codeInvalidParameter, Message: "a region is no target as a whole: ask for one or the other"}})
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	question := fmt.Sprintf("series %d %q %v %d %s", in.ID, in.Region, in.Folded, in.StepS, window(from, to, now))
	span := availability.Span{From: from, To: to}
	return recent(ctx, a, about{question: question, targets: []int64{in.ID}, span: span, whole: in.whole()}, func(ctx context.Context) (seriesBody, error) {
		s, err := a.Results.Series(ctx, resultstore.SeriesQuery{TargetID: in.ID, From: from, To: to, Step: in.duration(), Region: in.Region, Whole: in.Folded})
		if err != nil {
			return seriesBody{}, asked(err)
		}
		body := seriesOf(s, now)
		body.Lacks = a.lacks(span)
		return body, nil
	})
}

// seriesOf shows a series as of now.
func seriesOf(s resultstore.Series, now time.Time) seriesBody {
	body := seriesBody{
		Tier: string(s.Tier), From: instant(s.From), To: instant(s.To), StepS: int64(s.Step / time.Second), X: make([]int64, len(s.At)),
		Count: orEmpty(s.Count), Up: orEmpty(s.Up), Degraded: orEmpty(s.Degraded), Down: orEmpty(s.Down), Unknown: orEmpty(s.Unknown), Missed: orEmpty(s.Missed),
		P50US: nullNaN(s.P50), P95US: nullNaN(s.P95), P99US: nullNaN(s.P99),
		DNSUS: nullNaN(s.DNS), ConnectUS: nullNaN(s.Connect), TLSUS: nullNaN(s.TLS), WaitUS: nullNaN(s.Wait), TransferUS: nullNaN(s.Transfer),
	}
	for i, at := range s.At {
		body.X[i] = at.Unix()
	}
	if n := len(s.At); n > 0 {
		body.Partial = s.At[0].Before(s.From) || s.At[n-1].Add(s.Step).After(earlier(s.To, now))
	}
	var last time.Time
	last, body.Revised = revisedSteps(s)
	body.RevisedAt = maybeInstant(last)
	return body
}

// revisedSteps are the steps of a series that were corrected, and when the last was.
func revisedSteps(s resultstore.Series) (last time.Time, steps []revisedStep) {
	steps = []revisedStep{}
	for i, at := range s.RevisedAt {
		if !at.IsZero() {
			steps = append(steps, revisedStep{s.At[i].Unix(), instant(at)})
		}
		if at.After(last) {
			last = at
		}
	}
	return last, steps
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func nullNaN(column []float64) []nullable[float64] {
	out := make([]nullable[float64], len(column))
	for i := range column {
		if !math.IsNaN(column[i]) && !math.IsInf(column[i], 0) {
			out[i] = some(math.Round(column[i]))
		}
	}
	return out
}
