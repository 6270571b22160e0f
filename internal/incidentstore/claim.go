package incidentstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

const (
	mostTogether = 50               // notifications in one digest
	astray       = 10 * time.Minute // a lease that ends later was made by a clock that was ahead
)

// Batch is what is sent at once: one notification, or a digest.
type Batch struct {
	Channel       Channel
	Key           string // the same whenever this batch is sent
	Notifications []Notification
	Errand        any // what there is to send where it is not of incidents; nil: the notifications
}

// free is a notification that nobody works on, and whose time has come.
const free = `o.settled_at_ms IS NULL AND o.due_at_ms <= @now AND o.next_attempt_at_ms <= @now AND (o.lease_until_ms IS NULL OR o.lease_until_ms <= @now OR o.lease_until_ms > @astray)`

// first is one before which nothing of its incident waits for the same channel.
const first = ` AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.channel_id = o.channel_id AND e.incident_id = o.incident_id AND e.settled_at_ms IS NULL
 AND (e.due_at_ms < o.due_at_ms OR e.due_at_ms = o.due_at_ms AND e.id < o.id)`

// Waiting gives the channels for which something is due and nobody works on it.
func (s *Store) Waiting(ctx context.Context, now time.Time) (ids []int64, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT DISTINCT o.channel_id FROM outbox o JOIN channels c ON c.id = o.channel_id WHERE c.enabled AND "+free+" ORDER BY o.channel_id", named(now))
	return ids, database.Failed(ctx, "find waiting notifications", err)
}

func named(now time.Time) map[string]any {
	return map[string]any{"now": now.UnixMilli(), "astray": now.Add(astray).UnixMilli()}
}

// Claim leases what is next for a channel to holder until then; found is false when there
// is nothing, or as many as most of the channel are being sent already, by whomever.
func (s *Store) Claim(ctx context.Context, holder string, channelID int64, most int, now, until time.Time) (b Batch, found bool, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		b, found = Batch{}, false
		channel, err := holdChannel(tx, channelID, 0)
		if errors.Is(err, ErrChannelNotFound) || err == nil && !channel.Enabled {
			return nil
		}
		if err != nil {
			return err
		}
		var sending int
		query := "SELECT COUNT(DISTINCT batch) FROM outbox WHERE channel_id = ? AND state = 'sending' AND lease_until_ms > ? AND lease_until_ms <= ?"
		if err := tx.Raw(query, channelID, now.UnixMilli(), now.Add(astray).UnixMilli()).Row().Scan(&sending); err != nil || sending >= most {
			return err
		}
		args := named(now)
		args["channel"] = channelID
		next, err := readNotifications(tx, "o.channel_id = @channel AND "+free+first+") ORDER BY o.due_at_ms, o.id LIMIT 1", args)
		if err != nil || len(next) == 0 {
			return err
		}
		if next[0].Digest != "" {
			if next, err = together(tx, next[0], args); err != nil {
				return err
			}
		}
		b = Batch{Channel: channel, Key: next[0].batch, Notifications: next}
		if b.Key == "" {
			b.Key = next[0].Key
		}
		ids := make([]int64, len(next))
		for i := range next {
			ids[i], next[i].Attempts = next[i].ID, next[i].Attempts+1
		}
		found = true
		return tx.Exec("UPDATE outbox SET state = 'sending', holder = ?, lease_until_ms = ?, attempts = attempts + 1, batch = ? WHERE id IN ?", holder, until.UnixMilli(), b.Key, ids).Error
	})
	if err != nil {
		return Batch{}, false, database.Failed(ctx, "claim notification", err)
	}
	return b, found, nil
}

// together is the digest that head is of: as it was sent before, or all that is due by now.
func together(tx *gorm.DB, head Notification, args map[string]any) ([]Notification, error) {
	args["digest"], args["batch"], args["limit"] = head.Digest, head.batch, mostTogether
	if head.batch != "" {
		return readNotifications(tx, "o.channel_id = @channel AND o.batch = @batch AND o.settled_at_ms IS NULL ORDER BY o.due_at_ms, o.id", args)
	}
	return readNotifications(tx, "o.channel_id = @channel AND o.digest = @digest AND o.batch = '' AND "+free+first+" AND e.digest <> @digest) ORDER BY o.due_at_ms, o.id LIMIT @limit", args)
}
