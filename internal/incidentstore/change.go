package incidentstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Opening is an incident that begins.
type Opening struct {
	TargetID  int64 // 0: it is about no target, and whoever opens it knows that it is the first of its kind
	FirstSlot time.Time
	Severity  Severity
	Subject   Subject
	Cause     Cause
	At        time.Time // when it was found
	Group     Group     // zero: none
	Members   []int64   // of a group whose incident this is
	Tags      []string  // of these
}

// Group is a cause that several incidents share.
type Group struct {
	Kind, Value string
	FirstSlot   time.Time
}

const (
	openGroup = `INSERT INTO incident_groups (kind, value, first_slot_ms, opened_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT (kind, value, first_slot_ms) DO UPDATE SET resolved_at_ms = NULL RETURNING id`
	openIncident = `INSERT INTO incidents (target_id, first_slot_ms, severity, subject, cause, opened_at_ms, acknowledged_by, group_id)
VALUES (?, ?, ?, ?, ?, ?, '', ?) ON CONFLICT (target_id, first_slot_ms) DO NOTHING RETURNING id`
	byKey  = "SELECT " + incidentColumns + " FROM incidents i WHERE i.target_id = ? AND i.first_slot_ms = ?"
	byID   = "SELECT " + incidentColumns + " FROM incidents i WHERE i.id = ?"
	holdID = "UPDATE incidents SET severity = severity WHERE id = ? RETURNING id" // its lock keeps others out
)

// Open opens an incident in the caller's transaction, and has it told; created is false,
// and nothing is done, if there is one of this target and first slot.
func (s *Store) Open(ctx context.Context, tx *gorm.DB, o Opening) (i Incident, created bool, err error) {
	var group sql.NullInt64
	if o.Group != (Group{}) {
		err := tx.Raw(openGroup, o.Group.Kind, o.Group.Value, o.Group.FirstSlot.UnixMilli(), o.At.UnixMilli()).Row().Scan(&group)
		if err != nil {
			return Incident{}, false, database.Failed(ctx, "open incident group", err)
		}
	}
	var id int64
	target := sql.NullInt64{Int64: o.TargetID, Valid: o.TargetID != 0}
	err = tx.Raw(openIncident, target, o.FirstSlot.UnixMilli(), string(o.Severity), text(o.Subject), text(o.Cause), o.At.UnixMilli(), group).Row().Scan(&id)
	if created = err == nil; !created && !errors.Is(err, sql.ErrNoRows) {
		return Incident{}, false, database.Failed(ctx, "open incident", err)
	}
	if !created {
		i, err = scanIncident(tx.Raw(byKey, o.TargetID, o.FirstSlot.UnixMilli()).Row())
		return i, false, database.Failed(ctx, "open incident", missing(err, ErrNotFound))
	}
	if i, err = scanIncident(tx.Raw(byID, id).Row()); err != nil {
		return Incident{}, false, database.Failed(ctx, "open incident", err)
	}
	i.Members, i.MemberTags = o.Members, o.Tags
	_, err = s.happened(ctx, tx, i, string(Opened), Event{Kind: Opened, At: o.At, Text: o.Cause.Explanation})
	return i, true, database.Failed(ctx, "open incident", err)
}

// Hold reads an incident in the caller's transaction, and keeps others from it until that ends.
func Hold(ctx context.Context, tx *gorm.DB, id int64) (Incident, error) {
	err := tx.Raw(holdID, id).Row().Scan(&id)
	if err != nil {
		return Incident{}, database.Failed(ctx, "read incident", missing(err, ErrNotFound))
	}
	i, err := scanIncident(tx.Raw(byID, id).Row())
	return i, database.Failed(ctx, "read incident", err)
}

// SetSeverity changes how bad an open incident is, in the caller's transaction, and has it
// told. The key names the change: what was done under it before is not done again. So is
// nothing when the severity is this one, or the incident is over.
func (s *Store) SetSeverity(ctx context.Context, tx *gorm.DB, id int64, key string, severity Severity, cause Cause, at time.Time) (changed bool, err error) {
	i, err := Hold(ctx, tx, id)
	if err != nil || !i.Open() || i.Severity == severity {
		return false, err
	}
	before := i.Severity
	i.Severity, i.Cause = severity, cause
	changed, err = s.happened(ctx, tx, i, "severity:"+key, Event{Kind: SeverityChanged, At: at, Text: fmt.Sprintf("%s, was %s: %s", severity, before, cause.Explanation)})
	if err == nil && changed {
		err = tx.Exec("UPDATE incidents SET severity = ?, cause = ? WHERE id = ?", string(severity), text(cause), id).Error
	}
	return changed, database.Failed(ctx, "change severity", err)
}

// Resolve ends an incident in the caller's transaction, and has it told to those who were
// told of it; resolved is false, and nothing is done, if it is over already. A group ends
// with the last of its incidents.
func (s *Store) Resolve(ctx context.Context, tx *gorm.DB, id int64, at time.Time, why string) (resolved bool, err error) {
	i, err := Hold(ctx, tx, id)
	if err != nil || !i.Open() {
		return false, err
	}
	i.ResolvedAt = at
	if err := tx.Exec("UPDATE incidents SET resolved_at_ms = ? WHERE id = ?", at.UnixMilli(), id).Error; err != nil {
		return false, database.Failed(ctx, "resolve incident", err)
	}
	if i.GroupID != 0 {
		err := tx.Exec(`UPDATE incident_groups SET resolved_at_ms = ? WHERE id = ? AND NOT EXISTS
 (SELECT 1 FROM incidents WHERE group_id = ? AND resolved_at_ms IS NULL)`, at.UnixMilli(), i.GroupID, i.GroupID).Error
		if err != nil {
			return false, database.Failed(ctx, "resolve incident group", err)
		}
	}
	_, err = s.happened(ctx, tx, i, string(Resolved), Event{Kind: Resolved, At: at, Text: why})
	return true, database.Failed(ctx, "resolve incident", err)
}

// Correct notes in the caller's transaction that an incident's account was corrected; once a key.
func (s *Store) Correct(ctx context.Context, tx *gorm.DB, id int64, key string, e Event) error {
	i, err := Hold(ctx, tx, id)
	if err != nil {
		return err
	}
	e.Kind = Corrected
	_, err = s.happened(ctx, tx, i, "corrected:"+key, e)
	return database.Failed(ctx, "correct incident", err)
}

// Acknowledge notes that somebody looks after an open incident: the first to say so counts,
// nothing is escalated and nobody is reminded any more. The error is ErrResolved if it is over.
func (s *Store) Acknowledge(ctx context.Context, id int64, by, say string, at time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		i, err := Hold(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case !i.AcknowledgedAt.IsZero():
			return nil
		case !i.Open():
			return ErrResolved
		}
		i.AcknowledgedAt, i.AcknowledgedBy = at, by
		if err := tx.Exec("UPDATE incidents SET acknowledged_at_ms = ?, acknowledged_by = ? WHERE id = ?", at.UnixMilli(), by, id).Error; err != nil {
			return err
		}
		_, err = s.happened(ctx, tx, i, string(Acknowledged), Event{Kind: Acknowledged, At: at, Author: by, Text: say})
		return err
	})
	return database.Failed(ctx, "acknowledge incident", err)
}

// Note adds what somebody has to say to an incident's timeline; once a key.
func (s *Store) Note(ctx context.Context, id int64, key, author, say string, at time.Time) (Event, error) {
	e := Event{Kind: Noted, At: at, Author: author, Text: say}
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		i, err := Hold(ctx, tx, id)
		if err == nil {
			_, err = s.happened(ctx, tx, i, "note:"+key, e)
		}
		if err == nil {
			err = tx.Raw("SELECT id FROM incident_events WHERE incident_id = ? AND event_key = ?", id, "note:"+key).Row().Scan(&e.ID)
		}
		return err
	})
	return e, database.Failed(ctx, "note on incident", err)
}

// happened adds an entry to a timeline and has it told; fresh is false, and nothing is
// done, if there is one with this key.
func (s *Store) happened(ctx context.Context, tx *gorm.DB, i Incident, key string, e Event) (fresh bool, err error) {
	if fresh, err = appendEvent(tx, i.ID, key, e); err != nil || !fresh || s.planner == nil {
		return fresh, err
	}
	return true, s.announce(ctx, tx, Change{Incident: i, Key: key, Event: e})
}

func appendEvent(tx *gorm.DB, id int64, key string, e Event) (fresh bool, err error) {
	result := tx.Exec(`INSERT INTO incident_events (incident_id, event_key, kind, at_ms, author, text) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (incident_id, event_key) DO NOTHING`, id, key, string(e.Kind), e.At.UnixMilli(), e.Author, e.Text)
	return result.RowsAffected == 1, result.Error
}
