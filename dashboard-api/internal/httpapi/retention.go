package httpapi

import (
	"context"
	"time"
)

type retentionBody struct {
	ResultsH int64 `json:"results_h" doc:"hours that each result is kept for"`
	HourlyH  int64 `json:"hourly_h" doc:"hours that figures of hours are kept for"`
	DailyH   int64 `json:"daily_h" doc:"hours that figures of days are kept for"`
}

type retentionOutput struct{ Body retentionBody }

// retention is what the tables were last seen to say, less what was dropped before they were
// made to keep more.
func (a *api) retention(context.Context, *struct{}) (*retentionOutput, error) {
	kept := a.Results.LastKept()
	whole := func(d time.Duration) int64 { return int64(d / time.Hour) }
	return &retentionOutput{retentionBody{whole(kept.Raw), whole(kept.Hourly), whole(kept.Daily)}}, nil
}
