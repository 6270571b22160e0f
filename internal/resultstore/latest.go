package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Newest gives the newest row, measured or not, of each target and region, ordered by them; nil ids
// mean all targets. The rows carry what a verdict needs: no phases, no address, no attempt.
func (s *Store) Newest(ctx context.Context, ids []int64) ([]uptime.Result, error) {
	sql, args, about := s.currentQuestion(ids, latestColumns)
	newest, err := s.ticks(ctx, pageBound, about, sql+` ORDER BY target_id, region`+oneThread, args)
	if err != nil {
		return nil, fmt.Errorf("read current results: %w", err)
	}
	if ids == nil {
		s.wereCurrent(len(newest))
	}
	return newest, nil
}

// currentQuestion asks results_latest, and says about how many rows will answer.
func (s *Store) currentQuestion(ids []int64, columns string) (sql string, args []any, about int) {
	sql = `SELECT ` + columns + ` FROM results_latest FINAL`
	if ids == nil {
		about = int(s.present.Load())
	} else {
		sql += ` WHERE target_id IN {ids:Array(UInt64)}`
		args = []any{clickhouse.Named("ids", unsigned(ids))}
	}
	return sql, args, about
}

// wereCurrent notes how many rows all targets have.
func (s *Store) wereCurrent(n int) { s.present.Store(int64(n + n/16)) }

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
		found, err := s.ticks(ctx, sweepBound, len(missing), lastMeasuredSQL, []any{clickhouse.Named("ids", targetsOf(missing)), millis("from", from), millis("to", to)})
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

// ticks reads about so many rows of tickColumns.
func (s *Store) ticks(ctx context.Context, bound time.Duration, about int, sql string, args []any) ([]uptime.Result, error) {
	found := make([]uptime.Result, 0, about)
	var r uptime.Result
	scan := tickScanner(&r)
	err := s.query(ctx, bound, sql, args, func(rows driver.Rows) error {
		err := scan(rows)
		found = append(found, r)
		return err
	})
	return found, err
}
