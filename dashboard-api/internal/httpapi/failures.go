package httpapi

import (
	"context"
	"fmt"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
)

// OfRegion narrows a question to a region.
type OfRegion struct {
	Region string `query:"region" maxLength:"32" doc:"by default all"`
}

type failureExample struct {
	Region      string            `json:"region"`
	ScheduledAt instant           `json:"scheduled_at" doc:"the newest such slot; with region it names the evidence"`
	CheckedAt   nullable[instant] `json:"checked_at"`
	HTTPStatus  int               `json:"http_status"`
	TotalUS     uint32            `json:"total_us"`
	Message     string            `json:"message"`
	Prober      string            `json:"prober"`
}

type failureBody struct {
	Status  string         `json:"status" enum:"degraded,down,unknown,missed"`
	Failure string         `json:"failure" doc:"what was wrong at the target; empty when nothing was"`
	Reason  string         `json:"reason" doc:"why there is no measurement; empty when there is one"`
	Count   uint64         `json:"count" doc:"slots"`
	First   instant        `json:"first" doc:"the first such slot of the range"`
	Last    instant        `json:"last"`
	Example failureExample `json:"example"`
}

type failuresBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	From       instant           `json:"from" doc:"later than asked when results are not kept for so long"`
	To         instant           `json:"to"`
	Items      []failureBody     `json:"items" nullable:"false" doc:"those with the most slots first"`
}

func (a *api) failures(ctx context.Context, in *struct {
	TargetPath
	Between
	OfRegion
}) (*pastOutput[failuresBody], error) {
	return ofWindow(ctx, a, "failures", in.ID, in.Between, in.OfRegion, a.Results.Failures, failuresOf)
}

// ofWindow answers a question about the results of a target in a range.
func ofWindow[A, B any](ctx context.Context, a *api, what string, id int64, between Between, of OfRegion, ask func(context.Context, resultstore.WindowQuery) (A, error), show func(A) B) (*pastOutput[B], error) {
	now := a.Now()
	from, to, err := between.resolve(now)
	if err != nil {
		return nil, err
	}
	if _, err := a.Targets.Get(ctx, id); err != nil {
		return nil, err
	}
	question := fmt.Sprintf("%s %d %q %s", what, id, of.Region, window(from, to, now))
	return recent(ctx, a, about{question: question, targets: []int64{id}, span: availability.Span{From: from, To: to}}, func(ctx context.Context) (body B, err error) {
		answer, err := ask(ctx, resultstore.WindowQuery{TargetID: id, From: from, To: to, Region: of.Region})
		if err != nil {
			return body, asked(err)
		}
		return show(answer), nil
	})
}

func failuresOf(f resultstore.Failures) failuresBody {
	body := failuresBody{From: instant(f.From), To: instant(f.To), Items: make([]failureBody, len(f.Groups))}
	for i, g := range f.Groups {
		e := g.Example
		body.Items[i] = failureBody{
			Status: g.Status.String(), Failure: string(g.Failure), Reason: string(g.Reason), Count: g.Count, First: instant(g.First), Last: instant(g.Last),
			Example: failureExample{
				Region: e.Region, ScheduledAt: instant(e.ScheduledAt), CheckedAt: maybeInstant(e.CheckedAt),
				HTTPStatus: e.HTTPStatus, TotalUS: e.TotalUS, Message: e.Message, Prober: e.Prober,
			},
		}
	}
	return body
}
