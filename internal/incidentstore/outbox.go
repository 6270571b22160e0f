package incidentstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// State is how far a notification is. The set is closed; programs rely on the words.
type State string

// States. Only pending and sending ones are worked on.
const (
	Pending   State = "pending"
	Sending   State = "sending" // somebody holds its lease
	Delivered State = "delivered"
	Failed    State = "failed" // refused for good, or too long
	Cancelled State = "cancelled"
)

// Payload is all that a notification says.
type Payload struct {
	Event       Kind      `json:"event"`
	At          time.Time `json:"at"` // when what it tells of happened, or is due to be said again
	IncidentID  int64     `json:"incident_id"`
	TargetID    int64     `json:"target_id"`
	Subject     Subject   `json:"subject"`
	Severity    Severity  `json:"severity"`
	Since       time.Time `json:"since"`                // the first failing slot
	ResolvedAt  time.Time `json:"resolved_at,omitzero"` // zero: it goes on
	Explanation string    `json:"explanation"`
	Failure     string    `json:"failure,omitempty"`
	Regions     []string  `json:"regions,omitempty"`
	By          string    `json:"by,omitempty"`   // who acknowledged
	Says        string    `json:"says,omitempty"` // and what they said; or why it is over
	Link        string    `json:"link"`
}

// state takes over how an incident is now.
func (p *Payload) state(i Incident) {
	p.Severity, p.Explanation, p.Failure, p.Regions = i.Severity, i.Cause.Explanation, i.Cause.Failure, i.Cause.Regions
}

// mend fills in what could not be read: that something happened is told all the same.
func (p *Payload) mend(n Notification, why error) {
	p.Event, p.IncidentID = n.Event, n.IncidentID
	p.At = cmp.Or(p.At, n.DueAt)
	p.Since = cmp.Or(p.Since, p.At)
	p.Severity = cmp.Or(p.Severity, Down)
	p.Subject.Name = cmp.Or(p.Subject.Name, fmt.Sprintf("Incident %d", n.IncidentID))
	p.Explanation = cmp.Or(p.Explanation, unreadable(why))
}

// Notification is something to tell on a channel.
type Notification struct {
	ID               int64
	Key              string // the same however often it is sent, or enqueued
	IncidentID       int64
	ChannelID        int64
	RuleID           int64
	Event            Kind
	Payload          Payload
	Unless           Kind   // what makes it pointless: "", Acknowledged or, while it is not due, Resolved
	Digest           string // those of a channel with the same one are told together; "": alone
	TellAcknowledged bool   // the channel hears of that too
	TellResolved     bool
	CreatedAt        time.Time
	DueAt            time.Time
	Attempts         int
	batch            string
	unread           bool // not all of the payload could be read
}

// Change is what happened to an incident.
type Change struct {
	Incident Incident // after it
	Key      string   // different for each change of an incident
	Event    Event
}

// Told is a channel that was told of an incident, or will be.
type Told struct {
	ChannelID, RuleID              int64
	TellAcknowledged, TellResolved bool
}

// Book is whom there is to tell.
type Book struct {
	Rules    []Rule         // enabled ones
	Channels map[int64]bool // enabled ones
	Told     []Told         // of this incident, in the order of the first time
}

// Planner decides whom a change is told to, and when. It must be a pure function: it runs
// within a transaction, which may be repeated.
type Planner interface {
	Plan(c Change, b Book) []Notification
}

const (
	cancelMet  = "UPDATE outbox SET state = 'cancelled', settled_at_ms = ? WHERE incident_id = ? AND state = 'pending' AND unless = 'acknowledged'"
	cancelHeld = "UPDATE outbox SET state = 'cancelled', settled_at_ms = ? WHERE incident_id = ? AND state = 'pending' AND unless = 'resolved' AND due_at_ms > ?"
	readTold   = `SELECT channel_id, rule_id, tell_acknowledged, tell_resolved FROM outbox
WHERE incident_id = ? AND state IN ('pending', 'sending', 'delivered') AND unless <> 'acknowledged' OR incident_id = ? AND state IN ('sending', 'delivered') ORDER BY id`
	enqueue = `INSERT INTO outbox (idempotency_key, incident_id, channel_id, rule_id, event, payload, unless, digest, tell_acknowledged, tell_resolved,
 state, created_at_ms, due_at_ms, next_attempt_at_ms, attempts, batch, holder)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, 0, '', '') ON CONFLICT (idempotency_key) DO NOTHING`
)

// announce cancels what a change makes pointless and enqueues what is to be told of it.
func (s *Store) announce(ctx context.Context, tx *gorm.DB, c Change) error {
	now, id := c.Event.At.UnixMilli(), c.Incident.ID
	switch c.Event.Kind {
	case Opened:
	case SeverityChanged:
		if err := tx.Exec(cancelHeld, now, id, now).Error; err != nil { // what is told of this change says it better
			return err
		}
		if err := restate(tx, c.Incident); err != nil {
			return err
		}
	case Acknowledged, Resolved:
		if err := tx.Exec(cancelMet, now, id).Error; err != nil {
			return err
		}
		if c.Event.Kind == Resolved {
			if err := tx.Exec(cancelHeld, now, id, now).Error; err != nil {
				return err
			}
		}
	default:
		return nil
	}
	book, err := readBook(tx, id)
	if err != nil {
		return err
	}
	for _, n := range s.planner.Plan(c, book) {
		if err := insert(tx, n, c.Event.At); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// restate has escalations and reminders that were never sent say how the incident is now.
func restate(tx *gorm.DB, i Incident) error {
	waiting, err := readNotifications(tx, "o.incident_id = ? AND o.state = 'pending' AND o.unless = 'acknowledged' AND o.attempts = 0", i.ID)
	if err != nil {
		return err
	}
	for _, n := range waiting {
		if n.unread { // another release tells it better
			continue
		}
		n.Payload.state(i)
		if err := tx.Exec("UPDATE outbox SET payload = ? WHERE id = ?", text(n.Payload), n.ID).Error; err != nil {
			return err
		}
	}
	return nil
}

func insert(tx *gorm.DB, n Notification, now time.Time) error {
	return tx.Exec(enqueue, n.Key, n.IncidentID, n.ChannelID, n.RuleID, string(n.Event), text(n.Payload), string(n.Unless), n.Digest, n.TellAcknowledged, n.TellResolved,
		now.UnixMilli(), n.DueAt.UnixMilli(), n.DueAt.UnixMilli()).Error
}

func readBook(tx *gorm.DB, incidentID int64) (b Book, err error) {
	if b.Rules, err = readRules(tx, "WHERE enabled ORDER BY id"); err != nil {
		return b, err
	}
	channels, err := readChannels(tx, "WHERE enabled")
	if err != nil {
		return b, err
	}
	b.Channels = map[int64]bool{}
	for _, c := range channels {
		b.Channels[c.ID] = true
	}
	place := map[int64]int{}
	err = database.Each(tx, func(rows *sql.Rows) error {
		var t Told
		if err := rows.Scan(&t.ChannelID, &t.RuleID, &t.TellAcknowledged, &t.TellResolved); err != nil {
			return err
		}
		i, known := place[t.ChannelID]
		if !known {
			place[t.ChannelID] = len(b.Told)
			b.Told = append(b.Told, t)
			return nil
		}
		b.Told[i].TellAcknowledged = b.Told[i].TellAcknowledged || t.TellAcknowledged
		b.Told[i].TellResolved = b.Told[i].TellResolved || t.TellResolved
		return nil
	}, readTold, incidentID, incidentID)
	return b, err
}

const notificationColumns = `o.id, o.idempotency_key, o.incident_id, o.channel_id, o.rule_id, o.event, o.payload, o.unless, o.digest, o.tell_acknowledged, o.tell_resolved,
 o.created_at_ms, o.due_at_ms, o.attempts, o.batch`

func readNotifications(db *gorm.DB, where string, args ...any) (all []Notification, err error) {
	err = database.Each(db, func(rows *sql.Rows) error {
		var n Notification
		var payload string
		var created, due int64
		err := rows.Scan(&n.ID, &n.Key, &n.IncidentID, &n.ChannelID, &n.RuleID, &n.Event, &payload, &n.Unless, &n.Digest, &n.TellAcknowledged, &n.TellResolved,
			&created, &due, &n.Attempts, &n.batch)
		if err != nil {
			return err
		}
		n.CreatedAt, n.DueAt = at(created), at(due)
		if err := json.Unmarshal([]byte(payload), &n.Payload); err != nil {
			n.unread = true
			n.Payload.mend(n, err)
		}
		all = append(all, n)
		return nil
	}, "SELECT "+notificationColumns+" FROM outbox o WHERE "+where, args...)
	return all, err
}
