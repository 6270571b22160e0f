// Package accountstore keeps who may do what: users, invitations, sessions, API keys, the
// one-time set-up token, kept answers of repeated writes, and the audit log.
//
// It guarantees exactly one first owner, however many set-ups race
// (CreateFirstOwner), and at least one from then on; that an expired session or a revoked key is never
// returned; and that it holds no secret in clear: tokens, keys and passwords
// arrive as hashes made by the caller. Errors of the driver arrive as this
// package's, or as database.ErrUnavailable when the database could not answer.
package accountstore

import (
	"errors"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/database"
)

// What can be wrong with a request, as opposed to with the database.
var (
	ErrNotFound      = errors.New("not found")
	ErrSetupDone     = errors.New("an owner exists already")
	ErrBadToken      = errors.New("set-up token is not valid")
	ErrEmailTaken    = errors.New("email address is taken")
	ErrLastOwner     = errors.New("nobody else is an owner")
	ErrBadInvitation = errors.New("invitation is not valid")
	ErrOtherAddress  = errors.New("invitation is for another address")
	ErrNoAddress     = errors.New("invitation names no address, nor does who accepts it")
	ErrConflict      = errors.New("the account has changed meanwhile")
	ErrVersion       = errors.New("the account has changed since it was read")
)

// How long things last.
const (
	SessionIdle   = 12 * time.Hour      // without a request
	SessionMax    = 30 * 24 * time.Hour // however busy
	AnswersKept   = 24 * time.Hour
	TouchInterval = time.Minute // how exact "last seen" and "last used" are
)

// Role is what a user or key may do. The set is closed.
type Role string

// Roles, most powerful first.
const (
	RoleOwner  Role = "owner"
	RoleEditor Role = "editor"
	RoleViewer Role = "viewer"
)

// Store reads and writes accounts.
type Store struct {
	db  *database.DB
	now func() time.Time
}

// New makes a store on an open database.
func New(db *database.DB) *Store { return &Store{db: db, now: time.Now} }

// normal is how addresses are stored and looked up: people do not type them twice alike.
func normal(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func atOrZero(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return at(*ms)
}
