package recorder

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	askDeleted = time.Second      // longest wait for an answer, and
	doNotAsk   = 10 * time.Second // the pause after there was none: a replay must not crawl
)

// deletedRows leaves rows of deleted targets out of a replay. One answer holds for a
// whole batch: parts of it are told apart by what the store says of them, so they must
// not change in between.
type deletedRows struct {
	gone      map[int64]bool
	known     bool
	notBefore time.Time
}

func (d *deletedRows) forget() { d.gone, d.known = nil, false }

func (d *deletedRows) without(ctx context.Context, ask func(context.Context, []int64) (map[int64]bool, error), rows []uptime.Result) []uptime.Result {
	if ask == nil {
		return rows
	}
	if !d.known && !time.Now().Before(d.notBefore) {
		ctx, cancel := context.WithTimeout(ctx, askDeleted)
		defer cancel()
		if gone, err := ask(ctx, targets(rows)); err == nil {
			d.gone = gone
		} else {
			d.notBefore = time.Now().Add(doNotAsk)
		}
	}
	d.known = true
	if len(d.gone) == 0 {
		return rows
	}
	kept := make([]uptime.Result, 0, len(rows))
	for _, row := range rows {
		if !d.gone[row.TargetID] {
			kept = append(kept, row)
		}
	}
	return kept
}

func targets(rows []uptime.Result) []int64 {
	seen := make(map[int64]bool, len(rows))
	ids := make([]int64, 0, len(rows))
	for _, row := range rows {
		if !seen[row.TargetID] {
			seen[row.TargetID] = true
			ids = append(ids, row.TargetID)
		}
	}
	return ids
}
