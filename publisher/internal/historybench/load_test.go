//go:build bench

package historybench

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	writers    = 2
	groupSize  = 12 // stretches between two notes of how far it is
	tellsEvery = 15 * time.Second
)

// loading is what a growth step stored.
type loading struct {
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"`
}

// load stores the results with slots in [from, to), oldest first: a batch has what one
// prober made of one stretch of time.
func (b *bench) load(t *testing.T, name string, from, to time.Time) loading {
	stretch := interval * time.Duration(max(1, b.batch*probersPerRegion/b.targets))
	at := from
	if reached, begun := b.Loaded[name]; begun {
		at = reached
	}
	resumed := at
	var stored atomic.Int64
	began, told := time.Now(), time.Now()
	for at.Before(to) {
		group, ctx := errgroup.WithContext(b.ctx)
		group.SetLimit(writers)
		for range groupSize {
			start, end := at, at.Add(stretch)
			if end.After(to) {
				end = to
			}
			for region := range regions() {
				group.Go(func() error {
					for _, rows := range b.results(region, start, end) {
						if err := b.insert(ctx, rows); err != nil {
							return err
						}
						stored.Add(int64(len(rows)))
					}
					return nil
				})
			}
			if at = end; !at.Before(to) {
				break
			}
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		b.Loaded[name] = at
		b.save(t)
		if time.Since(told) > tellsEvery {
			told = time.Now()
			left := time.Duration(float64(time.Since(began)) * float64(to.Sub(at)) / float64(at.Sub(resumed))).Round(time.Second)
			t.Logf("  %.1f million rows, %.0f a second, about %v left", float64(stored.Load())/million, float64(stored.Load())/time.Since(began).Seconds(), left)
		}
	}
	return loading{Rows: stored.Load(), Seconds: time.Since(began).Seconds()}
}

// insert stores rows of one prober as a recorder does.
func (b *bench) insert(ctx context.Context, rows []uptime.Result) error {
	if len(rows) == 0 {
		return nil
	}
	token := uuid.Must(uuid.NewV7()).String()
	return b.store.Insert(ctx, resultstore.Batch{Token: token, Prober: rows[0].Prober, Region: rows[0].Region, Attempt: 1, Rows: rows})
}
