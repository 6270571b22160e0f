// Package jobstore keeps checks on demand and what came of them, for a week.
//
// An open job belongs to the process that leased it (owner, lease_until): only that one
// may change it. Save refuses the jobs of others, and Take gives jobs whose lease ran out,
// each to one caller. Leases are judged by the clock of whoever asks: clocks that differ by
// more than a lease make two processes run one job, of which the one that took it is
// believed.
//
// Errors of the driver arrive as this package's, or as database.ErrUnavailable when the
// database could not answer.
package jobstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/probefleet/probefleet/internal/database"
)

// Keep is how long a job is kept after it was made.
const Keep = 7 * 24 * time.Hour

// ErrNotFound says that there is no such job, or no longer.
var ErrNotFound = errors.New("job not found")

// Store reads and writes jobs.
type Store struct{ db *database.DB }

// New makes a store on an open database.
func New(db *database.DB) *Store { return &Store{db: db} }

// Save writes jobs of owner as they are now, new ones included, in one transaction, and
// leases the open ones until then. It gives the ids of those that belong to somebody else
// by now: they are left as they are.
func (s *Store) Save(ctx context.Context, owner string, until time.Time, list []Job) (lost []string, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		for _, j := range list {
			r, err := toRow(j, owner, until)
			if err != nil {
				return err
			}
			result := tx.Clauses(clause.OnConflict{
				Columns: []clause.Column{{Name: "id"}},
				DoUpdates: clause.AssignmentColumns([]string{
					"regions", "state", "retry_count", "updated_at_ms", "last_attempt_at_ms", "next_attempt_at_ms", "error", "looks", "evidence", "lease_until_ms",
				}),
				Where: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "jobs.owner = ?", Vars: []any{owner}}}},
			}).Create(&r)
			if result.Error != nil {
				return result.Error
			}
			if result.RowsAffected == 0 {
				lost = append(lost, j.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("save jobs: %w", err)
	}
	return lost, nil
}

// Renew leases all open jobs of owner until then. Until the zero time gives them up: the
// next one to ask may take them.
func (s *Store) Renew(ctx context.Context, owner string, until time.Time) error {
	ms := int64(0)
	if !until.IsZero() {
		ms = until.UnixMilli()
	}
	_, err := gorm.G[row](s.db.Write()).Where("owner = ? AND lease_until_ms IS NOT NULL", owner).Update(ctx, "lease_until_ms", ms)
	if err != nil {
		return fmt.Errorf("renew jobs: %w", database.Translate(ctx, err))
	}
	return nil
}

// Take makes at most limit open jobs owner's whose lease has run out at now, oldest
// first, and leases them until then.
func (s *Store) Take(ctx context.Context, owner string, now, until time.Time, limit int) ([]Job, error) {
	rows, err := gorm.G[row](s.db.Read()).Where("lease_until_ms < ?", now.UnixMilli()).Order("created_at_ms, id").Limit(limit).Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("find jobs that were left: %w", database.Translate(ctx, err))
	}
	taken := rows[:0]
	for _, r := range rows {
		n, err := gorm.G[row](s.db.Write()).Where("id = ? AND owner = ? AND lease_until_ms = ?", r.ID, r.Owner, *r.LeaseUntilMS).
			Select("owner", "lease_until_ms").Updates(ctx, row{Owner: owner, LeaseUntilMS: milli(until)})
		if err != nil {
			break // those taken so far are ours, the others stay for the next time
		}
		if n == 1 {
			taken = append(taken, r)
		}
	}
	return jobs(taken)
}

// OfTargets gives those of the targets that have jobs, in no order.
func (s *Store) OfTargets(ctx context.Context, targets []int64) (found []int64, err error) {
	if len(targets) == 0 {
		return nil, nil
	}
	err = s.db.Read().WithContext(ctx).Model(&row{}).Where("target_id IN ?", targets).Distinct().Pluck("target_id", &found).Error
	if err != nil {
		return nil, fmt.Errorf("find jobs of targets: %w", database.Translate(ctx, err))
	}
	return found, nil
}

// DeleteOfTargets removes the jobs of targets. Whoever runs one that is open writes it once more
// when it changes: repeat this until none can be.
func (s *Store) DeleteOfTargets(ctx context.Context, targets []int64) error {
	if len(targets) == 0 {
		return nil
	}
	if _, err := gorm.G[row](s.db.Write()).Where("target_id IN ?", targets).Delete(ctx); err != nil {
		return fmt.Errorf("delete jobs of targets: %w", database.Translate(ctx, err))
	}
	return nil
}

// DeleteBefore removes the jobs made before then.
func (s *Store) DeleteBefore(ctx context.Context, then time.Time) error {
	if _, err := gorm.G[row](s.db.Write()).Where("created_at_ms < ?", then.UnixMilli()).Delete(ctx); err != nil {
		return fmt.Errorf("delete old jobs: %w", database.Translate(ctx, err))
	}
	return nil
}
