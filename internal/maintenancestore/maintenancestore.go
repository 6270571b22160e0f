// Package maintenancestore keeps maintenance windows.
//
// What a window has covered stays covered, and stays out of uptime: one that has begun is never
// removed, only ended, and a change of one counts from then on. Until then it is what it was; nothing
// that was over becomes maintenance by it.
//
// One for tags holds a target from when that was given one of them until it was taken off, as
// far as the window holds: a change of tags changes nothing of what was covered before it.
package maintenancestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/verdict"
)

// MostChanges is how often a window may be changed: all that it was is kept.
const MostChanges = 100

// What windows refuse.
var (
	ErrNotFound = errors.New("maintenance window not found")
	ErrConflict = errors.New("maintenance window has changed since it was read")
	ErrEnded    = errors.New("maintenance window was ended")
	ErrTooOften = errors.New("maintenance window was changed too often")
	// ErrUnreadable says that this release cannot read all of a window: changing it would lose that.
	ErrUnreadable = errors.New("not all of this maintenance window can be read by this release")
)

// Store reads and writes windows.
type Store struct{ db *database.DB }

// New makes a store on an open database.
func New(db *database.DB) *Store { return &Store{db: db} }

// Window is one with its name.
type Window struct {
	ID        int64
	Name      string
	Terms     maintenance.Window
	EndedAt   time.Time // zero: as its terms say
	CreatedAt time.Time
	ChangedAt time.Time // since when it is as it is; zero: it was never changed
	Version   int64     // rises with every change
	parts     []part    // the last is what it is now

	// Unread says what of it this release cannot read, of now or of before; "": it reads all. By
	// what cannot be read it holds nobody: to be paged in vain is better than not to be paged.
	Unread string
}

// Next is when it holds next, or holds now, from its beginning; false if it never does again.
func (w Window) Next(now time.Time) (verdict.Span, bool) {
	if !w.EndedAt.IsZero() && !w.EndedAt.After(now) {
		return verdict.Span{}, false
	}
	schedule := w.parts[len(w.parts)-1].schedule
	if span, holds := schedule.At(now); holds {
		span.From = w.began(span.From)
		return span, true
	}
	return schedule.Next(now)
}

// Begun says whether it has held before an instant, or holds then; or may have, if it cannot be read.
func (w Window) Begun(now time.Time) bool {
	if w.Unread != "" {
		return true
	}
	if !w.EndedAt.IsZero() && w.EndedAt.Before(now) {
		now = w.EndedAt
	}
	for i := range w.parts {
		if w.parts[i].held(now) {
			return true
		}
	}
	return false
}

const columns = "id, name, terms, past, version, ended_at_ms, created_at_ms"

func scan(row interface{ Scan(...any) error }) (Window, error) {
	var w Window
	var terms, past string
	var ended sql.NullInt64
	var created int64
	if err := row.Scan(&w.ID, &w.Name, &terms, &past, &w.Version, &ended, &created); err != nil {
		return w, err
	}
	w.readParts(terms, past)
	w.CreatedAt = time.UnixMilli(created).UTC()
	if ended.Valid {
		w.EndedAt = time.UnixMilli(ended.Int64).UTC()
	}
	return w, nil
}

// Create stores a window, whose terms are valid (maintenance.New).
func (s *Store) Create(ctx context.Context, name string, terms maintenance.Window, now time.Time) (w Window, err error) {
	encoded, err := json.Marshal(terms)
	if err != nil {
		return w, err
	}
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		w, err = scan(tx.Raw("INSERT INTO maintenance_windows (name, terms, created_at_ms) VALUES (?, ?, ?) RETURNING "+columns, name, string(encoded), now.UnixMilli()).Row())
		return err
	})
	return w, failed(ctx, "create maintenance window", err)
}

// Get gives one window.
func (s *Store) Get(ctx context.Context, id int64) (Window, error) {
	w, err := scan(s.db.Read().WithContext(ctx).Raw("SELECT "+columns+" FROM maintenance_windows WHERE id = ?", id).Row())
	return w, failed(ctx, "get maintenance window", err)
}

// List gives at most limit windows after an id, by id.
func (s *Store) List(ctx context.Context, afterID int64, limit int) (all []Window, err error) {
	rows, err := s.db.Read().WithContext(ctx).Raw("SELECT "+columns+" FROM maintenance_windows WHERE id > ? ORDER BY id LIMIT ?", afterID, limit).Rows()
	if err != nil {
		return nil, failed(ctx, "list maintenance windows", err)
	}
	defer rows.Close()
	for rows.Next() {
		w, err := scan(rows)
		if err != nil {
			return nil, failed(ctx, "list maintenance windows", err)
		}
		all = append(all, w)
	}
	return all, failed(ctx, "list maintenance windows", rows.Err())
}

// Update changes the name and the terms of a window, which must be valid, from now on: whatever it
// was until now, it stays for that time. An ifVersion other than 0 must be its version, else
// ErrConflict; one that was ended is not changed any more: ErrEnded, nor one that was changed
// MostChanges times: ErrTooOften, nor one that cannot be read: ErrUnreadable. A change of nothing is
// none.
func (s *Store) Update(ctx context.Context, id, ifVersion int64, now time.Time, change func(*Window) error) (w Window, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if w, err = hold(tx, id, ifVersion); err != nil {
			return err
		}
		if !w.EndedAt.IsZero() {
			return ErrEnded
		}
		if w.Unread != "" {
			return ErrUnreadable
		}
		next := w
		if err := change(&next); err != nil {
			return err
		}
		before, err := json.Marshal(w.Terms)
		if err != nil {
			return err
		}
		terms, err := json.Marshal(next.Terms)
		if err != nil || string(terms) == string(before) && next.Name == w.Name {
			return err
		}
		past, err := w.pastAt(now)
		if err != nil {
			return err
		}
		w, err = scan(tx.Raw("UPDATE maintenance_windows SET name = ?, terms = ?, past = ?, version = version + 1 WHERE id = ? RETURNING "+columns, next.Name, string(terms), past, id).Row())
		return err
	})
	return w, failed(ctx, "update maintenance window", err)
}

// Remove removes a window that has never held, and ends any other one now. An ifVersion other
// than 0 must be its version, else ErrConflict.
func (s *Store) Remove(ctx context.Context, id, ifVersion int64, now time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		w, err := hold(tx, id, ifVersion)
		if err != nil {
			return err
		}
		if !w.Begun(now) {
			return tx.Exec("DELETE FROM maintenance_windows WHERE id = ?", id).Error
		}
		return tx.Exec("UPDATE maintenance_windows SET ended_at_ms = ?, version = version + 1 WHERE id = ? AND (ended_at_ms IS NULL OR ended_at_ms > ?)", now.UnixMilli(), id, now.UnixMilli()).Error
	})
	return failed(ctx, "remove maintenance window", err)
}

// hold reads a window that nobody else changes until the transaction is over.
func hold(tx *gorm.DB, id, ifVersion int64) (Window, error) {
	w, err := scan(tx.Raw("UPDATE maintenance_windows SET name = name WHERE id = ? RETURNING "+columns, id).Row())
	if err == nil && ifVersion != 0 && w.Version != ifVersion {
		err = ErrConflict
	}
	return w, err
}

// failed says what was being done, in the words of this package.
func failed(ctx context.Context, doing string, err error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		err = ErrNotFound
	}
	return database.Failed(ctx, doing, err)
}
