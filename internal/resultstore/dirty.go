package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/availability"
)

// ServerTime is the clock marks are made with.
func (s *Store) ServerTime(ctx context.Context) (now time.Time, err error) {
	err = s.query(ctx, pageBound, `SELECT now64(3, 'UTC')`, nil, func(rows driver.Rows) error { return rows.Scan(&now) })
	if err != nil {
		return time.Time{}, fmt.Errorf("read clickhouse's clock: %w", err)
	}
	return now.UTC(), nil
}

// DirtyHour is an hour of which rows arrived.
type DirtyHour struct {
	Hour    time.Time
	Targets int64
}

const dirtySQL = `SELECT bucket, uniqExact(target_id) FROM rollup_dirty
WHERE dirty_at > fromUnixTimestamp64Milli({marked:Int64}, 'UTC') AND bucket >= {from:DateTime('UTC')} AND bucket < {to:DateTime('UTC')}
GROUP BY bucket ORDER BY bucket DESC`

// DirtyHours gives the hours that begin in [from, to) of which rows arrived after an
// instant, by the server's clock, newest first. A mark is made shortly before its rows
// can be seen: ask from two minutes before the last time.
func (s *Store) DirtyHours(ctx context.Context, marked, from, to time.Time) ([]DirtyHour, error) {
	var hours []DirtyHour
	err := s.query(ctx, sweepBound, dirtySQL, []any{millis("marked", marked), seconds("from", from), seconds("to", to)}, func(rows driver.Rows) error {
		var h DirtyHour
		var n uint64
		err := rows.Scan(&h.Hour, &n)
		h.Hour, h.Targets = h.Hour.UTC(), int64(n)
		hours = append(hours, h)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read dirty hours: %w", err)
	}
	return hours, nil
}

// MaxCorrections is the largest number of corrections of one target in an answer, and
// MostCorrections that of all of them.
const (
	MaxCorrections  = 1000
	MostCorrections = 100_000
)

const readCorrectionsSQL = `SELECT target_id, region, bucket, revised_at, was_up, was_degraded, was_down, was_unknown, was_missed, up, degraded, down, unknown, missed, was_total_us_sum, total_us_sum
FROM corrections FINAL
WHERE target_id IN {ids:Array(UInt64)} AND bucket >= {from:DateTime('UTC')} AND bucket < {to:DateTime('UTC')}
ORDER BY revised_at DESC, bucket DESC, target_id, region LIMIT {limit:UInt32} BY target_id LIMIT {most:UInt32}`

// Corrections gives, by target, the changes of closed hours with slots in [from, to), the newest
// first, at most MaxCorrections of each.
func (s *Store) Corrections(ctx context.Context, ids []int64, from, to time.Time) (map[int64][]availability.Correction, error) {
	all := map[int64][]availability.Correction{}
	if len(ids) == 0 || !from.Before(to) {
		return all, nil
	}
	err := s.query(ctx, pageBound, readCorrectionsSQL, []any{
		clickhouse.Named("ids", unsigned(ids)), seconds("from", from.UTC().Truncate(hour)), seconds("to", to.Add(time.Second-1)), clickhouse.Named("limit", uint32(MaxCorrections)), clickhouse.Named("most", uint32(MostCorrections)),
	}, func(rows driver.Rows) error {
		var c availability.Correction
		var id uint64
		var was, is [5]uint32
		err := rows.Scan(&id, &c.Region, &c.Hour, &c.RevisedAt, &was[0], &was[1], &was[2], &was[3], &was[4], &is[0], &is[1], &is[2], &is[3], &is[4], &c.OldTotalUS, &c.NewTotalUS)
		c.Hour, c.RevisedAt, c.Old, c.New = c.Hour.UTC(), c.RevisedAt.UTC(), countsOf(was), countsOf(is)
		all[int64(id)] = append(all[int64(id)], c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read corrections: %w", err)
	}
	return all, nil
}

const revisedSQL = `SELECT target_id, region, bucket, max(revised_at) FROM corrections
WHERE target_id IN {ids:Array(UInt64)} AND bucket >= {from:DateTime('UTC')} AND bucket < {to:DateTime('UTC')} GROUP BY target_id, region, bucket`

// Revised gives, by target, each hour with slots in [from, to) that changed after it had
// closed, and when it last did; what it said before and says now is left out.
func (s *Store) Revised(ctx context.Context, ids []int64, from, to time.Time) (map[int64][]availability.Correction, error) {
	all := map[int64][]availability.Correction{}
	if len(ids) == 0 || !from.Before(to) {
		return all, nil
	}
	err := s.query(ctx, sweepBound, revisedSQL, []any{
		clickhouse.Named("ids", unsigned(ids)), seconds("from", from.UTC().Truncate(hour)), seconds("to", to.Add(time.Second-1)),
	}, func(rows driver.Rows) error {
		var c availability.Correction
		var id uint64
		err := rows.Scan(&id, &c.Region, &c.Hour, &c.RevisedAt)
		c.Hour, c.RevisedAt = c.Hour.UTC(), c.RevisedAt.UTC()
		all[int64(id)] = append(all[int64(id)], c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read when hours were revised: %w", err)
	}
	return all, nil
}

// countsOf takes counts in the order up, degraded, down, unknown, missed.
func countsOf(n [5]uint32) availability.Counts {
	return availability.Counts{Up: uint64(n[0]), Degraded: uint64(n[1]), Down: uint64(n[2]), Unknown: uint64(n[3]), Missed: uint64(n[4])}
}
