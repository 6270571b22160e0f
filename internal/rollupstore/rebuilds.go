package rollupstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Rebuild is a range that somebody has computed again.
type Rebuild struct {
	From, To time.Time // half open
	Version  time.Time
	Before   time.Time // the days from here on are done
	Resumed  bool      // it was begun before, and ended half way
}

type rebuildRow struct {
	FromMS        int64  `gorm:"column:from_ms;primaryKey;autoIncrement:false"`
	ToMS          int64  `gorm:"column:to_ms;primaryKey;autoIncrement:false"`
	VersionMS     int64  `gorm:"column:version_ms"`
	BeforeMS      int64  `gorm:"column:before_ms"`
	RequestedAtMS int64  `gorm:"column:requested_at_ms"`
	FinishedAtMS  *int64 `gorm:"column:finished_at_ms"`
}

func (rebuildRow) TableName() string { return "rollup_rebuilds" }

func (r rebuildRow) resumed() Rebuild {
	return Rebuild{From: instant(r.FromMS), To: instant(r.ToMS), Version: instant(r.VersionMS), Before: instant(r.BeforeMS), Resumed: true}
}

// StartRebuild notes a rebuild of [from, to) that begins now. One of the same range
// that ended half way is gone on with, unless it has to begin afresh.
func (s *Store) StartRebuild(ctx context.Context, from, to, now time.Time, afresh bool) (r Rebuild, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		there, err := gorm.G[rebuildRow](tx).Where("from_ms = ? AND to_ms = ?", millis(from), millis(to)).Find(ctx)
		if err != nil {
			return err
		}
		if len(there) > 0 && there[0].FinishedAtMS == nil && !afresh {
			r = there[0].resumed()
			return nil
		}
		var version int64
		if err := updateState(ctx, tx, func(row *stateRow) {
			row.VersionMS = nextVersion(row.VersionMS, now)
			version = row.VersionMS
		}); err != nil {
			return err
		}
		r = Rebuild{From: from, To: to, Version: instant(version), Before: to}
		return tx.Exec(`INSERT INTO rollup_rebuilds (from_ms, to_ms, version_ms, before_ms, requested_at_ms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (from_ms, to_ms) DO UPDATE SET version_ms = excluded.version_ms, before_ms = excluded.before_ms, requested_at_ms = excluded.requested_at_ms, finished_at_ms = NULL`,
			millis(from), millis(to), version, millis(to), millis(now)).Error
	})
	return r, noted(err)
}

// UnfinishedRebuild gives the rebuild that was begun last and not finished, and whether there is one.
func (s *Store) UnfinishedRebuild(ctx context.Context) (r Rebuild, found bool, err error) {
	rows, err := gorm.G[rebuildRow](s.db.Read()).Where("finished_at_ms IS NULL").Order("requested_at_ms DESC, version_ms DESC").Limit(1).Find(ctx)
	if err != nil {
		return r, false, fmt.Errorf("read rebuilds: %w", database.Translate(ctx, err))
	}
	if len(rows) == 0 {
		return r, false, nil
	}
	return rows[0].resumed(), true, nil
}

// RebuildProgress notes that a rebuild has done the days from an instant on.
func (s *Store) RebuildProgress(ctx context.Context, r Rebuild, before time.Time) error {
	return s.markRebuild(ctx, r, map[string]any{"before_ms": millis(before)})
}

// FinishRebuild notes that a rebuild has done everything.
func (s *Store) FinishRebuild(ctx context.Context, r Rebuild, now time.Time) error {
	return s.markRebuild(ctx, r, map[string]any{"before_ms": millis(r.From), "finished_at_ms": millis(now)})
}

func (s *Store) markRebuild(ctx context.Context, r Rebuild, values map[string]any) error {
	return noted(database.Translate(ctx, s.db.Write().WithContext(ctx).Model(&rebuildRow{}).
		Where("from_ms = ? AND to_ms = ? AND version_ms = ?", millis(r.From), millis(r.To), millis(r.Version)).Updates(values).Error))
}

func noted(err error) error {
	if err != nil {
		return fmt.Errorf("note how far a rebuild is: %w", err)
	}
	return nil
}
