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
	Erased     time.Time // results were last looked for, and removed where there were any
	Verified   time.Time // there were last none
	Finished   time.Time // there were none when nothing of it could be on the way any more
	Tries      int64     // steps that failed
	LastError  string    // of the last that did, until one finds the target gone
}

type deletionRow struct {
	TargetID       int64  `gorm:"column:target_id;primaryKey;autoIncrement:false"`
	RequestedAtMS  int64  `gorm:"column:requested_at_ms"`
	TombstonedAtMS *int64 `gorm:"column:tombstoned_at_ms"`
	ErasedAtMS     *int64 `gorm:"column:erased_at_ms"`
	VerifiedAtMS   *int64 `gorm:"column:verified_at_ms"`
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

// FinishedUnseen gives those finished deletions, requested since an instant, whose
// results were last looked for before another, longest ago first.
func (s *Store) FinishedUnseen(ctx context.Context, requestedSince, seenBefore time.Time, limit int) ([]Deletion, error) {
	return s.deletions(ctx, `d.finished_at_ms IS NOT NULL AND d.verified_at_ms < ? AND d.requested_at_ms >= ? ORDER BY d.verified_at_ms, d.target_id LIMIT ?`,
		seenBefore.UnixMilli(), requestedSince.UnixMilli(), limit)
}

// The condition's values are arguments; only this file writes conditions.
func (s *Store) deletions(ctx context.Context, condition string, args ...any) (all []Deletion, err error) {
	defer func() {
		if err != nil {
			all, err = nil, fmt.Errorf("read deletions: %w", database.Translate(ctx, err))
		}
	}()
	rows, err := s.db.Read().WithContext(ctx).Raw(`SELECT d.target_id, d.requested_at_ms, v.effective_from_ms, d.tombstoned_at_ms, d.erased_at_ms, d.verified_at_ms, d.finished_at_ms, d.tries, d.last_error
FROM deletions d LEFT JOIN schedule_versions v ON v.target_id = d.target_id AND v.deleted WHERE `+condition, args...).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d Deletion
		var requested, effective, tombstoned, erased, verified, finished sql.NullInt64
		if err := rows.Scan(&d.TargetID, &requested, &effective, &tombstoned, &erased, &verified, &finished, &d.Tries, &d.LastError); err != nil {
			return nil, err
		}
		d.Requested, d.Effective, d.Tombstoned = instant(requested), instant(effective), instant(tombstoned)
		d.Erased, d.Verified, d.Finished = instant(erased), instant(verified), instant(finished)
		all = append(all, d)
	}
	return all, rows.Err()
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

// MarkTombstoned notes that probers were told. The first time counts.
func (s *Store) MarkTombstoned(ctx context.Context, ids []int64, at time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		return mark(tx, ids, "tombstoned_at_ms IS NULL", map[string]any{"tombstoned_at_ms": at.UnixMilli()})
	})
	return noted(err)
}

// Look is what one look for results found.
type Look struct {
	At       time.Time
	All      []int64 // looked for, and removed where there were any
	Clean    []int64 // those of which there was nothing
	Finished []int64 // those of them of which nothing can be on the way any more
}

// MarkLooked notes a look. A target stays finished once it is; otherwise the note
// made last stays, whichever publisher made it.
func (s *Store) MarkLooked(ctx context.Context, l Look) error {
	at := l.At.UnixMilli()
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := mark(tx, l.All, "TRUE", map[string]any{"erased_at_ms": at}); err != nil {
			return err
		}
		if err := mark(tx, l.Clean, "TRUE", map[string]any{"verified_at_ms": at, "last_error": ""}); err != nil {
			return err
		}
		return mark(tx, l.Finished, "finished_at_ms IS NULL", map[string]any{"finished_at_ms": at})
	})
	return noted(err)
}

// MarkFailed counts a step that failed.
func (s *Store) MarkFailed(ctx context.Context, ids []int64, problem string) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		return mark(tx, ids, "TRUE", map[string]any{"tries": gorm.Expr("tries + 1"), "last_error": problem})
	})
	return noted(err)
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
