package httpapi

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// niceSteps are the widths a series is drawn in when the caller does not choose.
var niceSteps = [...]int64{10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400}

// nicePoints is about as many points as a chart has room for.
const nicePoints = 300

type seriesBody struct {
	StaleSince nullable[instant]   `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Tier       string              `json:"tier" enum:"raw" doc:"what the series was folded from"`
	StepS      int64               `json:"step_s"`
	Partial    bool                `json:"partial" doc:"the first or the last step is cut off by the range or by the present"`
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

func (a *api) series(ctx context.Context, in *struct {
	TargetPath
	Between
	StepS  int64  `query:"step_s" minimum:"1" maximum:"86400" doc:"by default what gives about 300 points"`
	Region string `query:"region" maxLength:"32" doc:"by default all"`
}) (*pastOutput[seriesBody], error) {
	now := a.Now()
	from, to, err := in.resolve(now)
	if err != nil {
		return nil, err
	}
	step := in.StepS
	if step == 0 {
		step = niceStep(to.Sub(from))
	}
	if points := int64(to.Sub(from).Seconds())/step + 2; points > resultstore.MaxPoints {
		return nil, mistakes([]Mistake{{Parameter: "step_s", Code: codeInvalidParameter, Message: fmt.Sprintf("this makes %d points; at most %d: take a wider step", points, resultstore.MaxPoints)}})
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	question := fmt.Sprintf("series %d %q %d %s", in.ID, in.Region, step, window(from, to, now))
	return past(ctx, a, question, func(ctx context.Context) (seriesBody, error) {
		s, err := a.Results.Series(ctx, resultstore.SeriesQuery{TargetID: in.ID, From: from, To: to, Step: time.Duration(step) * time.Second, Region: in.Region})
		if err != nil {
			return seriesBody{}, down(clickHouse, err)
		}
		return seriesOf(s, step, from, earlier(to, now)), nil
	})
}

// seriesOf shows a series that was asked for from to end.
func seriesOf(s resultstore.Series, step int64, from, end time.Time) seriesBody {
	body := seriesBody{
		Tier: "raw", StepS: step, X: make([]int64, len(s.At)),
		Count: orEmpty(s.Count), Up: orEmpty(s.Up), Degraded: orEmpty(s.Degraded), Down: orEmpty(s.Down), Unknown: orEmpty(s.Unknown), Missed: orEmpty(s.Missed),
		P50US: nullNaN(s.P50), P95US: nullNaN(s.P95), P99US: nullNaN(s.P99),
		DNSUS: nullNaN(s.DNS), ConnectUS: nullNaN(s.Connect), TLSUS: nullNaN(s.TLS), WaitUS: nullNaN(s.Wait), TransferUS: nullNaN(s.Transfer),
	}
	for i, at := range s.At {
		body.X[i] = at.Unix()
	}
	if n := len(s.At); n > 0 {
		body.Partial = s.At[0].Before(from) || s.At[n-1].Add(time.Duration(step)*time.Second).After(end)
	}
	return body
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func niceStep(span time.Duration) int64 {
	for _, step := range niceSteps {
		if span <= time.Duration(step*nicePoints)*time.Second {
			return step
		}
	}
	return niceSteps[len(niceSteps)-1]
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
