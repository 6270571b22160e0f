// Package maintenancestore keeps maintenance windows.
//
// A window that has begun is never removed, only ended: what it covered stays out of uptime.
// One for tags holds a target from when that was given one of them until it was taken off, as
// far as the window holds: a change of tags changes nothing of what was covered before it.
package maintenancestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/verdict"
)

// ErrNotFound says that there is no such window.
var ErrNotFound = errors.New("maintenance window not found")

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
	schedule  *maintenance.Schedule
	carried   map[int64][]verdict.Span // when targets carried one of its tags, as far as that was read
}

// Next is when it holds next, or holds now, from its beginning; false if it never does again.
func (w Window) Next(now time.Time) (verdict.Span, bool) {
	if !w.EndedAt.IsZero() && !w.EndedAt.After(now) {
		return verdict.Span{}, false
	}
	if span, holds := w.schedule.At(now); holds {
		return span, true
	}
	return w.schedule.Next(now)
}

const columns = "id, name, terms, ended_at_ms, created_at_ms"

func scan(row interface{ Scan(...any) error }) (Window, error) {
	var w Window
	var terms string
	var ended sql.NullInt64
	var created int64
	if err := row.Scan(&w.ID, &w.Name, &terms, &ended, &created); err != nil {
		return w, err
	}
	if err := json.Unmarshal([]byte(terms), &w.Terms); err != nil {
		return w, fmt.Errorf("maintenance window %d: %w", w.ID, err)
	}
	schedule, mistakes := maintenance.New(w.Terms)
	if len(mistakes) > 0 {
		return w, fmt.Errorf("maintenance window %d: %s", w.ID, mistakes[0].Message)
	}
	w.schedule, w.CreatedAt = schedule, time.UnixMilli(created).UTC()
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

// Remove removes a window that has never held, and ends any other one now.
func (s *Store) Remove(ctx context.Context, id int64, now time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		w, err := scan(tx.Raw("UPDATE maintenance_windows SET name = name WHERE id = ? RETURNING "+columns, id).Row())
		if err != nil {
			return err
		}
		if !w.schedule.Begins().Before(now) {
			return tx.Exec("DELETE FROM maintenance_windows WHERE id = ?", id).Error
		}
		return tx.Exec("UPDATE maintenance_windows SET ended_at_ms = ? WHERE id = ? AND (ended_at_ms IS NULL OR ended_at_ms > ?)", now.UnixMilli(), id, now.UnixMilli()).Error
	})
	return failed(ctx, "remove maintenance window", err)
}

// failed says what was being done, in the words of this package.
func failed(ctx context.Context, doing string, err error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		err = ErrNotFound
	}
	return database.Failed(ctx, doing, err)
}
