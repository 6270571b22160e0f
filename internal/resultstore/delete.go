package resultstore

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// DeleteTargets removes every row of the targets and returns when no read sees them
// any more. Rows inserted meanwhile or later are not covered: repeat it until
// TargetsWithRows finds none and none can come.
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

const targetsWithRowsSQL = `SELECT DISTINCT target_id FROM results WHERE target_id IN {ids:Array(UInt64)}
UNION DISTINCT SELECT DISTINCT target_id FROM results_latest WHERE target_id IN {ids:Array(UInt64)}`

// TargetsWithRows gives those of the targets of which any row is there, in no order.
func (s *Store) TargetsWithRows(ctx context.Context, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []int64
	err := s.query(ctx, pageBound, targetsWithRowsSQL, []any{clickhouse.Named("ids", unsigned(ids))}, func(rows driver.Rows) error {
		var id uint64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		found = append(found, int64(id))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find targets with rows: %w", err)
	}
	return found, nil
}
