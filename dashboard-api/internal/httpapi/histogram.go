package httpapi

import (
	"context"

	"github.com/probefleet/probefleet/internal/resultstore"
)

type histogramBucket struct {
	FromUS uint64 `json:"from_us" doc:"the least of it"`
	ToUS   uint64 `json:"to_us" doc:"the first that is not in it"`
	Count  uint64 `json:"count"`
}

type histogramBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	From       instant           `json:"from" doc:"later than asked when results are not kept for so long"`
	To         instant           `json:"to"`
	Count      uint64            `json:"count" doc:"results that were up or degraded: those have a response time"`
	Buckets    []histogramBucket `json:"buckets" nullable:"false" doc:"from the fastest to the slowest, none left out; four to a doubling, so evenly wide on a logarithmic scale"`
}

func (a *api) histogram(ctx context.Context, in *struct {
	TargetPath
	Between
	OfRegion
}) (*pastOutput[histogramBody], error) {
	return ofWindow(ctx, a, "histogram", in.ID, in.Between, in.OfRegion, a.Results.Histogram, histogramOf)
}

func histogramOf(h resultstore.Histogram) histogramBody {
	body := histogramBody{From: instant(h.From), To: instant(h.To), Count: h.Count, Buckets: make([]histogramBucket, len(h.Buckets))}
	for i, b := range h.Buckets {
		body.Buckets[i] = histogramBucket{b.From, b.To, b.Count}
	}
	return body
}
