package maintenancestore

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/maintenance"
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
		for _, p := range w.parts {
			tags = append(tags, p.terms.Tags...)
		}
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
			for j := range windows[i].parts {
				if p := &windows[i].parts[j]; slices.Contains(p.terms.Tags, tag) {
					p.carry(id, span)
				}
			}
		}
	}
	return windows, failed(ctx, "read tags", rows.Err())
}

// Alike says whether two of them hold the same targets at the same times.
func (w Window) Alike(o Window) bool {
	return w.ID == o.ID && w.Version == o.Version && w.Unread == o.Unread && w.EndedAt.Equal(o.EndedAt) &&
		slices.EqualFunc(w.parts, o.parts, func(a, b part) bool { return maps.EqualFunc(a.carried, b.carried, slices.Equal) })
}

// Between gives when it holds a target, in [from, to).
func (w Window) Between(targetID int64, from, to time.Time) []verdict.Span {
	return Lay([]Window{w}, from, to).Of(targetID)
}

// Laid is when windows hold, whatever target, in a stretch of time.
type Laid struct{ parts []laid }

// laid is a part of a window that holds at some time.
type laid struct {
	window  int64
	scope   maintenance.Scope
	carried map[int64][]verdict.Span
	spans   []verdict.Span
}

// Lay works out when windows hold, in [from, to).
func Lay(windows []Window, from, to time.Time) (l Laid) {
	for i := range windows {
		w, until := &windows[i], to
		if !w.EndedAt.IsZero() && w.EndedAt.Before(to) {
			until = w.EndedAt
		}
		for j := range w.parts {
			p := &w.parts[j]
			if spans := p.between(from, until); len(spans) > 0 {
				l.parts = append(l.parts, laid{w.ID, p.terms.Scope, p.carried, spans})
			}
		}
	}
	return l
}

// Of gives when any of the windows holds a target. One that goes on through a change of it is one span.
func (l Laid) Of(targetID int64) (found []verdict.Span) {
	first := 0 // of the same window
	add := func(span verdict.Span) {
		if last := len(found) - 1; last >= first && found[last].To.Equal(span.From) {
			found[last].To = span.To
			return
		}
		found = append(found, span)
	}
	for i := range l.parts {
		p := &l.parts[i]
		if i > 0 && l.parts[i-1].window != p.window {
			first = len(found)
		}
		if p.scope.Names(targetID) {
			for _, span := range p.spans {
				add(span)
			}
			continue
		}
		for _, carries := range p.carried[targetID] {
			for _, span := range p.spans {
				if carries.From.After(span.From) {
					span.From = carries.From
				}
				if !carries.To.IsZero() && carries.To.Before(span.To) {
					span.To = carries.To
				}
				if span.From.Before(span.To) {
					add(span)
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

// KnownAt is the window as it was at an instant; false: nobody had made it yet. What it was changed
// to since, and who has been given one of its tags since, or has lost it, does not count.
func (w Window) KnownAt(at time.Time) (Window, bool) {
	if w.CreatedAt.After(at) {
		return w, false
	}
	if w.EndedAt.After(at) {
		w.EndedAt = time.Time{}
	}
	known := make([]part, 0, len(w.parts))
	for _, p := range w.parts {
		if p.from.After(at) {
			break
		}
		p.carried = p.carriedAt(at)
		known = append(known, p)
	}
	last := &known[len(known)-1]
	last.until = time.Time{}
	w.parts, w.Name, w.Terms, w.ChangedAt = known, last.name, last.terms, last.from
	return w, true
}
