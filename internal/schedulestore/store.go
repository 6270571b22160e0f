package schedulestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Store reads and writes schedule versions.
type Store struct{ db *database.DB }

// New makes a store on an open database.
func New(db *database.DB) *Store { return &Store{db: db} }

// Version is one schedule of one target.
type Version struct {
	Seq           int64
	Schedule      uptime.Schedule
	Deleted       bool
	EffectiveFrom time.Time // zero while pending
}

// Draft is a version to be written.
type Draft struct {
	uptime.Schedule
	Deleted          bool
	VisitedOtherwise bool // what was seen of the target until now was of something else
}

type versionRow struct {
	Seq              int64  `gorm:"column:seq;primaryKey;autoIncrement:false"`
	TargetID         int64  `gorm:"column:target_id"`
	IntervalS        int64  `gorm:"column:interval_s"`
	Regions          string `gorm:"column:regions"`
	Active           bool   `gorm:"column:active"`
	Deleted          bool   `gorm:"column:deleted"`
	EffectiveFromMS  *int64 `gorm:"column:effective_from_ms"`
	CreatedAtMS      int64  `gorm:"column:created_at_ms"`
	VisitedOtherwise bool   `gorm:"column:visited_otherwise"`
}

func (versionRow) TableName() string { return "schedule_versions" }

// Change runs fn in a transaction that already holds the next seq, so that all
// changes commit in the order of their numbers. When fn fails nothing is
// written and the number is given out again.
func Change(ctx context.Context, db *database.DB, fn func(tx *gorm.DB, seq int64) error) error {
	return db.Tx(ctx, func(tx *gorm.DB) error {
		var seq int64
		err := tx.Raw("UPDATE schedule_counter SET seq = seq + 1 WHERE id = 1 RETURNING seq").Row().Scan(&seq)
		if err != nil {
			return fmt.Errorf("take the next schedule seq: %w", err)
		}
		return fn(tx, seq)
	})
}

// Append writes a target's new version, pending, inside a Change.
func Append(ctx context.Context, tx *gorm.DB, seq int64, draft Draft, now time.Time) error {
	row, err := draft.version(seq, now)
	if err != nil {
		return err
	}
	if err := gorm.G[versionRow](tx).Create(ctx, &row); err != nil {
		return fmt.Errorf("write schedule version %d: %w", seq, err)
	}
	return nil
}

// AppendAll writes the new versions of many targets inside a Change. The first gets the Change's
// seq, the others the numbers that follow, which are taken here: call it once.
func AppendAll(ctx context.Context, tx *gorm.DB, seq int64, drafts []Draft, now time.Time) error {
	rows := make([]versionRow, len(drafts))
	for i, draft := range drafts {
		row, err := draft.version(seq+int64(i), now)
		if err != nil {
			return err
		}
		rows[i] = row
	}
	if len(rows) == 0 {
		return nil
	}
	if err := tx.WithContext(ctx).Exec("UPDATE schedule_counter SET seq = seq + ? WHERE id = 1", len(rows)-1).Error; err != nil {
		return fmt.Errorf("take more schedule seqs: %w", err)
	}
	if err := gorm.G[versionRow](tx).CreateInBatches(ctx, &rows, idsPerStatement); err != nil {
		return fmt.Errorf("write %d schedule versions from %d: %w", len(rows), seq, err)
	}
	return nil
}

func (d *Draft) version(seq int64, now time.Time) (versionRow, error) {
	regions, err := EncodeRegions(d.Regions)
	if err != nil {
		return versionRow{}, err
	}
	return versionRow{
		Seq: seq, TargetID: d.TargetID, IntervalS: int64(d.Interval / time.Second), Regions: regions,
		Active: d.Active && !d.Deleted, Deleted: d.Deleted, VisitedOtherwise: d.VisitedOtherwise, CreatedAtMS: now.UnixMilli(),
	}, nil
}

// Seq is the newest number given to a committed change; 0 when there was none.
func (s *Store) Seq(ctx context.Context) (int64, error) {
	var seq int64
	err := s.db.Read().WithContext(ctx).Raw("SELECT seq FROM schedule_counter WHERE id = 1").Row().Scan(&seq)
	if err != nil {
		return 0, fmt.Errorf("read the schedule seq: %w", database.Translate(ctx, err))
	}
	return seq, nil
}

// EachVersion calls fn with every version after afterSeq, pending ones included,
// in ascending seq, without holding them all in memory. An error of fn ends it.
func (s *Store) EachVersion(ctx context.Context, afterSeq int64, fn func(Version) error) error {
	rows, err := gorm.G[versionRow](s.db.Read()).
		Select("seq, target_id, interval_s, regions, active, deleted, effective_from_ms").
		Where("seq > ?", afterSeq).Order("seq").Rows(ctx)
	if err != nil {
		return fmt.Errorf("read schedule versions: %w", database.Translate(ctx, err))
	}
	defer rows.Close()
	for rows.Next() {
		version, err := scanVersion(rows)
		if err != nil {
			return fmt.Errorf("read schedule versions: %w", database.Translate(ctx, err))
		}
		if err := fn(version); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read schedule versions: %w", database.Translate(ctx, err))
	}
	return nil
}

func scanVersion(rows *sql.Rows) (Version, error) {
	var v Version
	var seconds int64
	var regions string
	var from sql.NullInt64
	err := rows.Scan(&v.Seq, &v.Schedule.TargetID, &seconds, &regions, &v.Schedule.Active, &v.Deleted, &from)
	if err != nil {
		return Version{}, err
	}
	v.Schedule.Interval = time.Duration(seconds) * time.Second
	v.EffectiveFrom = instant(from)
	v.Schedule.Regions, err = DecodeRegions(regions)
	return v, err
}

// Adopt gives every pending version up to seq its effective instant, in both
// tables at once, and says how many there were. Again is a no-op.
func (s *Store) Adopt(ctx context.Context, seq int64, effectiveFrom time.Time) (adopted int, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		adopted = 0
		targets, err := gorm.G[versionRow](tx).Where("effective_from_ms IS NULL AND seq <= ?", seq).
			Update(ctx, "effective_from_ms", effectiveFrom.UnixMilli())
		if err != nil {
			return err
		}
		regions, err := gorm.G[regionRow](tx).Where("effective_from_ms IS NULL AND seq <= ?", seq).
			Update(ctx, "effective_from_ms", effectiveFrom.UnixMilli())
		if err != nil {
			return err
		}
		adopted = targets + regions
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("adopt schedule versions up to %d: %w", seq, err)
	}
	return adopted, nil
}

// EncodeRegions writes a set of regions as it is stored: a sorted JSON array.
func EncodeRegions(regions []string) (string, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(regions)))
	if len(sorted) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal(sorted)
	if err != nil {
		return "", fmt.Errorf("encode regions: %w", err)
	}
	return string(text), nil
}

// DecodeRegions reads them back; nil means every region.
func DecodeRegions(text string) ([]string, error) {
	if text == "[]" {
		return nil, nil
	}
	var regions []string
	if err := json.Unmarshal([]byte(text), &regions); err != nil {
		return nil, fmt.Errorf("decode regions: %w", err)
	}
	return regions, nil
}

func instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}
