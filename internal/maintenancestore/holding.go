package maintenancestore

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	// all is more windows than there can be.
	all = 1 << 30
	// fewTargets may be named in a question; of more, all are read.
	fewTargets = 500

	carried = "SELECT target_id, tag, from_ms, to_ms FROM target_tags WHERE tag IN ? AND (to_ms IS NULL OR to_ms > ?)"
)

// Holding gives all windows, which can say when they held a target from an instant on.
func (s *Store) Holding(ctx context.Context, since time.Time) ([]Window, error) {
	return s.holding(ctx, since, nil)
}

// holding knows of these targets' tags; of none: of all.
func (s *Store) holding(ctx context.Context, since time.Time, ids []int64) ([]Window, error) {
	windows, err := s.List(ctx, 0, all)
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, w := range windows {
		tags = append(tags, w.Terms.Tags...)
	}
	if len(tags) == 0 {
		return windows, nil
	}
	query, args := carried, []any{slices.Compact(slices.Sorted(slices.Values(tags))), since.UnixMilli()}
	if len(ids) > 0 && len(ids) <= fewTargets {
		query, args = query+" AND target_id IN ?", append(args, ids)
	}
	rows, err := s.db.Read().WithContext(ctx).Raw(query+" ORDER BY target_id, from_ms, tag", args...).Rows()
	if err != nil {
		return nil, failed(ctx, "read tags", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, from int64
		var tag string
		var to sql.NullInt64
		if err := rows.Scan(&id, &tag, &from, &to); err != nil {
			return nil, failed(ctx, "read tags", err)
		}
		span := verdict.Span{From: time.UnixMilli(from).UTC()}
		if to.Valid {
			span.To = time.UnixMilli(to.Int64).UTC()
		}
		for i := range windows {
			if w := &windows[i]; slices.Contains(w.Terms.Tags, tag) {
				w.carry(id, span)
			}
		}
	}
	return windows, failed(ctx, "read tags", rows.Err())
}

// carry notes that a target carried one of its tags; what came before began before.
func (w *Window) carry(id int64, span verdict.Span) {
	if w.carried == nil {
		w.carried = map[int64][]verdict.Span{}
	}
	spans := w.carried[id]
	last := len(spans) - 1
	switch {
	case last < 0 || !spans[last].To.IsZero() && spans[last].To.Before(span.From):
		w.carried[id] = append(spans, span)
	case spans[last].To.IsZero():
	case span.To.IsZero() || span.To.After(spans[last].To):
		spans[last].To = span.To
	}
}

// Alike says whether two of them hold the same targets at the same times.
func (w Window) Alike(o Window) bool {
	return w.ID == o.ID && w.EndedAt.Equal(o.EndedAt) && maps.EqualFunc(w.carried, o.carried, slices.Equal)
}

// Between gives when it holds a target, in [from, to).
func (w Window) Between(targetID int64, from, to time.Time) []verdict.Span {
	return Lay([]Window{w}, from, to).Of(targetID)
}

// Laid is when windows hold, whatever target, in a stretch of time.
type Laid struct {
	windows []Window
	spans   [][]verdict.Span // by window
}

// Lay works out when windows hold, in [from, to).
func Lay(windows []Window, from, to time.Time) Laid {
	l := Laid{windows: windows, spans: make([][]verdict.Span, len(windows))}
	for i, w := range windows {
		until := to
		if !w.EndedAt.IsZero() && w.EndedAt.Before(to) {
			until = w.EndedAt
		}
		if from.Before(until) {
			l.spans[i] = w.schedule.Between(from, until)
		}
	}
	return l
}

// Of gives when any of the windows holds a target.
func (l Laid) Of(targetID int64) (found []verdict.Span) {
	for i, w := range l.windows {
		if w.Terms.Names(targetID) {
			found = append(found, l.spans[i]...)
			continue
		}
		for _, carries := range w.carried[targetID] {
			for _, span := range l.spans[i] {
				if carries.From.After(span.From) {
					span.From = carries.From
				}
				if !carries.To.IsZero() && carries.To.Before(span.To) {
					span.To = carries.To
				}
				if span.From.Before(span.To) {
					found = append(found, span)
				}
			}
		}
	}
	return found
}

// Maintenance says when each target was maintained, in [from, to).
func (s *Store) Maintenance(ctx context.Context, ids []int64, from, to time.Time) (map[int64]availability.Spans, error) {
	windows, err := s.holding(ctx, from, ids)
	if err != nil {
		return nil, err
	}
	laid, spans := Lay(windows, from, to), map[int64]availability.Spans{}
	for _, id := range ids {
		if found := laid.Of(id); len(found) > 0 {
			converted := make([]availability.Span, len(found))
			for i, span := range found {
				converted[i] = availability.Span{From: span.From, To: span.To}
			}
			spans[id] = availability.NewSpans(converted...)
		}
	}
	return spans, nil
}

// KnownAt is the window as it was at an instant; false: nobody had made it yet. Who has been given
// one of its tags since, or has lost it, does not count.
func (w Window) KnownAt(at time.Time) (Window, bool) {
	if w.CreatedAt.After(at) {
		return w, false
	}
	if w.EndedAt.After(at) {
		w.EndedAt = time.Time{}
	}
	carried := make(map[int64][]verdict.Span, len(w.carried))
	for id, spans := range w.carried {
		for _, span := range spans {
			if span.From.After(at) {
				continue
			}
			if span.To.After(at) {
				span.To = time.Time{}
			}
			carried[id] = append(carried[id], span)
		}
	}
	w.carried = carried
	return w, true
}
