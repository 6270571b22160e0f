// Package blindstore keeps the stretches in which regions could not be believed.
//
// Rows of results are never rewritten because of them: verdicts and uptime leave out what lies
// in a window. A window is known by region, sign and beginning, so that one that is found
// again is there once. While any window of a region is open there is one incident that is
// about it, about no target, by which people hear once that the region is blind, and once that
// it is back.
package blindstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Store reads windows.
type Store struct{ db *database.DB }

// New makes a store on an open database.
func New(db *database.DB) *Store { return &Store{db: db} }

// Window is one as it is kept.
type Window struct {
	ID int64
	selfdoubt.Window
	IncidentID int64 // that tells people; 0: it is gone
	OpenedAt   time.Time
}

const columns = "id, region, sign, from_ms, to_ms, why, suspects, incident_id, opened_at_ms"

const (
	open = `INSERT INTO blind_windows (region, sign, from_ms, why, suspects, opened_at_ms) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (region, sign, from_ms) DO NOTHING`
	grown    = "UPDATE blind_windows SET suspects = ? WHERE region = ? AND sign = ? AND from_ms = ? AND to_ms IS NULL"
	end      = "UPDATE blind_windows SET to_ms = ?, suspects = '[]' WHERE region = ? AND sign = ? AND from_ms = ? AND to_ms IS NULL"
	told     = "SELECT i.id FROM blind_windows b JOIN incidents i ON i.id = b.incident_id WHERE b.region = ? AND i.resolved_at_ms IS NULL LIMIT 1"
	count    = "SELECT COUNT(*) FROM blind_windows WHERE region = ? AND to_ms IS NULL"
	tellBy   = "UPDATE blind_windows SET incident_id = ? WHERE region = ? AND to_ms IS NULL"
	layout   = "2006-01-02 15:04:05 UTC"
	suspects = 20_000 // more are not written down
)

// Note writes down in the caller's transaction that a window was opened, has other suspects, or
// is over, and has beginning and end told; what is written already is left as it is.
func Note(ctx context.Context, tx *gorm.DB, incidents *incidentstore.Store, w selfdoubt.Window, at time.Time) error {
	suspected, err := json.Marshal(orEmpty(w.Suspects))
	if err != nil {
		return err
	}
	opened := tx.Exec(open, w.Region, string(w.Sign), w.From.UnixMilli(), w.Why, string(suspected), at.UnixMilli())
	if opened.Error == nil && opened.RowsAffected == 1 {
		opened.Error = tell(ctx, tx, incidents, w, at)
	}
	if opened.Error == nil && opened.RowsAffected == 0 && w.To.IsZero() {
		opened.Error = tx.Exec(grown, string(suspected), w.Region, string(w.Sign), w.From.UnixMilli()).Error
	}
	if opened.Error != nil || w.To.IsZero() {
		return database.Failed(ctx, "note blind window", opened.Error)
	}
	ended := tx.Exec(end, w.To.UnixMilli(), w.Region, string(w.Sign), w.From.UnixMilli())
	if ended.Error == nil && ended.RowsAffected == 1 {
		ended.Error = tell(ctx, tx, incidents, w, at)
	}
	return database.Failed(ctx, "note blind window", ended.Error)
}

func orEmpty(ids []int64) []int64 {
	if len(ids) == 0 {
		return []int64{}
	}
	return ids[:min(len(ids), suspects)]
}

// tell opens the incident of a region with its first window, and resolves it with its last.
func tell(ctx context.Context, tx *gorm.DB, incidents *incidentstore.Store, w selfdoubt.Window, at time.Time) error {
	var id int64
	if err := tx.Raw(told, w.Region).Row().Scan(&id); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var n int
	if err := tx.Raw(count, w.Region).Row().Scan(&n); err != nil {
		return err
	}
	switch {
	case n == 0 && id != 0:
		_, err := incidents.Resolve(ctx, tx, id, at, fmt.Sprintf("Region %s is believed again, since %s.", w.Region, w.To.UTC().Format(layout)))
		return err
	case n == 0:
		return nil
	case id == 0:
		i, _, err := incidents.Open(ctx, tx, incidentstore.Opening{
			FirstSlot: w.From, Severity: incidentstore.Degraded, At: at, Subject: incidentstore.Subject{Name: "Region " + w.Region, Kind: incidentstore.KindRegion},
			Cause: incidentstore.Cause{Explanation: fmt.Sprintf("Region %s is blind: %s. Targets are judged by the other regions.", w.Region, w.Why), Regions: []string{w.Region}},
		})
		if err != nil {
			return err
		}
		id = i.ID
	case w.To.IsZero():
		err := incidents.Remark(ctx, tx, id, fmt.Sprintf("blind:%s:%d", w.Sign, w.From.UnixMilli()), incidentstore.Event{At: at, Text: "Blind for another reason, too: " + w.Why + "."})
		if err != nil {
			return err
		}
	}
	return tx.Exec(tellBy, id, w.Region).Error
}

// Held reads in the caller's transaction what is open, and what has ended since then.
func Held(tx *gorm.DB, since time.Time) ([]Window, error) {
	return read(tx, "WHERE to_ms IS NULL OR to_ms >= ? ORDER BY region, from_ms, id", since.UnixMilli())
}

// Current gives what is open, and what has ended since then, as verdicts take it.
func (s *Store) Current(ctx context.Context, since time.Time) (all []verdict.Blindness, err error) {
	found, err := Held(s.db.Read().WithContext(ctx), since)
	for _, w := range found {
		all = append(all, w.Blindness)
	}
	return all, database.Failed(ctx, "read blind windows", err)
}

// Filter says which windows are wanted. Zero members are no condition.
type Filter struct {
	Region   string
	Open     bool
	From, To time.Time // those that were open at some time in [From, To)
	BeforeID int64
	Limit    int
}

// List gives windows, newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Window, error) {
	where, args := []string{"id > 0"}, []any{}
	add := func(condition string, value any) { where, args = append(where, condition), append(args, value) }
	if f.Region != "" {
		add("region = ?", f.Region)
	}
	if f.Open {
		where = append(where, "to_ms IS NULL")
	}
	if !f.From.IsZero() {
		add("(to_ms IS NULL OR to_ms > ?)", f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		add("from_ms < ?", f.To.UnixMilli())
	}
	if f.BeforeID != 0 {
		add("id < ?", f.BeforeID)
	}
	all, err := read(s.db.Read().WithContext(ctx), "WHERE "+strings.Join(where, " AND ")+" ORDER BY id DESC LIMIT ?", append(args, f.Limit)...)
	return all, database.Failed(ctx, "list blind windows", err)
}

// mostAsked are more windows than there can be.
const mostAsked = 1 << 30

// Blind says when each region was blind, as far as that touches [from, to). What is open has
// no end yet: it reaches to the end of what is asked for.
func (s *Store) Blind(ctx context.Context, from, to time.Time) (map[string]availability.Spans, error) {
	found, err := s.List(ctx, Filter{From: from, To: to, Limit: mostAsked})
	if err != nil {
		return nil, err
	}
	spans := map[string][]availability.Span{}
	for _, w := range found {
		if w.To.IsZero() {
			w.To = to
		}
		spans[w.Region] = append(spans[w.Region], availability.Span{From: w.From, To: w.To})
	}
	blind := map[string]availability.Spans{}
	for region, all := range spans {
		blind[region] = availability.NewSpans(all...)
	}
	return blind, nil
}

func read(db *gorm.DB, where string, args ...any) (all []Window, err error) {
	rows, err := db.Raw("SELECT "+columns+" FROM blind_windows "+where, args...).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var w Window
		var from, opened int64
		var to, incident sql.NullInt64
		var suspected string
		if err := rows.Scan(&w.ID, &w.Region, &w.Sign, &from, &to, &w.Why, &suspected, &incident, &opened); err != nil {
			return nil, err
		}
		if json.Unmarshal([]byte(suspected), &w.Suspects) != nil {
			w.Suspects = nil // a window without any is over with the next look
		}
		w.From, w.OpenedAt, w.IncidentID = time.UnixMilli(from).UTC(), time.UnixMilli(opened).UTC(), incident.Int64
		if to.Valid {
			w.To = time.UnixMilli(to.Int64).UTC()
		}
		all = append(all, w)
	}
	return all, rows.Err()
}
