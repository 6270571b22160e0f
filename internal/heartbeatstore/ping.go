package heartbeatstore

import (
	"context"
	"crypto/subtle"
	"database/sql"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/heartbeat"
)

const notePing = "UPDATE heartbeats SET pinged_ms = ?, signal = ?, exit_code = ?, excerpt = ?, pings = pings + 1 WHERE target_id = ?"

// Ping takes a ping in. When it returns nil the ping is committed, and so are the ends of
// deadlines that had passed by then. Of a paused target it leaves no row.
func (s *Store) Ping(ctx context.Context, tokenHash string, p heartbeat.Ping) (Heartbeat, error) {
	if err := s.known(ctx, tokenHash); err != nil { // without a lock: most of what is not known is not ours to wait for
		return Heartbeat{}, database.Failed(ctx, "find heartbeat", err)
	}
	var id int64
	behind := false
	var unread error
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		c, err := hold(tx, holdByHash, tokenHash, p.At)
		if err != nil {
			return err
		}
		id = c.id
		if unread = c.unread; unread != nil {
			return tx.Exec(notePing, p.At.UnixMilli(), p.Signal.String(), p.ExitCode, p.Body, c.id).Error
		}
		gaps, err := gapsAt(tx, p.At)
		if err != nil {
			return err
		}
		_, all, err := c.catchUp(tx, gaps, s.oldest(p.At), p.At)
		if err != nil {
			return err
		}
		if behind = !all; behind {
			return c.save(tx)
		}
		if err := c.take(tx, p); err != nil {
			return err
		}
		return tx.Exec(notePing, p.At.UnixMilli(), p.Signal.String(), p.ExitCode, p.Body, c.id).Error
	})
	if err == nil {
		err = unread
	}
	if err != nil {
		return Heartbeat{}, database.Failed(ctx, "take in ping", err)
	}
	if behind {
		return Heartbeat{}, ErrBehind
	}
	h, err := s.Get(ctx, id)
	if err != nil { // it is committed all the same
		return Heartbeat{TargetID: id}, nil
	}
	return h, nil
}

func (c *current) take(tx *gorm.DB, p heartbeat.Ping) error {
	if !c.paused {
		row, next, has := c.schedule.Take(c.state, p)
		c.state = next
		if has {
			if err := c.note(tx, row); err != nil {
				return err
			}
		}
	}
	return c.save(tx)
}

// known looks a token up.
func (s *Store) known(ctx context.Context, tokenHash string) error {
	var stored string
	err := s.db.Read().WithContext(ctx).Raw("SELECT token_hash FROM heartbeats WHERE token_hash = ?", tokenHash).Row().Scan(&stored)
	if err != nil {
		return notFound(err)
	}
	if subtle.ConstantTimeCompare([]byte(stored), []byte(tokenHash)) != 1 {
		return ErrNotFound
	}
	return nil
}

const readOne = `SELECT h.token_sealed, h.expected_ms, h.due_ms, h.started_ms, h.pinged_ms, h.signal, h.exit_code, h.excerpt, h.pings, t.active
FROM heartbeats h JOIN targets t ON t.id = h.target_id WHERE h.target_id = ? AND t.kind = 'heartbeat'`

// Get tells where a heartbeat stands.
func (s *Store) Get(ctx context.Context, targetID int64) (Heartbeat, error) {
	h := Heartbeat{TargetID: targetID}
	var expected, due, started, pinged sql.NullInt64
	var active bool
	err := s.db.Read().WithContext(ctx).Raw(readOne, targetID).Row().Scan(&h.Sealed, &expected, &due, &started, &pinged, &h.Signal, &h.ExitCode, &h.Excerpt, &h.Pings, &active)
	if err != nil {
		return Heartbeat{}, database.Failed(ctx, "read heartbeat", notFound(err))
	}
	h.Expected, h.Due, h.Started, h.Pinged, h.Paused = instant(expected), instant(due), instant(started), instant(pinged), !active
	return h, nil
}

const (
	insertOne = `INSERT INTO heartbeats (target_id, token_hash, token_sealed, spec_version, plan, signal, exit_code, excerpt, pings)
SELECT id, ?, ?, 0, '', '', 0, '', 0 FROM targets WHERE id = ? AND kind = 'heartbeat' ON CONFLICT (target_id) DO NOTHING`
	setToken = "UPDATE heartbeats SET token_hash = ?, token_sealed = ? WHERE target_id = ?"
)

// Ensure gives a heartbeat target its token unless it has one.
func (s *Store) Ensure(ctx context.Context, targetID int64, token Token) error {
	err := s.db.Write().WithContext(ctx).Exec(insertOne, token.Hash, token.Sealed, targetID).Error
	return database.Failed(ctx, "make heartbeat", err)
}

// Rotate puts another token in place of the one it has, which no longer works then.
func (s *Store) Rotate(ctx context.Context, targetID int64, token Token) error {
	if err := s.Ensure(ctx, targetID, token); err != nil {
		return err
	}
	result := s.db.Write().WithContext(ctx).Exec(setToken, token.Hash, token.Sealed, targetID)
	if result.Error == nil && result.RowsAffected == 0 {
		result.Error = ErrNotFound
	}
	return database.Failed(ctx, "change a heartbeat's token", result.Error)
}
