package incidentstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/probefleet/probefleet/internal/database"
)

// Tiding is something that was to be told on a channel, and how far that has come.
type Tiding struct {
	ID          int64
	IncidentID  int64
	ChannelID   int64
	Channel     string // its name
	ChannelKind string
	Event       Kind
	State       State
	CreatedAt   time.Time
	NextAt      time.Time // when it is told, or tried again; of what is settled: was
	SettledAt   time.Time // zero: it is not
	Attempts    int
	Last        Delivery // the newest attempt that has ended; without an ID there was none, or it is forgotten
}

// readTidings gives those of a target's incidents, and of what was told for several of them at once.
const readTidings = `SELECT o.id, o.incident_id, o.channel_id, c.name, c.kind, o.event, o.state, o.created_at_ms,
 CASE WHEN o.next_attempt_at_ms > o.due_at_ms THEN o.next_attempt_at_ms ELSE o.due_at_ms END, o.settled_at_ms, o.attempts,
 COALESCE(d.id, 0), COALESCE(d.attempt, 0), COALESCE(d.at_ms, 0), COALESCE(d.outcome, ''), COALESCE(d.status, 0), COALESCE(d.excerpt, '')
FROM outbox o JOIN channels c ON c.id = o.channel_id
LEFT JOIN deliveries d ON d.id = (SELECT MAX(l.id) FROM deliveries l
 WHERE l.incident_id = o.incident_id AND l.channel_id = o.channel_id AND l.event = o.event AND l.idempotency_key = o.batch)
WHERE o.incident_id IN (SELECT id FROM incidents WHERE target_id = @target
 UNION SELECT g.incident_id FROM incidents i JOIN incident_groups g ON g.id = i.group_id WHERE i.target_id = @target AND g.incident_id IS NOT NULL)
AND (@before = 0 OR o.id < @before) ORDER BY o.id DESC LIMIT @limit`

// Tidings gives at most limit of what was told of a target, newest first, before an id; 0: from the newest on.
func (s *Store) Tidings(ctx context.Context, targetID, beforeID int64, limit int) (all []Tiding, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var t Tiding
		var created, next, last int64
		var settled sql.NullInt64
		err := rows.Scan(&t.ID, &t.IncidentID, &t.ChannelID, &t.Channel, &t.ChannelKind, &t.Event, &t.State, &created, &next, &settled, &t.Attempts,
			&t.Last.ID, &t.Last.Attempt, &last, &t.Last.Outcome, &t.Last.Status, &t.Last.Excerpt)
		t.CreatedAt, t.NextAt, t.SettledAt = at(created), at(next), instant(settled)
		if t.Last.ID != 0 {
			t.Last.At = at(last)
		}
		all = append(all, t)
		return err
	}, readTidings, map[string]any{"target": targetID, "before": beforeID, "limit": limit})
	return all, database.Failed(ctx, "list what was told of a target", err)
}
