// Package heartbeatstore keeps where heartbeats stand: their tokens, what is expected, and
// the rows that have not reached the result store.
//
// Guarantees:
//
//   - A ping that was answered is committed, with its row and what is expected after it,
//     in one transaction. So are the ends of deadlines. However often, by how many nodes
//     and however late they are looked at, each expectation ends in exactly one row.
//   - Rows wait here until they are durable elsewhere (Rows, then Done): a process that is
//     killed in between sends them again, with the same slot, rank and content.
//   - Tokens are found by their hash, the SHA-256 of at least 128 random bits: what is
//     compared in the database tells nothing about a token, however long it takes.
//   - A target that is deleted takes its heartbeat and its waiting rows along.
package heartbeatstore

import (
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

var (
	// ErrNotFound says that there is no such heartbeat, or its target is of another kind.
	ErrNotFound = errors.New("heartbeat not found")
	// ErrBehind says that so many deadlines have passed unseen that they are being made up
	// for first: try again in a moment.
	ErrBehind = errors.New("passed deadlines are being made up for")
	// ErrUnread says that this release cannot read when the heartbeat is to ping. Nothing is expected
	// of it from then on; it begins anew with a release that can.
	ErrUnread = errors.New("what is expected of this heartbeat cannot be read by this release")
)

// Token is a heartbeat's secret as it is stored.
type Token struct {
	Hash   string
	Sealed uptime.Sealed
}

// Heartbeat is where one stands.
type Heartbeat struct {
	TargetID int64
	Sealed   uptime.Sealed // its token
	Paused   bool
	Expected time.Time // zero: no ping is expected
	Due      time.Time // the end of its grace
	Started  time.Time // of a job that has not told its end
	Pinged   time.Time // the newest ping; zero: there was none
	Signal   string    // of that ping
	ExitCode int
	Excerpt  string // what came along
	Pings    int64
}

// Store reads and writes heartbeats.
type Store struct {
	db   *database.DB
	kept func() time.Duration // how long results are
}

const (
	usuallyKept = 30 * 24 * time.Hour
	margin      = 24 * time.Hour // for rows to get there
)

// New makes a store on an open database.
func New(db *database.DB) *Store {
	return &Store{db: db, kept: func() time.Duration { return usuallyKept }}
}

// Keeping tells the store how long results are kept: deadlines of before that, less a day,
// are passed over.
func (s *Store) Keeping(kept func() time.Duration) *Store {
	s.kept = kept
	return s
}

// oldest is the first deadline that still gets a row.
func (s *Store) oldest(now time.Time) time.Time { return now.Add(margin - s.kept()) }
