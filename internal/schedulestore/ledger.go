package schedulestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Gap is a stretch whose missed slots have a known cause.
type Gap struct {
	Reason   uptime.Reason
	From, To time.Time // half open
}

type gapRow struct {
	ID          int64  `gorm:"column:id;primaryKey"`
	Reason      string `gorm:"column:reason"`
	FromMS      int64  `gorm:"column:from_ms"`
	ToMS        int64  `gorm:"column:to_ms"`
	CreatedAtMS int64  `gorm:"column:created_at_ms"`
}

func (gapRow) TableName() string { return "gaps" }

// AddGap records that slots in [from, to) were missed for this reason.
func (s *Store) AddGap(ctx context.Context, reason uptime.Reason, from, to time.Time) error {
	row := gapRow{Reason: string(reason), FromMS: from.UnixMilli(), ToMS: to.UnixMilli(), CreatedAtMS: time.Now().UnixMilli()}
	if err := gorm.G[gapRow](s.db.Write()).Create(ctx, &row); err != nil {
		return fmt.Errorf("write gap: %w", database.Translate(ctx, err))
	}
	return nil
}

// Gaps gives the gaps that overlap [from, to), earliest first.
func (s *Store) Gaps(ctx context.Context, from, to time.Time) ([]Gap, error) {
	rows, err := gorm.G[gapRow](s.db.Read()).Where("from_ms < ? AND to_ms > ?", to.UnixMilli(), from.UnixMilli()).
		Order("from_ms, id").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("read gaps: %w", database.Translate(ctx, err))
	}
	gaps := make([]Gap, 0, len(rows))
	for _, row := range rows {
		gaps = append(gaps, Gap{Reason: uptime.Reason(row.Reason), From: time.UnixMilli(row.FromMS).UTC(), To: time.UnixMilli(row.ToMS).UTC()})
	}
	return gaps, nil
}

// SweptTo is the instant before which every slot has been explained; zero when
// no sweep has finished yet.
func (s *Store) SweptTo(ctx context.Context) (time.Time, error) {
	var ms sql.NullInt64
	err := s.db.Read().WithContext(ctx).Raw("SELECT swept_to_ms FROM ledger_sweep WHERE id = 1").Row().Scan(&ms)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("read the sweep mark: %w", database.Translate(ctx, err))
	}
	return instant(ms), nil
}

// SetSweptTo moves the mark forward. An older instant, from a sweeper that was
// overtaken, leaves it where it is.
func (s *Store) SetSweptTo(ctx context.Context, t time.Time) error {
	err := s.db.Write().WithContext(ctx).Exec(`INSERT INTO ledger_sweep (id, swept_to_ms) VALUES (1, ?)
ON CONFLICT (id) DO UPDATE SET swept_to_ms = excluded.swept_to_ms WHERE ledger_sweep.swept_to_ms < excluded.swept_to_ms`,
		t.UnixMilli()).Error
	if err != nil {
		return fmt.Errorf("write the sweep mark: %w", database.Translate(ctx, err))
	}
	return nil
}
