package incidentstore

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/database"
)

// idsPerStatement is far below every engine's limit of parameters.
const idsPerStatement = 500

// Decisions gives, by incident, what its timeline says of its opening and of how bad it was, in order.
func (s *Store) Decisions(ctx context.Context, ids []int64) (map[int64][]Event, error) {
	all := make(map[int64][]Event, len(ids))
	for chunk := range slices.Chunk(ids, idsPerStatement) {
		err := database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
			var e Event
			var incident, ms int64
			err := rows.Scan(&incident, &e.ID, &e.Kind, &ms, &e.Author, &e.Text)
			e.At = at(ms)
			all[incident] = append(all[incident], e)
			return err
		}, "SELECT incident_id, id, kind, at_ms, author, text FROM incident_events WHERE incident_id IN ? AND kind IN (?, ?) ORDER BY at_ms, id", chunk, string(Opened), string(SeverityChanged))
		if err != nil {
			return nil, database.Failed(ctx, "read decisions", err)
		}
	}
	return all, nil
}

// KnownAt is the incident as it was told at an instant; false: it had not been found yet. Where it
// got better or worse later, its cause is the explanation alone. Which group it was in is not told.
func (i Incident) KnownAt(decisions []Event, at time.Time) (Incident, bool) {
	if i.OpenedAt.After(at) {
		return i, false
	}
	i.GroupID = 0
	if i.ResolvedAt.After(at) {
		i.ResolvedAt = time.Time{}
	}
	if i.AcknowledgedAt.After(at) {
		i.AcknowledgedAt, i.AcknowledgedBy = time.Time{}, ""
	}
	explanation := i.Cause.Explanation
	for _, e := range decisions {
		var was Severity
		said := e.Text
		if e.Kind == SeverityChanged {
			was, said = changedFrom(e.Text)
		}
		if e.At.After(at) {
			if was != "" {
				i.Severity, i.Cause = was, Cause{Explanation: explanation}
			}
			return i, true
		}
		explanation = said
	}
	return i, true
}

// changedFrom reads what SetSeverity has written: "down, was degraded: why".
func changedFrom(text string) (was Severity, why string) {
	head, why, _ := strings.Cut(text, ": ")
	_, before, _ := strings.Cut(head, ", was ")
	return Severity(before), why
}
