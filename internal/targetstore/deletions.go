package targetstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Deletion is how far removing a deleted target's traces has come. Zero instants
// have not happened yet.
type Deletion struct {
	TargetID   int64
	Requested  time.Time
	Effective  time.Time // from then on nothing of it is published
	Tombstoned time.Time // probers were told
	Finished   time.Time // they were, and every step was done
	Tries      int64     // to tell probers that failed
	LastError  string    // of the last of them
	Steps      []Step    // those that have begun, by name; only where it says so
}

type deletionRow struct {
	TargetID       int64  `gorm:"column:target_id;primaryKey;autoIncrement:false"`
	RequestedAtMS  int64  `gorm:"column:requested_at_ms"`
	TombstonedAtMS *int64 `gorm:"column:tombstoned_at_ms"`
	FinishedAtMS   *int64 `gorm:"column:finished_at_ms"`
	Tries          int64  `gorm:"column:tries"`
	LastError      string `gorm:"column:last_error"`
}

func (deletionRow) TableName() string { return "deletions" }

func requestDeletion(ctx context.Context, tx *gorm.DB, id int64) error {
	if err := gorm.G[deletionRow](tx).Create(ctx, &deletionRow{TargetID: id, RequestedAtMS: time.Now().UnixMilli()}); err != nil {
		return fmt.Errorf("note deletion: %w", err)
	}
	return nil
}

// Unfinished gives a page of the deletions that are not finished, in ascending id.
func (s *Store) Unfinished(ctx context.Context, afterID int64, limit int) ([]Deletion, error) {
	return s.deletions(ctx, `d.finished_at_ms IS NULL AND d.target_id > ? ORDER BY d.target_id LIMIT ?`, afterID, limit)
}

// DeletedSince gives a page of what was deleted since an instant, in ascending id.
func (s *Store) DeletedSince(ctx context.Context, since time.Time, afterID int64, limit int) ([]Deletion, error) {
	return s.deletions(ctx, `d.requested_at_ms >= ? AND d.target_id > ? ORDER BY d.target_id LIMIT ?`, since.UnixMilli(), afterID, limit)
}

// Deletion gives that of one target, with its steps.
func (s *Store) Deletion(ctx context.Context, id int64) (Deletion, error) {
	all, err := s.deletions(ctx, `d.target_id = ?`, id)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err == nil {
		err = s.addSteps(ctx, all)
	}
	if err != nil {
		return Deletion{}, err
	}
	return all[0], nil
}

// Deletions gives a page of all of them, or of those that are not finished, with their
// steps, by descending id. A beforeID of 0 begins.
func (s *Store) Deletions(ctx context.Context, unfinished bool, beforeID int64, limit int) ([]Deletion, error) {
	all, err := s.deletions(ctx, `(d.finished_at_ms IS NULL OR NOT ?) AND (d.target_id < ? OR ? = 0) ORDER BY d.target_id DESC LIMIT ?`, unfinished, beforeID, beforeID, limit)
	if err != nil {
		return nil, err
	}
	return all, s.addSteps(ctx, all)
}

const (
	deletionColumns = `d.target_id, d.requested_at_ms, v.effective_from_ms, d.tombstoned_at_ms, d.finished_at_ms, d.tries, d.last_error`
	deletionTables  = ` FROM deletions d LEFT JOIN schedule_versions v ON v.target_id = d.target_id AND v.deleted `
)

// scan reads deletionColumns, and what was selected after them.
func (d *Deletion) scan(rows *sql.Rows, more ...any) error {
	var requested, effective, tombstoned, finished sql.NullInt64
	err := rows.Scan(append([]any{&d.TargetID, &requested, &effective, &tombstoned, &finished, &d.Tries, &d.LastError}, more...)...)
	d.Requested, d.Effective, d.Tombstoned, d.Finished = instant(requested), instant(effective), instant(tombstoned), instant(finished)
	return err
}

// The condition's values are arguments; only this file writes conditions.
func (s *Store) deletions(ctx context.Context, condition string, args ...any) ([]Deletion, error) {
	var all []Deletion
	err := s.each(ctx, `SELECT `+deletionColumns+deletionTables+`WHERE `+condition, args, func(rows *sql.Rows) error {
		var d Deletion
		err := d.scan(rows)
		all = append(all, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read deletions: %w", err)
	}
	return all, nil
}

func (s *Store) each(ctx context.Context, query string, args []any, fn func(*sql.Rows) error) error {
	rows, err := s.db.Read().WithContext(ctx).Raw(query, args...).Rows()
	if err != nil {
		return database.Translate(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return database.Translate(ctx, err)
		}
	}
	if err := rows.Err(); err != nil {
		return database.Translate(ctx, err)
	}
	return nil
}

func instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

// DeletionCounts are the figures of the removal.
type DeletionCounts struct {
	Unfinished int64
	Oldest     time.Time // request of the oldest unfinished one; zero: none
	Tombstoned int64     // requested since the given instant, and told to probers
}

// CountDeletions counts.
func (s *Store) CountDeletions(ctx context.Context, since time.Time) (DeletionCounts, error) {
	var c DeletionCounts
	var oldest sql.NullInt64
	err := s.db.Read().WithContext(ctx).Raw(`SELECT (SELECT count(*) FROM deletions WHERE finished_at_ms IS NULL),
 (SELECT min(requested_at_ms) FROM deletions WHERE finished_at_ms IS NULL),
 (SELECT count(*) FROM deletions WHERE requested_at_ms >= ? AND tombstoned_at_ms IS NOT NULL)`, since.UnixMilli()).
		Row().Scan(&c.Unfinished, &oldest, &c.Tombstoned)
	if err != nil {
		return DeletionCounts{}, fmt.Errorf("count deletions: %w", database.Translate(ctx, err))
	}
	c.Oldest = instant(oldest)
	return c, nil
}

// MarkTombstoned notes that probers are told. The first time counts.
func (s *Store) MarkTombstoned(ctx context.Context, ids []int64, at time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		return mark(tx, ids, "TRUE", map[string]any{"tombstoned_at_ms": gorm.Expr("COALESCE(tombstoned_at_ms, ?)", at.UnixMilli()), "last_error": ""})
	})
	return noted(err)
}

// MarkUntold counts a try to tell probers that failed. Of what is finished they were told.
func (s *Store) MarkUntold(ctx context.Context, ids []int64, problem string) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		return mark(tx, ids, "finished_at_ms IS NULL", map[string]any{"tries": gorm.Expr("tries + 1"), "last_error": problem})
	})
	return noted(err)
}

const finishDeletions = `UPDATE deletions SET finished_at_ms = ?, last_error = '' WHERE finished_at_ms IS NULL AND tombstoned_at_ms IS NOT NULL
 AND (SELECT count(*) FROM deletion_steps s WHERE s.target_id = deletions.target_id AND s.done_at_ms IS NOT NULL AND s.step IN ?) = ?`

// FinishDeletions finishes those of which probers were told and all the steps are done.
// It says how many.
func (s *Store) FinishDeletions(ctx context.Context, steps []string, at time.Time) (n int64, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		done := tx.Exec(finishDeletions, at.UnixMilli(), steps, len(steps))
		n = done.RowsAffected
		return done.Error
	})
	return n, noted(err)
}

func mark(tx *gorm.DB, ids []int64, condition string, values map[string]any) error {
	for chunk := range slices.Chunk(ids, idsPerStatement) {
		if err := tx.Model(&deletionRow{}).Where(condition+" AND target_id IN ?", chunk).Updates(values).Error; err != nil {
			return err
		}
	}
	return nil
}

func noted(err error) error {
	if err != nil {
		return fmt.Errorf("note how far deletions are: %w", err)
	}
	return nil
}
