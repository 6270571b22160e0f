package rollupstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Standing is how far a rebuild is.
type Standing struct {
	From, To time.Time
	Version  time.Time
	Before   time.Time // the days from here on are done
	Finished time.Time // zero: it is under way, or was interrupted
}

// LastRebuild gives the rebuild that was begun last. The zero Standing means that none ever was.
func (s *Store) LastRebuild(ctx context.Context) (Standing, error) {
	rows, err := gorm.G[rebuildRow](s.db.Read()).Order("version_ms DESC").Limit(1).Find(ctx)
	if err != nil || len(rows) == 0 {
		return Standing{}, wrapped(ctx, err)
	}
	r := rows[0].resumed()
	last := Standing{From: r.From, To: r.To, Version: r.Version, Before: r.Before}
	if at := rows[0].FinishedAtMS; at != nil {
		last.Finished = instant(*at)
	}
	return last, nil
}

func wrapped(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read rebuilds: %w", database.Translate(ctx, err))
}
