package httpapi

import (
	"context"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
)

// Daily sums up targets as a whole over periods, as the uptime of the API does. A target that
// is gone is absent.
func Daily(o Options) func(ctx context.Context, ids []int64, window availability.Span, periods []availability.Period) (map[int64]*availability.Account, error) {
	a := &api{Options: o}
	return func(ctx context.Context, ids []int64, window availability.Span, periods []availability.Period) (map[int64]*availability.Account, error) {
		targets, err := a.Targets.ByIDs(ctx, ids)
		if err != nil {
			return nil, err
		}
		terms, err := a.terms(ctx, targets, window)
		if err != nil {
			return nil, err
		}
		all := make(map[int64]*availability.Account, len(terms))
		for id, t := range terms {
			all[id] = availability.NewAccount(t.In(""), periods)
		}
		err = a.cells(ctx, terms, periods, resultstore.CellQuery{From: window.From, To: window.To, Whole: true}, func(id int64, _ string, c availability.Cell) { all[id].Add(c) })
		return all, err
	}
}
