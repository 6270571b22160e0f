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

// RegionVersion says that a region joined (Active) or left.
type RegionVersion struct {
	Seq           int64
	Region        string
	Active        bool
	EffectiveFrom time.Time // zero while pending
}

type regionRow struct {
	Seq             int64  `gorm:"column:seq;primaryKey;autoIncrement:false"`
	Region          string `gorm:"column:region"`
	Active          bool   `gorm:"column:active"`
	EffectiveFromMS *int64 `gorm:"column:effective_from_ms"`
	CreatedAtMS     int64  `gorm:"column:created_at_ms"`
}

func (regionRow) TableName() string { return "region_versions" }

var errUnchanged = errors.New("unchanged")

// ErrReserved refuses a region whose name stands for rows that do not come from probers.
var ErrReserved = errors.New("this name is kept for results that do not come from probers")

// RegionVersions gives every region version after afterSeq in ascending seq,
// pending ones included.
func (s *Store) RegionVersions(ctx context.Context, afterSeq int64) ([]RegionVersion, error) {
	rows, err := gorm.G[regionRow](s.db.Read()).Where("seq > ?", afterSeq).Order("seq").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("read region versions: %w", database.Translate(ctx, err))
	}
	versions := make([]RegionVersion, 0, len(rows))
	for _, row := range rows {
		var from sql.NullInt64
		if row.EffectiveFromMS != nil {
			from = sql.NullInt64{Int64: *row.EffectiveFromMS, Valid: true}
		}
		versions = append(versions, RegionVersion{Seq: row.Seq, Region: row.Region, Active: row.Active, EffectiveFrom: instant(from)})
	}
	return versions, nil
}

// AddRegion records that a region joins; changed is false when it already has.
func (s *Store) AddRegion(ctx context.Context, region string) (changed bool, err error) {
	if uptime.ReservedRegion(region) {
		return false, fmt.Errorf("add region %q: %w", region, ErrReserved)
	}
	return s.setRegion(ctx, region, true)
}

// RetireRegion records that a region leaves; changed is false when it already
// has, or was never there.
func (s *Store) RetireRegion(ctx context.Context, region string) (changed bool, err error) {
	return s.setRegion(ctx, region, false)
}

// setRegion looks before it takes the counter, since callers ask on every
// heartbeat, and looks again under it, since two may ask at once.
func (s *Store) setRegion(ctx context.Context, region string, active bool) (bool, error) {
	now, err := regionActive(ctx, s.db.Read(), region)
	if err != nil {
		return false, fmt.Errorf("read region %q: %w", region, database.Translate(ctx, err))
	}
	if now == active {
		return false, nil
	}
	err = Change(ctx, s.db, func(tx *gorm.DB, seq int64) error {
		now, err := regionActive(ctx, tx, region)
		if err != nil {
			return err
		}
		if now == active {
			return errUnchanged
		}
		row := regionRow{Seq: seq, Region: region, Active: active, CreatedAtMS: time.Now().UnixMilli()}
		return gorm.G[regionRow](tx).Create(ctx, &row)
	})
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write region %q: %w", region, err)
	}
	return true, nil
}

func regionActive(ctx context.Context, tx *gorm.DB, region string) (bool, error) {
	newest, err := gorm.G[regionRow](tx).Where("region = ?", region).Order("seq DESC").Limit(1).Find(ctx)
	if err != nil || len(newest) == 0 {
		return false, err
	}
	return newest[0].Active, nil
}

// CountRegions is how many regions are there, inside a Change: those that joined and have
// not left.
func CountRegions(ctx context.Context, tx *gorm.DB) (int, error) {
	var n int64
	err := tx.WithContext(ctx).Raw("SELECT COUNT(*) FROM region_versions v WHERE v.active AND NOT EXISTS " +
		"(SELECT 1 FROM region_versions newer WHERE newer.region = v.region AND newer.seq > v.seq)").Row().Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count regions: %w", err)
	}
	return int(n), nil
}
