package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The n newest rows of each region hold the n newest slots of the target.
const latestSQL = `SELECT ` + barColumns + ` FROM results FINAL
WHERE target_id IN {ids:Array(UInt64)} AND scheduled_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
ORDER BY target_id, scheduled_at DESC, region LIMIT {n:UInt32} BY target_id, region`

// LatestN gives the n newest slots since an instant of each target, with the rows of
// all their regions, newest first. The rows carry what ticks need: no phases, no
// address, no attempt. A target without results is absent. The cost grows with the
// time since: ask for n intervals, not for ever.
func (s *Store) LatestN(ctx context.Context, ids []int64, n int, since time.Time) (map[int64][]uptime.Result, error) {
	latest := make(map[int64][]uptime.Result, len(ids))
	if len(ids) == 0 || n < 1 {
		return latest, nil
	}
	since, _ = s.keptRange(since, time.Time{})
	slots := make(map[int64]int, len(ids))
	most := min(n, 128) // rows of a target, as far as is known
	var r uptime.Result
	var w wire
	err := s.query(ctx, pageBound, latestSQL, []any{
		clickhouse.Named("ids", unsigned(ids)), clickhouse.Named("n", uint32(n)), millis("since", since),
	}, func(rows driver.Rows) error {
		err := scanBar(rows, &r, &w)
		got, found := latest[r.TargetID]
		if !found {
			got = make([]uptime.Result, 0, most)
		}
		if len(got) == 0 || !got[len(got)-1].ScheduledAt.Equal(r.ScheduledAt) {
			slots[r.TargetID]++
		}
		if slots[r.TargetID] <= n {
			latest[r.TargetID] = append(got, r)
			most = max(most, len(got)+1)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read latest results: %w", err)
	}
	return latest, nil
}

// Current gives the newest row, measured or not, of each target and region; nil ids
// mean all targets. The rows carry what ticks need, as LatestN's.
func (s *Store) Current(ctx context.Context, ids []int64) ([]uptime.Result, error) {
	return s.newest(ctx, ids, barColumns, scanBar)
}

// Newest is Current with what a verdict needs: the rows have no phases, no address, no attempt.
// They take half as long again as Current's.
func (s *Store) Newest(ctx context.Context, ids []int64) ([]uptime.Result, error) {
	return s.newest(ctx, ids, latestColumns, scanTick)
}

func (s *Store) newest(ctx context.Context, ids []int64, columns string, scan scanner) ([]uptime.Result, error) {
	sql, args, about := `SELECT `+columns+` FROM results_latest FINAL`, []any(nil), int(s.present.Load())
	if ids != nil {
		about = 0
		sql, args = sql+` WHERE target_id IN {ids:Array(UInt64)}`, []any{clickhouse.Named("ids", unsigned(ids))}
	}
	current, err := s.ticks(ctx, pageBound, about, sql+` ORDER BY target_id, region`+oneThread, args, scan)
	if err != nil {
		return nil, fmt.Errorf("read current results: %w", err)
	}
	if ids == nil {
		s.present.Store(int64(len(current) + len(current)/16))
	}
	return current, nil
}

const lastMeasuredSQL = `SELECT ` + tickColumns + ` FROM results FINAL
WHERE target_id IN {ids:Array(UInt64)} AND status <= 'down'
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
ORDER BY scheduled_at DESC LIMIT 1 BY target_id, region`

type series struct {
	target int64
	region string
}

// LastMeasured gives the newest measurement since an instant of each target and
// region, leaving out rows that only carry a reason. The rows carry what Newest's carry.
func (s *Store) LastMeasured(ctx context.Context, since time.Time) ([]uptime.Result, error) {
	current, err := s.Newest(ctx, nil)
	if err != nil {
		return nil, err
	}
	since, newest := s.keptRange(since, time.Time{})
	var measured []uptime.Result
	missing := map[series]bool{} // their newest row is a reason: look further back
	for _, r := range current {
		switch {
		case r.ScheduledAt.Before(since):
		case r.Status.Measured():
			measured = append(measured, r)
		default:
			missing[series{r.TargetID, r.Region}] = true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sweepBound)
	defer cancel()
	for to, window := newest, firstWindow; since.Before(to) && len(missing) > 0; window *= windowGrowth {
		from := to.Add(-window)
		if from.Before(since) {
			from = since
		}
		found, err := s.ticks(ctx, sweepBound, len(missing), lastMeasuredSQL, []any{clickhouse.Named("ids", targetsOf(missing)), millis("from", from), millis("to", to)}, scanTick)
		if err != nil {
			return nil, fmt.Errorf("read last measured results: %w", err)
		}
		for _, r := range found {
			if key := (series{r.TargetID, r.Region}); missing[key] {
				delete(missing, key)
				measured = append(measured, r)
			}
		}
		to = from
	}
	return measured, nil
}

func targetsOf(missing map[series]bool) []uint64 {
	seen := make(map[int64]bool, len(missing))
	var ids []uint64
	for key := range missing {
		if !seen[key.target] {
			seen[key.target] = true
			ids = append(ids, uint64(key.target))
		}
	}
	return ids
}

// scanner reads a row into r, by way of w: see scanBar.
type scanner func(rows driver.Rows, r *uptime.Result, w *wire) error

// ticks reads about so many rows.
func (s *Store) ticks(ctx context.Context, bound time.Duration, about int, sql string, args []any, scan scanner) ([]uptime.Result, error) {
	found := make([]uptime.Result, 0, about)
	var r uptime.Result
	var w wire
	err := s.query(ctx, bound, sql, args, func(rows driver.Rows) error {
		err := scan(rows, &r, &w)
		found = append(found, r)
		return err
	})
	return found, err
}
