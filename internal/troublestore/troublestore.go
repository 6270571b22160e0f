// Package troublestore keeps what is wrong with the fleet itself, as long as it is.
//
// Each trouble has a name. While it is kept there is one incident about it, about no target, by
// which people hear once that it began, and once that it is over: whoever says so, and however
// often.
package troublestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

// Trouble is something that is wrong.
type Trouble struct {
	Name     string // the same as long as it is the same
	Title    string // what it is about, for people
	Says     string // a sentence, without its full stop
	Severity incidentstore.Severity
}

// Store reads and writes troubles.
type Store struct {
	db        *database.DB
	incidents *incidentstore.Store
}

// New makes a store on an open database. People are told through incidents.
func New(db *database.DB, incidents *incidentstore.Store) *Store { return &Store{db, incidents} }

const (
	begin = "INSERT INTO fleet_troubles (name, opened_at_ms) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
	about = "UPDATE fleet_troubles SET incident_id = ? WHERE name = ?"
	end   = "DELETE FROM fleet_troubles WHERE name = ? RETURNING incident_id"
)

// Begin keeps a trouble that was first seen then, and has it told; fresh is false, and nothing is
// done, if it is kept already.
func (s *Store) Begin(ctx context.Context, t Trouble, since, at time.Time) (fresh bool, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		begun := tx.Exec(begin, t.Name, at.UnixMilli())
		if fresh = begun.RowsAffected == 1; begun.Error != nil || !fresh {
			return begun.Error
		}
		i, _, err := s.incidents.Open(ctx, tx, incidentstore.Opening{
			FirstSlot: since, Severity: t.Severity, At: at, Subject: incidentstore.Subject{Name: t.Title, Kind: incidentstore.KindFleet}, Cause: incidentstore.Cause{Explanation: t.Says + "."},
		})
		if err != nil {
			return err
		}
		return tx.Exec(about, i.ID, t.Name).Error
	})
	return fresh && err == nil, database.Failed(ctx, "note trouble of the fleet", err)
}

// End says that a trouble is over, and has it told; false, if it is not kept.
func (s *Store) End(ctx context.Context, name string, at time.Time, says string) (ended bool, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		var incident sql.NullInt64
		err := tx.Raw(end, name).Row().Scan(&incident)
		if ended = err == nil; errors.Is(err, sql.ErrNoRows) || ended && !incident.Valid {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = s.incidents.Resolve(ctx, tx, incident.Int64, at, says)
		return err
	})
	return ended && err == nil, database.Failed(ctx, "end trouble of the fleet", err)
}

// Names are those of all that are kept, in order.
func (s *Store) Names(ctx context.Context) (names []string, err error) {
	err = s.db.Read().WithContext(ctx).Raw("SELECT name FROM fleet_troubles ORDER BY name").Scan(&names).Error
	return names, database.Failed(ctx, "read troubles of the fleet", err)
}
