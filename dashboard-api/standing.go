package main

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

// followStanding tells those who answer about the past which slots may be without a row yet, and
// of which hours and days there are no figures. While the database is away it is as it was.
func followStanding(notes rollupNotes, swept func(context.Context) (time.Time, error), tell func(settled time.Time, aside availability.Spans)) func(context.Context) error {
	look := func(ctx context.Context) {
		settled, err := swept(ctx)
		if err != nil {
			return
		}
		state, err := notes.State(ctx)
		if err != nil {
			return
		}
		missing, err := notes.Aside(ctx)
		if err != nil {
			return
		}
		var aside []availability.Span
		for _, b := range missing {
			if b.To.Before(state.Succeeded) { // of a younger one the results are asked
				aside = append(aside, availability.Span(b))
			}
		}
		tell(settled, availability.NewSpans(aside...))
	}
	return func(ctx context.Context) error {
		look(ctx) // until then nothing is known to be missing
		return every(ctx, rollupsLook, look)
	}
}
