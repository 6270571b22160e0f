package heartbeatstore

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// prober stands in the rows of heartbeats.
const prober = "_heartbeat"

const rowsSQL = `SELECT target_id, at_ms, noted_us, status, failure, reason, took_us, message, body, body_cut, spec_version
FROM heartbeat_rows ORDER BY at_ms LIMIT ?`

// Rows gives at most limit rows that are not durable elsewhere, oldest first.
func (s *Store) Rows(ctx context.Context, limit int) ([]uptime.Result, error) {
	rows, err := s.db.Read().WithContext(ctx).Raw(rowsSQL, limit).Rows()
	if err != nil {
		return nil, database.Failed(ctx, "read waiting heartbeat rows", err)
	}
	defer rows.Close()
	var all []uptime.Result
	for rows.Next() {
		var at, noted, took int64
		var status, body string
		var cut bool
		r := uptime.Result{Region: uptime.RegionPush, Prober: prober, Attempt: 1}
		err := rows.Scan(&r.TargetID, &at, &noted, &status, &r.Failure, &r.Reason, &took, &r.Message, &body, &cut, &r.SpecVersion)
		if err == nil {
			r.Status, err = uptime.ParseStatus(status)
		}
		if err != nil {
			return nil, database.Failed(ctx, "read waiting heartbeat rows", err)
		}
		r.ScheduledAt, r.IngestedAt, r.TotalUS = time.UnixMilli(at).UTC(), time.UnixMicro(noted).UTC(), uint32(took)
		if r.Status.Measured() {
			r.CheckedAt = r.ScheduledAt
		} else {
			r.Attempt = 0
		}
		if body != "" && r.Status != uptime.StatusUp {
			r.Evidence = evidence(body, cut)
		}
		all = append(all, r)
	}
	return all, database.Failed(ctx, "read waiting heartbeat rows", rows.Err())
}

// evidence keeps the end of what a failed job said: that is where it says why.
func evidence(body string, cut bool) *uptime.Evidence {
	if len(body) > uptime.MaxEvidenceBody {
		body, cut = strings.ToValidUTF8(body[len(body)-uptime.MaxEvidenceBody:], ""), true
	}
	return &uptime.Evidence{Received: body, ReceivedCut: cut}
}

// Done removes rows that are durable elsewhere by now. One that was replaced meanwhile stays.
func (s *Store) Done(ctx context.Context, rows []uptime.Result) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		for _, r := range rows {
			err := tx.Exec("DELETE FROM heartbeat_rows WHERE target_id = ? AND at_ms = ? AND noted_us = ?", r.TargetID, r.ScheduledAt.UnixMilli(), r.IngestedAt.UnixMicro()).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	return database.Failed(ctx, "remove heartbeat rows", err)
}

const (
	waitingSQL = "SELECT COUNT(*) FROM heartbeat_rows WHERE at_ms >= ? AND at_ms < ?"
	openSQL    = `SELECT COUNT(*), COALESCE(SUM(CASE WHEN due_ms < ? THEN 1 ELSE 0 END), 0) FROM heartbeats
WHERE expected_ms >= ? AND expected_ms < ?`
)

// Pushed is what the account of heartbeats in [from, to) holds besides the rows that the
// result store has: rows that wait here, pings that are still expected, and those whose
// deadline passed before owed without anybody having ended it.
func (s *Store) Pushed(ctx context.Context, from, to, owed time.Time) (waiting, expected, overdue int64, err error) {
	db := s.db.Read().WithContext(ctx)
	err = db.Raw(waitingSQL, from.UnixMilli(), to.UnixMilli()).Row().Scan(&waiting)
	if err == nil {
		err = db.Raw(openSQL, owed.UnixMilli(), from.UnixMilli(), to.UnixMilli()).Row().Scan(&expected, &overdue)
	}
	return waiting, expected - overdue, overdue, database.Failed(ctx, "count heartbeats", err)
}
