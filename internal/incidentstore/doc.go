// Package incidentstore keeps incidents, and whom to tell of them: their timelines, the
// channels, the rules, the outbox of notifications, and what came of each attempt.
//
// Guarantees:
//
//   - An incident is opened once per target and first failing slot, and a group once per
//     kind, value and first slot, however often it is tried: a replay finds what is there.
//   - What is to be told of a change is written in the transaction of the change, by one
//     Planner, with all that is said fixed. A change that is rolled back is told nobody.
//   - A notification ends delivered, failed or cancelled, and nothing skips one: whoever
//     claims it holds a lease, and when that runs out another claims it, with the same
//     key. So one may be sent twice with that key, and never not at all.
//   - Of one incident a channel is told in the order of what happened: a notification is
//     not claimed while an earlier one of its incident and channel is unsettled.
//
// The functions that take a *gorm.DB take part in their caller's transaction (see
// database.DB.Tx); the methods of Store make their own. Errors of the driver arrive as this
// package's, or as database.ErrUnavailable when the database could not answer.
package incidentstore

import (
	"database/sql"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// What can be wrong with a request, as opposed to with the database.
var (
	ErrNotFound        = errors.New("incident not found")
	ErrResolved        = errors.New("the incident is over")
	ErrChannelNotFound = errors.New("channel not found")
	ErrRuleNotFound    = errors.New("notification rule not found")
	ErrNameTaken       = errors.New("this name is taken")
	ErrConflict        = errors.New("it has changed since it was read")
	ErrInUse           = errors.New("a notification rule tells this channel")
	ErrUnreadable      = errors.New("not all of this notification rule can be read by this release")
)

// Store reads and writes incidents, channels, rules and the outbox.
type Store struct {
	db      *database.DB
	planner Planner
}

// New makes a store on an open database. The planner says whom its changes are told to;
// nil tells nobody.
func New(db *database.DB, planner Planner) *Store { return &Store{db: db, planner: planner} }

func instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return at(ms.Int64)
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// missing puts what is not there in this package's words.
func missing(err, is error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return is
	}
	return err
}
