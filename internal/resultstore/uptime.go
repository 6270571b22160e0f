package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Uptime counts the slots of a target by status, over all its regions.
type Uptime struct{ Up, Degraded, Down, Unknown, Missed uint64 }

const uptimeSQL = `SELECT target_id, countIf(status = 'up'), countIf(status = 'degraded'), countIf(status = 'down'), countIf(status = 'unknown'), countIf(status = 'missed')
FROM results FINAL
WHERE target_id IN {ids:Array(UInt64)}
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY target_id`

// Uptime counts the slots of one target in [from, to).
func (s *Store) Uptime(ctx context.Context, id int64, from, to time.Time) (Uptime, error) {
	many, err := s.UptimeMany(ctx, []int64{id}, from, to)
	return many[id], err
}

// UptimeMany counts the slots of each target in [from, to). A target without results is absent.
func (s *Store) UptimeMany(ctx context.Context, ids []int64, from, to time.Time) (map[int64]Uptime, error) {
	many := make(map[int64]Uptime, len(ids))
	if len(ids) == 0 {
		return many, nil
	}
	from, to = s.keptRange(from, to)
	err := s.query(ctx, pageBound, uptimeSQL, []any{clickhouse.Named("ids", unsigned(ids)), millis("from", from), millis("to", to)}, func(rows driver.Rows) error {
		var id uint64
		var u Uptime
		if err := rows.Scan(&id, &u.Up, &u.Degraded, &u.Down, &u.Unknown, &u.Missed); err != nil {
			return err
		}
		many[int64(id)] = u
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read uptime: %w", err)
	}
	return many, nil
}
