package resultstore

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

const (
	// exactWindow is how long a window may be that is counted from results alone.
	exactWindow = 49 * time.Hour
	// rollupAge is how long ago an hour ended before it is read from rollups, when a run of
	// theirs that began since has finished. What arrives later still is in them with the next run.
	rollupAge = CloseAfter
	// maxExact bounds the edges within quarters that are counted from results: each is a
	// question of its own. Maintenance has two.
	maxExact = 16
)

// tierOf is a table that can answer for a stretch of time.
type tierOf int

const (
	fromResults  tierOf = iota
	fromQuarters        // of rollup_1h
	fromHours
	fromDays
)

// cellPart is what one table answers of a question.
type cellPart struct {
	tier tierOf
	CellQuery
}

// planCells divides a question among the tables: exact where results are kept, and of as
// few rows as the cuts allow. A cut within a quarter of an hour of which no results are kept
// becomes a cell that reaches across it, and so does one within a day of which no hours are;
// a width that is no number of quarters is had of results only, of those too that are a
// little older than they are kept, as a series is (planSeries).
func planCells(q CellQuery, have keeps) []cellPart {
	narrow := q.Width%availability.Quarter != 0
	if narrow && !q.From.Before(have.raw.Add(-keptSlack)) || !q.From.Before(have.raw) && q.To.Sub(q.From) <= exactWindow {
		return []cellPart{{fromResults, q}}
	}
	if len(q.Blind) > 0 {
		return planBlind(q, have)
	}
	return planRolled(q, have)
}

// planBlind counts what regions were blind for from results, by whole quarters, as long as those
// are kept and it is no more than a window may be that is counted from results alone.
func planBlind(q CellQuery, have keeps) (parts []cellPart) {
	oldest, left, at := later(have.raw, ceilTo(have.hourly, day)), exactWindow, q.From
	for _, s := range (availability.Terms{Blind: q.Blind}).AnyBlind() {
		from, to := s.From.Truncate(availability.Quarter), ceilTo(s.To, availability.Quarter)
		if from, to = later(from, at), earlier(to, q.To); !from.Before(to) || from.Before(oldest) || to.Sub(from) > left || len(parts) > 2*maxExact {
			continue
		}
		left -= to.Sub(from)
		if at.Before(from) {
			parts = append(parts, planRolled(q.within(at, from), have)...)
		}
		parts, at = append(parts, cellPart{fromResults, q.within(from, to)}), to
	}
	if at.Before(q.To) {
		parts = append(parts, planRolled(q.within(at, q.To), have)...)
	}
	return parts
}

func planRolled(q CellQuery, have keeps) (parts []cellPart) {
	rolled := have.rolled.Truncate(hour)
	head := q.within(q.From, earlier(q.To, rolled))
	if head.From.Before(have.hourly.Add(-keptSlack)) {
		hours := earlier(ceilTo(have.hourly, day), rolled.Truncate(day))
		if old := head.within(head.From, earlier(head.To, hours)); old.From.Before(old.To) {
			parts = append(parts, old.days())
			head = head.within(hours, head.To)
		}
	}
	if head.From.Before(head.To) {
		parts = append(parts, head.divide(have.raw)...)
	}
	if tail := q.within(later(q.From, rolled), q.To); tail.From.Before(tail.To) {
		parts = append(parts, cellPart{fromResults, tail})
	}
	return parts
}

// days is for what only days are kept of. A day with an edge or a cut within is a cell of
// its own, and reaches across.
func (q CellQuery) days() cellPart {
	var cuts []time.Time
	for _, cut := range append([]time.Time{q.From, q.To}, q.Cuts...) {
		cuts = append(cuts, cut.Truncate(day), ceilTo(cut, day))
	}
	slices.SortFunc(cuts, time.Time.Compare)
	q.Cuts = slices.CompactFunc(cuts, time.Time.Equal)
	if q.Width%day != 0 {
		q.Width = day
	}
	return cellPart{fromDays, q.within(q.From.Truncate(day), ceilTo(q.To, day))}
}

// within is the question for a part of its window.
func (q CellQuery) within(from, to time.Time) CellQuery {
	q.From, q.To = from, to
	q.Cuts = slices.DeleteFunc(slices.Clone(q.Cuts), func(cut time.Time) bool { return !cut.After(from) || !cut.Before(to) })
	return q
}

// divide is for windows that rollups cover.
func (q CellQuery) divide(raw time.Time) (parts []cellPart) {
	const quarter = availability.Quarter
	exact := 0
	at := q.From
	for _, edge := range append(append([]time.Time{q.From}, q.Cuts...), q.To) {
		odd := edge.Truncate(quarter)
		if odd.Equal(edge) || edge.Before(at) {
			continue
		}
		end := odd.Add(quarter)
		parts = append(parts, q.coarse(at, odd)...)
		if piece := q.within(later(at, odd), earlier(end, q.To)); exact < maxExact && !odd.Before(raw) {
			exact++
			parts = append(parts, cellPart{fromResults, piece})
		} else {
			piece = q.within(odd, end)
			piece.Cuts = nil
			parts = append(parts, cellPart{fromQuarters, piece})
		}
		at = end
	}
	return append(parts, q.coarse(at, q.To.Truncate(quarter))...)
}

// coarse divides a window whose edges are those of quarters among the rollups.
func (q CellQuery) coarse(from, to time.Time) (parts []cellPart) {
	if !from.Before(to) {
		return nil
	}
	q = q.within(from, to)
	q.Cuts = slices.DeleteFunc(q.Cuts, func(cut time.Time) bool { return !cut.Equal(cut.Truncate(availability.Quarter)) }) // see divide
	finer := fromQuarters
	for _, wide := range []struct {
		tier   tierOf
		length time.Duration
	}{{fromHours, hour}, {fromDays, day}} {
		first, last := ceilTo(q.From, wide.length), q.To.Truncate(wide.length)
		fits := func(cut time.Time) bool { return cut.Equal(cut.Truncate(wide.length)) }
		middle := q.within(first, last)
		if !first.Before(last) || q.Width%wide.length != 0 || !all(middle.Cuts, fits) {
			break
		}
		for _, edge := range []CellQuery{q.within(q.From, first), q.within(last, q.To)} {
			if edge.From.Before(edge.To) {
				parts = append(parts, cellPart{finer, edge})
			}
		}
		q, finer = middle, wide.tier
	}
	return append(parts, cellPart{finer, q})
}

func all(cuts []time.Time, fits func(time.Time) bool) bool {
	return !slices.ContainsFunc(cuts, func(cut time.Time) bool { return !fits(cut) })
}

func ceilTo(t time.Time, length time.Duration) time.Time {
	return t.Add(length - 1).Truncate(length)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
