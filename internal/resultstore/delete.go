package resultstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// targetTables hold rows of targets. What others are made from comes first: a rollup
// computed meanwhile from rows that were still there is found by the next look.
var targetTables = [...]string{"results", "results_latest", "rollup_dirty", "prints", "rollup_1h", "rollup_1d", "corrections"}

// TargetTables names the tables that hold rows of targets. What a visit saw stands in
// results.
func TargetTables() []string { return slices.Clone(targetTables[:]) }

// DeleteTargets removes every row of the targets from the tables that are named, by
// default from all, each independently of the others, and returns when no read sees them
// any more; from the disk EraseDeleted removes them. Rows inserted meanwhile or later are not covered: repeat it until
// TargetsWithRows finds none and none can come.
func (s *Store) DeleteTargets(ctx context.Context, ids []int64, tables ...string) error {
	if len(ids) == 0 {
		return nil
	}
	tables, err := those(tables)
	if err != nil {
		return fmt.Errorf("delete targets: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sweepBound)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"lightweight_deletes_sync": 1}))
	var failed []error
	for _, table := range tables {
		if err := s.conn.Exec(ctx, `DELETE FROM `+s.everywhere(table)+` WHERE target_id IN {ids:Array(UInt64)}`, clickhouse.Named("ids", unsigned(ids))); err != nil {
			failed = append(failed, fmt.Errorf("delete targets from %s: %w", table, err))
		}
	}
	return errors.Join(failed...)
}

const maskedSQL = `SELECT DISTINCT partition_id FROM system.parts
WHERE database = currentDatabase() AND table = {table:String} AND active AND has_lightweight_delete ORDER BY partition_id DESC`

// maskLook is how often it is looked at whether rows are gone.
const maskLook = 250 * time.Millisecond

// EraseDeleted has the rows of a table that were deleted leave its parts, too: DeleteTargets hides
// them, with all that they say, until a merge, and parts of closed days are never merged again.
// Parts are written anew for that, partition by partition, and it returns when none hides anything.
// What ends half way is done so far; repeating it does the rest. On a cluster it is asked for, on
// all nodes, and not awaited.
func (s *Store) EraseDeleted(ctx context.Context, table string) error {
	if _, err := those([]string{table}); err != nil {
		return fmt.Errorf("erase deleted rows: %w", err)
	}
	err := s.erase(ctx, table)
	if err != nil {
		return fmt.Errorf("erase deleted rows of %s: %w", table, err)
	}
	return nil
}

func (s *Store) erase(ctx context.Context, table string) error {
	const apply = `ALTER TABLE %s APPLY DELETED MASK`
	if s.cluster != "" {
		return s.alter(ctx, fmt.Sprintf(apply, s.everywhere(table)))
	}
	masked, err := s.masked(ctx, table)
	if err != nil {
		return err
	}
	for _, partition := range masked {
		// The server would say nothing while it is at it, for longer than a connection waits.
		if err := s.alter(ctx, fmt.Sprintf(apply+` IN PARTITION ID '%s' SETTINGS mutations_sync = 0`, table, partition)); err != nil {
			return err
		}
		if err := s.awaitErased(ctx, table, partition); err != nil {
			return fmt.Errorf("partition %s: %w", partition, err)
		}
	}
	return nil
}

// masked gives the partitions of which parts hide deleted rows, the newest first.
func (s *Store) masked(ctx context.Context, table string) (partitions []string, err error) {
	err = s.query(ctx, pageBound, maskedSQL, []any{clickhouse.Named("table", table)}, func(rows driver.Rows) error {
		var id string
		err := rows.Scan(&id)
		partitions = append(partitions, id)
		return err
	})
	return partitions, err
}

func (s *Store) awaitErased(ctx context.Context, table, partition string) error {
	ticker := time.NewTicker(maskLook)
	defer ticker.Stop()
	for {
		masked, err := s.masked(ctx, table)
		if err != nil {
			return err
		}
		if !slices.Contains(masked, partition) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// TargetsWithRows gives those of the targets of which any row is there, in any of the
// tables that are named, by default in any at all, in no order.
func (s *Store) TargetsWithRows(ctx context.Context, ids []int64, tables ...string) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	tables, err := those(tables)
	if err != nil {
		return nil, fmt.Errorf("find targets with rows: %w", err)
	}
	var parts []string
	for _, table := range tables {
		parts = append(parts, `SELECT DISTINCT target_id FROM `+table+` WHERE target_id IN {ids:Array(UInt64)}`)
	}
	var found []int64
	err = s.query(ctx, pageBound, strings.Join(parts, " UNION DISTINCT "), []any{clickhouse.Named("ids", unsigned(ids))}, func(rows driver.Rows) error {
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

func those(tables []string) ([]string, error) {
	for _, table := range tables {
		if !slices.Contains(targetTables[:], table) {
			return nil, fmt.Errorf("%q holds no rows of targets", table)
		}
	}
	if len(tables) == 0 {
		tables = targetTables[:]
	}
	return tables, nil
}
