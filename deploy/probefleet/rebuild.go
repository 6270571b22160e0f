package main

import (
	"context"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
)

const day = 24 * time.Hour

// rebuilder computes a range again, newest day first, and notes each day that is done.
type rebuilder struct {
	results *resultstore.Store
	notes   *rollupstore.Store
	to      console
	rebuild rollupstore.Rebuild
	first   time.Time // hour that may be computed
	closed  time.Time // hours that ended by then had been published as complete
	now     time.Time

	hours   int
	revised int64
}

// noteLimit is for noting a day that is done: also after a signal, which must not undo it.
const noteLimit = 3 * time.Second

func (b *rebuilder) note(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return do(ctx)
}

func (b *rebuilder) run(ctx context.Context) error {
	total := b.rebuild.To.Sub(b.first)
	began := time.Now()
	resumed := b.rebuild.Before
	for end := resumed; end.After(b.first); {
		start := later(end.Add(-1).Truncate(day), b.first)
		if err := b.part(ctx, start, end); err != nil {
			return err
		}
		if err := b.note(ctx, func(ctx context.Context) error { return b.notes.RebuildProgress(ctx, b.rebuild, start) }); err != nil {
			return err
		}
		b.rebuild.Before = start
		done, here := b.rebuild.To.Sub(start), resumed.Sub(start)
		left := time.Duration(float64(time.Since(began)) * float64(start.Sub(b.first)) / float64(here)).Round(time.Second)
		_, _ = fmt.Fprintf(b.to.Err, "%s done, %d%%, about %v left\n", start.Format(time.DateOnly), int(100*done.Hours()/total.Hours()), left)
		end = start
	}
	return b.note(ctx, func(ctx context.Context) error { return b.notes.FinishRebuild(ctx, b.rebuild, b.now) })
}

// part computes the hours of a day, or of a part of it, and then the day when it is over.
func (b *rebuilder) part(ctx context.Context, start, end time.Time) error {
	for h := end.Add(-time.Hour); !h.Before(start); h = h.Add(-time.Hour) {
		wrote, err := b.results.RecomputeHour(ctx, resultstore.Rollup{
			Bucket: h, Version: b.rebuild.Version, Closed: !b.closed.IsZero() && !h.Add(time.Hour).After(b.closed), Unseen: true,
		})
		if err != nil {
			return err
		}
		b.hours++
		b.revised += wrote.Revised
	}
	if whole := start.Truncate(day); !whole.Add(day + resultstore.CloseAfter).After(b.now) {
		_, err := b.results.RecomputeDay(ctx, resultstore.Rollup{Bucket: whole, Version: b.rebuild.Version})
		return err
	}
	return nil
}
