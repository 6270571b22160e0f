package rollup

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
)

// Results are the results and what is made from them.
type Results interface {
	ServerTime(ctx context.Context) (time.Time, error)
	DirtyHours(ctx context.Context, marked, from, to time.Time) ([]resultstore.DirtyHour, error)
	RecomputeHour(ctx context.Context, r resultstore.Rollup) (resultstore.Recomputed, error)
	RecomputeDay(ctx context.Context, r resultstore.Rollup) (resultstore.Recomputed, error)
	MarkAgain(ctx context.Context, r resultstore.Rollup, length time.Duration) error
	Keep(ctx context.Context, want resultstore.Retentions) (altered []string, err error)
	Kept(ctx context.Context) (resultstore.Retentions, error)
}

// Notes say how far the rollups are.
type Notes interface {
	State(ctx context.Context) (rollupstore.State, error)
	Start(ctx context.Context, now, marked time.Time) (rollupstore.Run, error)
	Progress(ctx context.Context, run rollupstore.Run, before time.Time) error
	Finish(ctx context.Context, run rollupstore.Run) error
	Aside(ctx context.Context) ([]rollupstore.Bucket, error)
	SetAside(ctx context.Context, aside []rollupstore.Bucket) error
}

// Lease says whether this publisher is the one to work.
type Lease interface{ Held() bool }

// Health is where trouble is told.
type Health interface {
	Set(component string, level service.Level, reason string)
}

var (
	_ Results = (*resultstore.Store)(nil)
	_ Notes   = (*rollupstore.Store)(nil)
	_ Lease   = (*lease.Lease)(nil)
	_ Health  = (*service.Health)(nil)
)
