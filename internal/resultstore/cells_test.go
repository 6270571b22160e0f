package resultstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

type cellSeries struct {
	id     int64
	region string
}

func cellsOf(t *testing.T, s *Store, q CellQuery) map[cellSeries]map[availability.Span]availability.Counts {
	t.Helper()
	got := map[cellSeries]map[availability.Span]availability.Counts{}
	err := s.Cells(t.Context(), q, func(id int64, region string, c availability.Cell) error {
		k := cellSeries{id, region}
		if got[k] == nil {
			got[k] = map[availability.Span]availability.Counts{}
		}
		if _, twice := got[k][c.Span]; twice {
			t.Errorf("%v has the cell %v twice", k, c.Span)
		}
		got[k][c.Span] = c.Counts
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func countOf(status uptime.Status) (c availability.Counts) {
	*[...]*uint64{uptime.StatusUp: &c.Up, uptime.StatusDegraded: &c.Degraded, uptime.StatusDown: &c.Down, uptime.StatusUnknown: &c.Unknown, uptime.StatusMissed: &c.Missed}[status] = 1
	return c
}

// modelCells is what Cells answers, from the rows themselves.
func modelCells(rows []uptime.Result, q CellQuery) map[cellSeries]map[availability.Span]availability.Counts {
	kept := map[uptime.Slot]uptime.Result{}
	for _, r := range rows {
		if old, found := kept[r.Slot()]; !found || r.Revision() > old.Revision() {
			kept[r.Slot()] = r
		}
	}
	cells := map[cellSeries]map[availability.Span]availability.Counts{}
	add := func(k cellSeries, at time.Time, c availability.Counts) {
		span := availability.Span{From: q.From, To: q.To}
		edges := append([]time.Time{}, q.Cuts...)
		if q.Width > 0 {
			first := time.UnixMilli(floorDiv(at.UnixMilli(), q.Width.Milliseconds()) * q.Width.Milliseconds()).UTC()
			edges = append(edges, first, first.Add(q.Width))
		}
		for _, edge := range edges {
			if !edge.After(at) && edge.After(span.From) {
				span.From = edge
			}
			if edge.After(at) && edge.Before(span.To) {
				span.To = edge
			}
		}
		if cells[k] == nil {
			cells[k] = map[availability.Span]availability.Counts{}
		}
		cells[k][span] = cells[k][span].Add(c)
	}
	type instant struct {
		id int64
		at time.Time
	}
	whole := map[instant]availability.Counts{}
	for slot, r := range kept {
		if slot.ScheduledAt.Before(q.From) || !slot.ScheduledAt.Before(q.To) {
			continue
		}
		add(cellSeries{slot.TargetID, slot.Region}, slot.ScheduledAt, countOf(r.Status))
		k := instant{slot.TargetID, slot.ScheduledAt}
		whole[k] = whole[k].Add(countOf(r.Status))
	}
	for k, c := range whole {
		add(cellSeries{k.id, ""}, k.at, c.Fold())
	}
	return cells
}

// Random rows, some of them more than once, are counted as the model counts them,
// however wide the cells and wherever the cuts.
func TestCellsAreThoseOfTheModel(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Hour)
	var rows []uptime.Result
	for id := range int64(3) {
		for minute := range 24 * 60 / 7 {
			for _, region := range []string{"ap", "eu", "us"}[:1+random.IntN(3)] {
				for round := range 1 + random.IntN(5)/3 {
					r := up(id+1, region, start.Add(time.Duration(minute)*7*time.Minute+time.Duration(id)*1234*time.Millisecond))
					r.IngestedAt = r.ScheduledAt.Add(time.Duration(round+1) * time.Second)
					switch status := uptime.Status(1 + random.IntN(5)); status {
					case uptime.StatusDown:
						r.Status, r.Failure = status, uptime.FailureTimeout
					case uptime.StatusUnknown, uptime.StatusMissed:
						r = uptime.Result{TargetID: r.TargetID, Region: region, ScheduledAt: r.ScheduledAt, Status: status, Reason: map[uptime.Status]uptime.Reason{uptime.StatusUnknown: uptime.ReasonInternal, uptime.StatusMissed: uptime.ReasonLost}[status], IngestedAt: r.IngestedAt}
					default:
						r.Status = status
					}
					rows = append(rows, r)
				}
			}
		}
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	insert(t, s, batchOf(rows[:len(rows)/2]...), batchOf(rows[len(rows)/2:]...))
	ids := []int64{1, 2, 3, 4}
	cut := start.Add(5*time.Hour + 7*time.Minute)
	for name, q := range map[string]CellQuery{
		"one cell":              {From: start, To: start.Add(24 * time.Hour)},
		"quarters":              {From: start, To: start.Add(24 * time.Hour), Width: availability.Quarter},
		"hours from an odd one": {From: start.Add(17 * time.Minute), To: start.Add(20*time.Hour + 3*time.Second), Width: time.Hour},
		"cuts":                  {From: start.Add(time.Minute), To: start.Add(20 * time.Hour), Cuts: []time.Time{cut, cut.Add(time.Hour), cut.Add(2 * time.Hour)}},
		"cuts within quarters":  {From: start, To: start.Add(20 * time.Hour), Width: availability.Quarter, Cuts: []time.Time{start.Add(4 * time.Hour), cut, cut.Add(20 * time.Second), cut.Add(time.Minute)}},
		"to the millisecond":    {From: start.Add(1234 * time.Millisecond), To: start.Add(7*time.Minute + 1234*time.Millisecond)},
	} {
		q.IDs = ids
		want := modelCells(rows, q)
		if diff := cmp.Diff(want, cellsOf(t, s, q)); diff != "" || len(want) == 0 {
			t.Errorf("%s: %s", name, diff)
		}
		for k := range want {
			if k.region != "" || k.id == 2 {
				delete(want, k)
			}
		}
		q.IDs, q.Whole = []int64{1, 3}, true
		if diff := cmp.Diff(want, cellsOf(t, s, q)); diff != "" {
			t.Errorf("%s, as a whole: %s", name, diff)
		}
	}
	for name, q := range map[string]CellQuery{"of nobody": {From: start, To: cut}, "empty": {IDs: ids, From: cut, To: cut}} {
		if got := cellsOf(t, s, q); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	enough := errors.New("enough")
	if err := s.Cells(t.Context(), CellQuery{IDs: ids, From: start, To: cut}, func(int64, string, availability.Cell) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("a caller's error came back as %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := s.Cells(gone, CellQuery{IDs: ids, From: start, To: cut}, func(int64, string, availability.Cell) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
}
