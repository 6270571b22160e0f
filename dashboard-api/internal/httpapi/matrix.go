package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
)

type matrixRow struct {
	Region   string              `json:"region"`
	Up       []uint64            `json:"up" nullable:"false"`
	Degraded []uint64            `json:"degraded" nullable:"false"`
	Down     []uint64            `json:"down" nullable:"false"`
	Unknown  []uint64            `json:"unknown" nullable:"false"`
	Missed   []uint64            `json:"missed" nullable:"false"`
	P50US    []nullable[float64] `json:"p50_us" nullable:"false"`
	P95US    []nullable[float64] `json:"p95_us" nullable:"false"`
	Revised  []revisedStep       `json:"revised" nullable:"false" doc:"the steps with an hour that was corrected after it had closed"`
}

type matrixBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Tier       string            `json:"tier" enum:"raw,hourly,daily" doc:"as in a series; empty without results"`
	StepS      int64             `json:"step_s"`
	X          []int64           `json:"x" nullable:"false" doc:"Unix seconds of the start of each step; every list of a row has one element for each"`
	Items      []matrixRow       `json:"items" nullable:"false" doc:"one a region that has results in the range"`
}

func (a *api) matrix(ctx context.Context, in *struct {
	TargetPath
	Between
	Steps
}) (*pastOutput[matrixBody], error) {
	now := a.Now()
	from, to, err := in.upTo(longestFigures, now)
	if err != nil {
		return nil, err
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	question := fmt.Sprintf("matrix %d %d %s", in.ID, in.StepS, window(from, to, now))
	of := about{question: question, targets: []int64{in.ID}, span: availability.Span{From: from, To: to}, whole: in.whole()}
	return recent(ctx, a, of, func(ctx context.Context) (matrixBody, error) {
		all, err := a.Results.Matrix(ctx, resultstore.SeriesQuery{TargetID: in.ID, From: from, To: to, Step: in.duration()})
		if err != nil {
			return matrixBody{}, asked(err)
		}
		return matrixOf(all), nil
	})
}

func matrixOf(all map[string]resultstore.Series) matrixBody {
	body := matrixBody{X: []int64{}, Items: []matrixRow{}}
	for _, region := range slices.Sorted(maps.Keys(all)) {
		s := all[region]
		if len(body.Items) == 0 { // all have the same steps
			body.Tier, body.StepS = string(s.Tier), int64(s.Step/time.Second)
			for _, at := range s.At {
				body.X = append(body.X, at.Unix())
			}
		}
		_, revised := revisedSteps(s)
		body.Items = append(body.Items, matrixRow{
			Region: region, Up: s.Up, Degraded: s.Degraded, Down: s.Down, Unknown: s.Unknown, Missed: s.Missed,
			P50US: nullNaN(s.P50), P95US: nullNaN(s.P95), Revised: revised,
		})
	}
	return body
}
