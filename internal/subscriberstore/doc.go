// Package subscriberstore keeps who is told what is written on status pages, and what they
// are still to be told.
//
// Guarantees:
//
//   - Nobody is told anything but a request to confirm before they have confirmed, by a token
//     that is kept as a hash, counts once and ends after 48 hours. That holds for a change of
//     what was confirmed, too: until then what was confirmed before goes on.
//   - An address gets at most three requests in a day, whoever asks for them on whatever page.
//   - Addresses, keys of signatures and tokens are stored sealed.
//   - What is said of a post is enqueued in the transaction that says it, once for each
//     subscriber, and sent as incidentstore's outbox is: by whoever holds its lease, with the
//     same key each time, so perhaps twice and never not at all.
//   - Of one post a subscriber hears in the order of what was said.
package subscriberstore

import (
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
)

// What can be wrong with a request, as opposed to with the database.
var (
	ErrNotFound = errors.New("subscriber not found")
	ErrNoWish   = errors.New("there is nothing to confirm")
	ErrCrowded  = errors.New("too many requests at this moment")
)

// Kinds of subscribers.
const (
	Email   = "email"
	Webhook = "webhook"
)

// WishFor is how long a wish can be confirmed.
const WishFor = 48 * time.Hour

const (
	mostAsked       = 2000 // requests to confirm of a kind, of the installation, in askedWithin
	askedWithin     = time.Hour
	mostRequests    = 3 // to an address, in requestsWithin
	requestsWithin  = 24 * time.Hour
	mostSubscribers = 100_000 // of a page, confirmed or not
)

// Terms are how somebody is told.
type Terms struct {
	Address  secret.Text // of e-mail, or the URL of a webhook
	Key      secret.Text // of a webhook's signatures
	Language string
}

// Wish is what somebody asks for.
type Wish struct {
	PageID     int64
	Kind       string
	Terms      Terms
	Components []int64 // none: all
}

// Subscriber is somebody who has confirmed, or may.
type Subscriber struct {
	ID          int64
	PageID      int64
	Kind        string
	Terms       Terms // those of the wish until that is confirmed
	Components  []int64
	CreatedAt   time.Time
	ConfirmedAt time.Time // zero: not yet
}

// Errand is something to send to a subscriber.
type Errand struct {
	Subscriber Subscriber
	Page       pagestore.Page // without its targets
	Letter     *Letter        // nil: a request to confirm
	Token      secret.Text    // of that
}

// Letter is an update of a post, as it was when it was said.
type Letter struct {
	PostID     int64     `json:"post_id"`
	Number     int       `json:"number"` // of the update, from 1
	Kind       string    `json:"kind"`
	Title      string    `json:"title"`
	Impact     string    `json:"impact,omitempty"`
	State      string    `json:"state"`
	Text       string    `json:"text"`                 // Markdown
	Components []string  `json:"components,omitempty"` // names
	BegunAt    time.Time `json:"begun_at"`
	At         time.Time `json:"at"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
}

// Store reads and writes subscribers.
type Store struct {
	db  *database.DB
	box *seal.Box
}

// New makes a store on an open database.
func New(db *database.DB, box *seal.Box) *Store { return &Store{db, box} }

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
