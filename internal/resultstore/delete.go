package resultstore

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// DeleteTargets removes every row of the targets and returns when no read sees them
// any more. It can be repeated. Rows inserted later are not covered: delete only what
// no prober holds any more.
func (s *Store) DeleteTargets(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sweepBound)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"lightweight_deletes_sync": 1}))
	for _, table := range []string{"results", "results_latest"} {
		if err := s.conn.Exec(ctx, `DELETE FROM `+table+` WHERE target_id IN {ids:Array(UInt64)}`, clickhouse.Named("ids", unsigned(ids))); err != nil {
			return fmt.Errorf("delete targets from %s: %w", table, err)
		}
	}
	return nil
}
