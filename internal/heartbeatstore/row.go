package heartbeatstore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/uptime"
)

// current is a heartbeat within a transaction that holds it.
type current struct {
	id          int64
	schedule    *heartbeat.Schedule
	state       heartbeat.State
	plan        string
	specVersion int64
	paused      bool
	unread      error // why nothing else is known: ErrUnread
}

const (
	holdByHash = "UPDATE heartbeats SET pings = pings WHERE token_hash = ? RETURNING target_id" // its lock keeps other nodes out
	holdByID   = "UPDATE heartbeats SET pings = pings WHERE target_id = ? RETURNING target_id"
	readState  = `SELECT h.plan, h.expected_ms, h.started_ms, t.spec, t.active, t.spec_version
FROM heartbeats h JOIN targets t ON t.id = h.target_id WHERE h.target_id = ? AND t.kind = 'heartbeat'`
	forgetState = "UPDATE heartbeats SET plan = '', spec_version = 0, expected_ms = NULL, due_ms = NULL, started_ms = NULL WHERE plan <> '' AND target_id = ?" // so that it is looked at again: see newSQL
	writeState  = "UPDATE heartbeats SET plan = ?, spec_version = ?, expected_ms = ?, due_ms = ?, started_ms = ? WHERE target_id = ?"
)

// hold reads a heartbeat and keeps others from it until the transaction ends. What is
// expected begins anew at now when the target's schedule has changed, or when a clock that
// was ahead has put it off.
func hold(tx *gorm.DB, how string, by any, now time.Time) (*current, error) {
	c := &current{}
	if err := tx.Raw(how, by).Row().Scan(&c.id); err != nil {
		return nil, notFound(err)
	}
	var expected, started sql.NullInt64
	var text string
	var active bool
	if err := tx.Raw(readState, c.id).Row().Scan(&c.plan, &expected, &started, &text, &active, &c.specVersion); err != nil {
		return nil, notFound(err)
	}
	spec, err := uptime.SpecText(text).Spec()
	if err == nil && spec.Heartbeat == nil {
		err = errors.New("it says nothing of when it pings")
	}
	if err == nil {
		c.schedule, err = heartbeat.New(*spec.Heartbeat)
	}
	if err != nil {
		// What was expected is not, or a release that reads it would take pings of meanwhile for missing.
		c.unread = fmt.Errorf("%w: target %d: %w", ErrUnread, c.id, err)
		return c, tx.Exec(forgetState, c.id).Error
	}
	c.state, c.paused = heartbeat.State{Expected: instant(expected), Started: instant(started)}, !active
	if plan := planOf(*spec.Heartbeat, active); plan != c.plan {
		c.plan, c.state = plan, heartbeat.State{}
		if active {
			c.state = c.schedule.Begin(now)
		}
	} else if c.schedule.TooFar(c.state, now) {
		c.state = c.schedule.Begin(now)
	}
	return c, nil
}

// planOf is all that the expectation follows from.
func planOf(s uptime.HeartbeatSpec, active bool) string {
	text, _ := json.Marshal(s) // it has no type that fails
	if !active {
		return "paused " + string(text)
	}
	return string(text)
}

func (c *current) save(tx *gorm.DB) error {
	return tx.Exec(writeState, c.plan, c.specVersion, millis(c.state.Expected), millis(c.schedule.Deadline(c.state)), millis(c.state.Started), c.id).Error
}

const atOnce = 1000 // deadlines that are ended in one transaction

// catchUp ends the deadlines that have passed at now; false when more are left. Those of
// before oldest could not be stored.
func (c *current) catchUp(tx *gorm.DB, gaps []heartbeat.Gap, oldest, now time.Time) (n int, all bool, err error) {
	if !c.state.Expected.IsZero() && c.state.Expected.Before(oldest) {
		c.state.Expected = c.schedule.After(oldest)
	}
	for ; n < atOnce; n++ {
		row, next, over := c.schedule.Due(c.state, gaps, now)
		if !over {
			return n, true, nil
		}
		if err := c.note(tx, row); err != nil {
			return n, false, err
		}
		c.state = next
	}
	return n, false, nil
}

const writeRow = `INSERT INTO heartbeat_rows (target_id, at_ms, noted_us, status, failure, reason, took_us, message, body, body_cut, spec_version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (target_id, at_ms) DO UPDATE SET noted_us = excluded.noted_us, status = excluded.status, failure = excluded.failure, reason = excluded.reason,
 took_us = excluded.took_us, message = excluded.message, body = excluded.body, body_cut = excluded.body_cut, spec_version = excluded.spec_version
WHERE heartbeat_rows.noted_us <= excluded.noted_us`

func (c *current) note(tx *gorm.DB, r heartbeat.Row) error {
	return tx.Exec(writeRow, c.id, r.At.UnixMilli(), r.Noted.UnixMicro(), r.Status.String(), string(r.Failure), string(r.Reason),
		r.Took.Microseconds(), r.Message, r.Body, r.BodyCut, c.specVersion).Error
}

// gapsAt are the stretches without a receiver that deadlines up to now may be in, the one
// that has not been noted yet among them.
func gapsAt(tx *gorm.DB, now time.Time) ([]heartbeat.Gap, error) {
	rows, err := tx.Raw("SELECT from_ms, to_ms FROM heartbeat_gaps ORDER BY from_ms").Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var gaps []heartbeat.Gap
	for rows.Next() {
		var from, to int64
		if err := rows.Scan(&from, &to); err != nil {
			return nil, err
		}
		gaps = append(gaps, heartbeat.Gap{From: time.UnixMilli(from), To: time.UnixMilli(to)})
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var alive int64
	if err := tx.Raw("SELECT alive_ms FROM heartbeat_watch WHERE id = 1").Row().Scan(&alive); err != nil {
		return nil, err
	}
	if last := time.UnixMilli(alive); alive > 0 && now.Sub(last) > blindAfter {
		gaps = append(gaps, heartbeat.Gap{From: last, To: now})
	}
	return gaps, nil
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return ErrNotFound
	}
	return err
}

func millis(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}

func instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}
