package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// measuredWindow is how much of the past one query reads: what the server holds at a time
// goes with it.
const measuredWindow = 7 * day

const measuredSQL = `SELECT ` + tickColumns + ` FROM results FINAL
WHERE target_id IN {ids:Array(UInt64)} AND status <= 'down'
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
ORDER BY target_id, region, scheduled_at`

// Measured hands over what was measured of targets in [from, to), as far as it is kept: week
// by week, then by target, region and slot. The rows carry what Newest's carry; the one that
// is handed over is used again. An error of fn ends it.
func (s *Store) Measured(ctx context.Context, ids []int64, from, to time.Time, fn func(*uptime.Result) error) error {
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sweepBound)
	defer cancel()
	from, to = s.keptRange(from, to)
	var r uptime.Result
	scan := tickScanner(&r)
	for ; from.Before(to); from = from.Add(measuredWindow) {
		err := s.query(ctx, sweepBound, measuredSQL, []any{
			clickhouse.Named("ids", unsigned(ids)), millis("from", from), millis("to", earlier(to, from.Add(measuredWindow))),
		}, func(rows driver.Rows) error {
			if err := scan(rows); err != nil {
				return err
			}
			return fn(&r)
		})
		if err != nil {
			return fmt.Errorf("read measurements: %w", err)
		}
	}
	return nil
}
