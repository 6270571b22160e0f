package rollupstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Bucket is an hour or a day, [From, To).
type Bucket struct{ From, To time.Time }

type asideRow struct {
	FromMS int64 `gorm:"column:from_ms;primaryKey;autoIncrement:false"`
	ToMS   int64 `gorm:"column:to_ms;primaryKey;autoIncrement:false"`
}

func (asideRow) TableName() string { return "rollups_aside" }

// Aside gives the hours and days of which no rollups could be made, the oldest first.
func (s *Store) Aside(ctx context.Context) ([]Bucket, error) {
	rows, err := gorm.G[asideRow](s.db.Read()).Order("from_ms, to_ms").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which rollups are missing: %w", database.Translate(ctx, err))
	}
	aside := make([]Bucket, len(rows))
	for i, row := range rows {
		aside[i] = Bucket{instant(row.FromMS), instant(row.ToMS)}
	}
	return aside, nil
}

// SetAside replaces them.
func (s *Store) SetAside(ctx context.Context, aside []Bucket) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM rollups_aside").Error; err != nil || len(aside) == 0 {
			return err
		}
		rows := make([]asideRow, len(aside))
		for i, b := range aside {
			rows[i] = asideRow{millis(b.From), millis(b.To)}
		}
		return tx.CreateInBatches(rows, 500).Error
	})
	if err != nil {
		return fmt.Errorf("note which rollups are missing: %w", database.Translate(ctx, err))
	}
	return nil
}
