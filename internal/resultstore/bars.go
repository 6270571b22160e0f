package resultstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Bar is what is shown of a result where many are shown at once. (Of a fleet there are so many
// that the rest of their fields took as long as the server did.)
type Bar struct {
	TargetID    int64
	Region      string
	ScheduledAt time.Time
	CheckedAt   time.Time // start of the first attempt; zero when nobody tried
	Status      uptime.Status
	Failure     uptime.Failure
	Reason      uptime.Reason
	HTTPStatus  int
	TotalUS     uint32
}

// Slot is the row's key.
func (b *Bar) Slot() uptime.Slot {
	return uptime.Slot{TargetID: b.TargetID, Region: b.Region, ScheduledAt: b.ScheduledAt}
}

const barColumns = `target_id, region, scheduled_at, checked_at, status, failure, reason, http_status, total_us`

// bars runs a question for barColumns and hands its rows to each, one by one.
func (s *Store) bars(ctx context.Context, sql string, args []any, each func(Bar)) error {
	var b Bar
	var w wire
	into := []any{&w.target, &b.Region, &w.scheduled, &w.checked, &w.status, (*string)(&b.Failure), (*string)(&b.Reason), &w.httpStatus, &b.TotalUS}
	return s.query(ctx, pageBound, sql, args, func(rows driver.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		b.TargetID, b.Status, b.HTTPStatus = int64(w.target), uptime.Status(w.status), int(w.httpStatus)
		b.ScheduledAt, b.CheckedAt = w.scheduled.UTC(), domainTime(w.checked)
		each(b)
		return nil
	})
}

// Current gives the newest row, measured or not, of each target and region, ordered by
// them; nil ids mean all targets.
func (s *Store) Current(ctx context.Context, ids []int64) ([]Bar, error) {
	sql, args, about := s.currentQuestion(ids, barColumns)
	current := make([]Bar, 0, about)
	inOrder := true // of the table's key, as a rule: to be told so by the server takes a tenth longer
	if err := s.bars(ctx, sql+oneThread, args, func(b Bar) {
		inOrder = inOrder && (len(current) == 0 || byTargetAndRegion(&current[len(current)-1], &b) < 0)
		current = append(current, b)
	}); err != nil {
		return nil, fmt.Errorf("read current results: %w", err)
	}
	if !inOrder {
		slices.SortFunc(current, func(a, b Bar) int { return byTargetAndRegion(&a, &b) })
	}
	if ids == nil {
		s.wereCurrent(len(current))
	}
	return current, nil
}

func byTargetAndRegion(a, b *Bar) int {
	if a.TargetID != b.TargetID {
		return cmp.Compare(a.TargetID, b.TargetID)
	}
	return strings.Compare(a.Region, b.Region)
}

const (
	latestFrom = ` FROM results FINAL
WHERE target_id IN {ids:Array(UInt64)} AND scheduled_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`

	// Of a series any rows, but at most so many: they are put in order here, for less.
	latestSQL = `SELECT ` + barColumns + latestFrom + ` LIMIT {most:UInt32} BY target_id, region`

	// The newest rows of each region hold the newest slots of the target.
	crowdedSQL = `SELECT ` + barColumns + latestFrom + ` ORDER BY scheduled_at DESC LIMIT {most:UInt32} BY target_id, region`
)

// LatestN gives the n newest slots since an instant of each target, with the rows of
// all their regions, newest first and by region. A target without results is absent. The cost
// grows with the time since: ask for n intervals, not for ever.
func (s *Store) LatestN(ctx context.Context, ids []int64, n int, since time.Time) (map[int64][]Bar, error) {
	if len(ids) == 0 || n < 1 {
		return map[int64][]Bar{}, nil
	}
	since, _ = s.keptRange(since, time.Time{})
	most := 2*n + 16 // of n intervals there are n slots and a few
	found, err := s.seriesOf(ctx, latestSQL, ids, most, since)
	if err != nil {
		return nil, fmt.Errorf("read latest results: %w", err)
	}
	var crowded []int64 // their interval was shorter, or they have results from outside: the newest may have been left out
	for id, regions := range found {
		if slices.ContainsFunc(regions, func(r *regionBars) bool { return len(r.bars) == most }) {
			crowded = append(crowded, id)
		}
	}
	if len(crowded) > 0 {
		again, err := s.seriesOf(ctx, crowdedSQL, crowded, n, since)
		if err != nil {
			return nil, fmt.Errorf("read latest results: %w", err)
		}
		for id, regions := range again {
			found[id] = regions
		}
	}
	latest := make(map[int64][]Bar, len(found))
	for id, regions := range found {
		latest[id] = newestSlots(regions, n)
	}
	return latest, nil
}

type regionBars struct {
	region string
	bars   []Bar
}

// seriesOf gives the rows of each target, by region.
func (s *Store) seriesOf(ctx context.Context, sql string, ids []int64, most int, since time.Time) (map[int64][]*regionBars, error) {
	found := make(map[int64][]*regionBars, len(ids))
	var target int64
	var last *regionBars // rows of a series come together, as a rule
	return found, s.bars(ctx, sql, []any{
		clickhouse.Named("ids", unsigned(ids)), clickhouse.Named("most", uint32(most)), millis("since", since),
	}, func(b Bar) {
		if last == nil || target != b.TargetID || last.region != b.Region {
			regions := found[b.TargetID]
			i := slices.IndexFunc(regions, func(r *regionBars) bool { return r.region == b.Region })
			if i < 0 {
				i = len(regions)
				regions = append(regions, &regionBars{b.Region, make([]Bar, 0, min(most/2, 128))})
				found[b.TargetID] = regions
			}
			target, last = b.TargetID, regions[i]
		}
		last.bars = append(last.bars, b)
	})
}

// newestSlots merges the rows of regions.
func newestSlots(regions []*regionBars, n int) []Bar {
	slices.SortFunc(regions, func(a, b *regionBars) int { return strings.Compare(a.region, b.region) })
	rows := 0
	for _, r := range regions {
		slices.SortFunc(r.bars, func(a, b Bar) int { return b.ScheduledAt.Compare(a.ScheduledAt) })
		rows += min(len(r.bars), n)
	}
	newest := make([]Bar, 0, rows)
	for range n {
		var slot time.Time
		for _, r := range regions {
			if len(r.bars) > 0 && r.bars[0].ScheduledAt.After(slot) {
				slot = r.bars[0].ScheduledAt
			}
		}
		for _, r := range regions {
			if len(r.bars) > 0 && r.bars[0].ScheduledAt.Equal(slot) {
				newest, r.bars = append(newest, r.bars[0]), r.bars[1:]
			}
		}
	}
	return newest
}
