package incidentstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Outcome is what came of an attempt. The set is closed; programs rely on the words.
type Outcome string

// Outcomes of attempts.
const (
	OutcomeDelivered Outcome = "delivered"
	OutcomeRetry     Outcome = "retry"
	OutcomeFailed    Outcome = "failed"
)

// Delivery is an attempt to tell something.
type Delivery struct {
	ID         int64
	ChannelID  int64
	IncidentID int64 // 0: a test
	Event      Kind
	Key        string
	Attempt    int
	At         time.Time
	Took       time.Duration
	Outcome    Outcome
	Status     int    // of HTTP or SMTP; 0: there was no answer
	Excerpt    string // of what was answered, or why there was none; without secrets
}

// Settlement is how an attempt at a batch ended.
type Settlement struct {
	At      time.Time // when it began
	Took    time.Duration
	Outcome Outcome
	Status  int
	Excerpt string
	Again   time.Time      // of those to retry
	Rest    time.Time      // until then the provider wants to be left alone; zero: it has not said so
	Follow  []Notification // reminders to enqueue, unless the incident is over or acknowledged
}

const (
	settleSQL = "UPDATE outbox SET state = ?, settled_at_ms = ?, lease_until_ms = NULL WHERE id = ? AND settled_at_ms IS NULL AND (? OR holder = ?)"
	retrySQL  = "UPDATE outbox SET state = 'pending', next_attempt_at_ms = ?, lease_until_ms = NULL WHERE id = ? AND settled_at_ms IS NULL AND holder = ?"
	logSQL    = `INSERT INTO deliveries (channel_id, incident_id, event, idempotency_key, attempt, at_ms, took_ms, outcome, status, excerpt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// Settle notes how an attempt at a batch ended, in the log of deliveries and, when it was
// the last, in the timelines. What was delivered is settled even when another holder has
// taken it over since; anything else is for that one to say.
func (s *Store) Settle(ctx context.Context, holder string, b Batch, end Settlement) error {
	ended := end.At.Add(end.Took)
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		there := map[int64]Incident{}
		for _, id := range incidentsOf(b) {
			i, err := Hold(ctx, tx, id)      // first: an acknowledgement takes them in this order, too
			if errors.Is(err, ErrNotFound) { // deleted with its target, and its notifications with it
				continue
			}
			if err != nil {
				return err
			}
			there[id] = i
		}
		for _, n := range b.Notifications {
			if _, is := there[n.IncidentID]; !is {
				continue
			}
			err := tx.Exec(logSQL, b.Channel.ID, n.IncidentID, string(n.Event), b.Key, n.Attempts, end.At.UnixMilli(), end.Took.Milliseconds(), string(end.Outcome), end.Status, end.Excerpt).Error
			if err != nil {
				return err
			}
			if end.Outcome == OutcomeRetry {
				if err := tx.Exec(retrySQL, end.Again.UnixMilli(), n.ID, holder).Error; err != nil {
					return err
				}
				continue
			}
			result := tx.Exec(settleSQL, string(end.Outcome), ended.UnixMilli(), n.ID, end.Outcome == OutcomeDelivered, holder)
			if result.Error != nil {
				return result.Error
			}
			if result.RowsAffected == 0 {
				continue
			}
			say := fmt.Sprintf("%s (%s): %s", b.Channel.Name, b.Channel.Kind, n.Event)
			if end.Outcome == OutcomeFailed {
				say += ", not delivered: " + end.Excerpt
			}
			if _, err := appendEvent(tx, n.IncidentID, "notified:"+n.Key, Event{Kind: Notified, At: ended, Text: say}); err != nil {
				return err
			}
		}
		for _, n := range end.Follow {
			if i, is := there[n.IncidentID]; is && i.Open() && i.AcknowledgedAt.IsZero() {
				n.Payload.state(i)
				if err := insert(tx, n, ended); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return database.Failed(ctx, "settle notification", err)
}

func incidentsOf(b Batch) []int64 {
	ids := make([]int64, len(b.Notifications))
	for i, n := range b.Notifications {
		ids[i] = n.IncidentID
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Log notes an attempt that was not of the outbox.
func (s *Store) Log(ctx context.Context, d Delivery) error {
	err := s.db.Write().WithContext(ctx).Exec(logSQL, d.ChannelID, d.IncidentID, string(d.Event), d.Key, d.Attempt, d.At.UnixMilli(), d.Took.Milliseconds(), string(d.Outcome), d.Status, d.Excerpt).Error
	return database.Failed(ctx, "log delivery", err)
}

// Deliveries gives at most limit attempts of a channel, newest first, before an id; 0: from the newest on.
func (s *Store) Deliveries(ctx context.Context, channelID, beforeID int64, limit int) (all []Delivery, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		d := Delivery{ChannelID: channelID}
		var ms, took int64
		err := rows.Scan(&d.ID, &d.IncidentID, &d.Event, &d.Key, &d.Attempt, &ms, &took, &d.Outcome, &d.Status, &d.Excerpt)
		d.At, d.Took = at(ms), time.Duration(took)*time.Millisecond
		all = append(all, d)
		return err
	}, `SELECT id, incident_id, event, idempotency_key, attempt, at_ms, took_ms, outcome, status, excerpt FROM deliveries
WHERE channel_id = ? AND (? = 0 OR id < ?) ORDER BY id DESC LIMIT ?`, channelID, beforeID, beforeID, limit)
	return all, database.Failed(ctx, "list deliveries", err)
}

// Backlog is how many notifications are due and not settled, and since when the first is.
func (s *Store) Backlog(ctx context.Context, now time.Time) (n int64, since time.Time, err error) {
	var first sql.NullInt64
	err = s.db.Read().WithContext(ctx).Raw("SELECT COUNT(*), MIN(due_at_ms) FROM outbox WHERE settled_at_ms IS NULL AND due_at_ms <= ?", now.UnixMilli()).Row().Scan(&n, &first)
	return n, instant(first), database.Failed(ctx, "count notifications", err)
}

// Forget removes what was settled before then, of incidents that are over, and the attempts
// that were made before then.
func (s *Store) Forget(ctx context.Context, then time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM outbox WHERE settled_at_ms < ? AND incident_id IN (SELECT id FROM incidents WHERE resolved_at_ms IS NOT NULL)", then.UnixMilli()).Error; err != nil {
			return err
		}
		return tx.Exec("DELETE FROM deliveries WHERE at_ms < ?", then.UnixMilli()).Error
	})
	return database.Failed(ctx, "forget notifications", err)
}
