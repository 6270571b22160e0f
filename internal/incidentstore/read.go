package incidentstore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/database"
)

// Cursor is a place in a list of incidents: the last one before it.
type Cursor struct {
	OpenedAt time.Time // whole milliseconds
	ID       int64
}

// States of incidents, to filter by.
const (
	StateOpen         = "open" // acknowledged or not
	StateAcknowledged = "acknowledged"
	StateResolved     = "resolved"
)

// Filter says which incidents are wanted. Zero members are no condition.
type Filter struct {
	TargetID int64
	Targets  []int64 // of any of them; a few hundred at most
	GroupID  int64
	State    string
	Severity Severity
	From, To time.Time // those that went on at some time in [From, To)
	Before   *Cursor
	Limit    int
}

// List gives incidents, newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Incident, error) {
	var where []string
	var args []any
	add := func(condition string, values ...any) { where, args = append(where, condition), append(args, values...) }
	if f.TargetID != 0 {
		add("i.target_id = ?", f.TargetID)
	}
	if len(f.Targets) > 0 {
		add("i.target_id IN ?", f.Targets)
	}
	if f.GroupID != 0 {
		add("i.group_id = ?", f.GroupID)
	}
	switch f.State {
	case StateOpen:
		add("i.resolved_at_ms IS NULL")
	case StateAcknowledged:
		add("i.resolved_at_ms IS NULL AND i.acknowledged_at_ms IS NOT NULL")
	case StateResolved:
		add("i.resolved_at_ms IS NOT NULL")
	}
	if f.Severity != "" {
		add("i.severity = ?", string(f.Severity))
	}
	if !f.From.IsZero() {
		add("(i.resolved_at_ms IS NULL OR i.resolved_at_ms >= ?)", f.From.UnixMilli())
	}
	if !f.To.IsZero() {
		add("i.opened_at_ms < ?", f.To.UnixMilli())
	}
	if f.Before != nil {
		ms := f.Before.OpenedAt.UnixMilli()
		add("i.opened_at_ms <= ? AND (i.opened_at_ms < ? OR i.id < ?)", ms, ms, f.Before.ID)
	}
	query := "SELECT " + incidentColumns + " FROM incidents i"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	var all []Incident
	err := database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		i, err := scanIncident(rows)
		all = append(all, i)
		return err
	}, query+" ORDER BY i.opened_at_ms DESC, i.id DESC LIMIT ?", append(args, f.Limit)...)
	return all, database.Failed(ctx, "list incidents", err)
}

// Get gives an incident with its timeline, in the order of what happened.
func (s *Store) Get(ctx context.Context, id int64) (Incident, []Event, error) {
	db := s.db.Read().WithContext(ctx)
	i, err := scanIncident(db.Raw(byID, id).Row())
	if err != nil {
		return Incident{}, nil, database.Failed(ctx, "get incident", missing(err, ErrNotFound))
	}
	var events []Event
	err = database.Each(db, func(rows *sql.Rows) error {
		var e Event
		var ms int64
		err := rows.Scan(&e.ID, &e.Kind, &ms, &e.Author, &e.Text)
		e.At = at(ms)
		events = append(events, e)
		return err
	}, "SELECT id, kind, at_ms, author, text FROM incident_events WHERE incident_id = ? ORDER BY at_ms, id", id)
	return i, events, database.Failed(ctx, "get incident", err)
}

// Entry is an entry of a timeline, without what it says.
type Entry struct{ ID, Incident int64 }

// NewestEntry is the id of the newest entry of any timeline; 0: there is none.
func (s *Store) NewestEntry(ctx context.Context) (id int64, err error) {
	err = s.db.Read().WithContext(ctx).Raw("SELECT COALESCE(MAX(id), 0) FROM incident_events").Row().Scan(&id)
	return id, database.Failed(ctx, "read the newest entry", err)
}

// EntriesAfter gives at most limit entries of all timelines after one, in the order of their ids.
// That is not the order in which they are committed: one may appear behind others.
func (s *Store) EntriesAfter(ctx context.Context, id int64, limit int) (all []Entry, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var e Entry
		err := rows.Scan(&e.ID, &e.Incident)
		all = append(all, e)
		return err
	}, "SELECT id, incident_id FROM incident_events WHERE id > ? ORDER BY id LIMIT ?", id, limit)
	return all, database.Failed(ctx, "read entries", err)
}

// Some gives the incidents with these ids, as far as they are there, by id.
func (s *Store) Some(ctx context.Context, ids []int64) (all []Incident, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		i, err := scanIncident(rows)
		all = append(all, i)
		return err
	}, "SELECT "+incidentColumns+" FROM incidents i WHERE i.id IN ? ORDER BY i.id", ids)
	return all, database.Failed(ctx, "read incidents", err)
}
