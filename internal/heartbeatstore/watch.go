package heartbeatstore

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/heartbeat"
)

const (
	leaseFor   = 10 * time.Second
	blindAfter = 30 * time.Second // without a sign of life of any node
	gapsKept   = 32 * 24 * time.Hour
)

const (
	takeWatch = "UPDATE heartbeat_watch SET holder = ?, until_ms = ? WHERE id = 1 AND (holder = ? OR until_ms <= ? OR until_ms > ?) RETURNING alive_ms"
	signLife  = "UPDATE heartbeat_watch SET alive_ms = ? WHERE id = 1 AND (alive_ms < ? OR alive_ms > ?)"
)

// Watch takes, or renews, the lease on judging deadlines for ten seconds, and says whether
// this holder has it. It leaves a sign of life; a stretch without any is noted as a gap.
// The lease saves work, correctness does not rest on it. One that a clock which was minutes
// ahead has left binds nobody.
func (s *Store) Watch(ctx context.Context, holder string, now time.Time) (leading bool, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		var alive int64
		err := tx.Raw(takeWatch, holder, now.Add(leaseFor).UnixMilli(), holder, now.UnixMilli(), now.Add(heartbeat.Astray).UnixMilli()).Row().Scan(&alive)
		if errors.Is(database.Translate(ctx, err), database.ErrNoRow) {
			return nil
		}
		if err != nil {
			return err
		}
		leading = true
		if last := time.UnixMilli(alive); alive > 0 && now.Sub(last) > blindAfter {
			err := tx.Exec("INSERT INTO heartbeat_gaps (from_ms, to_ms) VALUES (?, ?) ON CONFLICT (from_ms) DO UPDATE SET to_ms = excluded.to_ms", alive, now.UnixMilli()).Error
			if err != nil {
				return err
			}
			if err := tx.Exec("DELETE FROM heartbeat_gaps WHERE to_ms < ?", now.Add(-gapsKept).UnixMilli()).Error; err != nil {
				return err
			}
		}
		return tx.Exec(signLife, now.UnixMilli(), now.UnixMilli(), now.Add(heartbeat.Astray).UnixMilli()).Error
	})
	if err != nil {
		return false, database.Failed(ctx, "watch heartbeats", err)
	}
	return leading, nil
}

// Release gives the lease back, so that another node need not wait for its end.
func (s *Store) Release(ctx context.Context, holder string) error {
	err := s.db.Write().WithContext(ctx).Exec("UPDATE heartbeat_watch SET until_ms = 0 WHERE id = 1 AND holder = ?", holder).Error
	return database.Failed(ctx, "release heartbeats", err)
}

const (
	dueSQL = "SELECT target_id FROM heartbeats WHERE due_ms <= ? ORDER BY due_ms LIMIT ?"
	newSQL = `SELECT t.id FROM targets t LEFT JOIN heartbeats h ON h.target_id = t.id
WHERE t.kind = 'heartbeat' AND (h.target_id IS NULL OR h.spec_version <> t.spec_version) ORDER BY t.id LIMIT ?`
	otherSQL = `UPDATE heartbeats SET plan = '', expected_ms = NULL, due_ms = NULL, started_ms = NULL
WHERE plan <> '' AND target_id NOT IN (SELECT id FROM targets WHERE kind = 'heartbeat')`
)

// Due gives at most limit targets whose deadline has passed, the longest ago first.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]int64, error) {
	ids, err := s.ids(ctx, dueSQL, now.UnixMilli(), limit)
	return ids, database.Failed(ctx, "find passed deadlines", err)
}

// Changed gives at most limit heartbeat targets that are new or were edited. Of those that
// are none any more nothing is expected from then on; they begin anew should they be again.
func (s *Store) Changed(ctx context.Context, limit int) ([]int64, error) {
	if err := s.db.Write().WithContext(ctx).Exec(otherSQL).Error; err != nil {
		return nil, database.Failed(ctx, "find changed heartbeats", err)
	}
	ids, err := s.ids(ctx, newSQL, limit)
	return ids, database.Failed(ctx, "find changed heartbeats", err)
}

func (s *Store) ids(ctx context.Context, sql string, args ...any) (ids []int64, err error) {
	rows, err := s.db.Read().WithContext(ctx).Raw(sql, args...).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Settle ends the deadlines of a heartbeat that have passed at now, at most a thousand of
// them, and takes an edit of its target in. It says how many rows there are of that.
func (s *Store) Settle(ctx context.Context, targetID int64, now time.Time) (rows int, err error) {
	var unread error
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		c, err := hold(tx, holdByID, targetID, now)
		if err != nil {
			return err
		}
		if unread = c.unread; unread != nil {
			return nil
		}
		gaps, err := gapsAt(tx, now)
		if err != nil {
			return err
		}
		if rows, _, err = c.catchUp(tx, gaps, s.oldest(now), now); err != nil {
			return err
		}
		return c.save(tx)
	})
	if err == nil {
		err = unread
	}
	return rows, database.Failed(ctx, "settle heartbeat", err)
}
