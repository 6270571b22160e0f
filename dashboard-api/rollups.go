package main

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/rollupstore"
)

const rollupsLook = 10 * time.Second // a run is made every minute

// rollupNotes say how far the rollups are.
type rollupNotes interface {
	State(context.Context) (rollupstore.State, error)
	LastRebuild(context.Context) (rollupstore.Standing, error)
	Aside(context.Context) ([]rollupstore.Bucket, error)
}

// followRollups tells the results how far the rollups are, and what is kept of answers that
// they changed. While the database is away they are as good as they were.
func followRollups(notes rollupNotes, rolledUp func(time.Time), w *writes) func(context.Context) error {
	return func(ctx context.Context) error {
		return every(ctx, rollupsLook, func(ctx context.Context) {
			state, err := notes.State(ctx)
			if err != nil {
				return
			}
			rolledUp(state.Succeeded)
			if rebuild, err := notes.LastRebuild(ctx); err == nil {
				w.rolled(state, rebuild)
			}
		})
	}
}
