package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

const outcomesSQL = `SELECT target_id, region, toString(reason) AS why, countIf(status = 'up'), countIf(status = 'degraded'), countIf(status = 'down'), countIf(status = 'unknown'), countIf(status = 'missed')
FROM results FINAL
WHERE scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY target_id, region, reason`

// Outcomes hands fn, in no order, how many slots in [from, to) of each target and
// region ended in each status (counts are indexed by uptime.Status), once for each reason
// there was and once for those that need none.
func (s *Store) Outcomes(ctx context.Context, from, to time.Time, fn func(targetID int64, region string, reason uptime.Reason, counts [6]uint64) error) error {
	err := s.query(ctx, sweepBound, outcomesSQL, []any{millis("from", ceilMilli(from)), millis("to", ceilMilli(to))}, func(rows driver.Rows) error {
		var (
			id     uint64
			region string
			reason string
			c      [6]uint64
		)
		err := rows.Scan(&id, &region, &reason, &c[uptime.StatusUp], &c[uptime.StatusDegraded], &c[uptime.StatusDown], &c[uptime.StatusUnknown], &c[uptime.StatusMissed])
		if err != nil {
			return err
		}
		return fn(int64(id), region, uptime.Reason(reason), c)
	})
	if err != nil {
		return fmt.Errorf("read outcomes: %w", err)
	}
	return nil
}

const slotsSQL = `SELECT target_id, region, scheduled_at FROM results FINAL
WHERE scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`

// SlotsSeen streams every slot in [from, to) that has a row, each once, in no order.
func (s *Store) SlotsSeen(ctx context.Context, from, to time.Time, fn func(uptime.Slot) error) error {
	err := s.query(ctx, sweepBound, slotsSQL, []any{millis("from", ceilMilli(from)), millis("to", ceilMilli(to))}, func(rows driver.Rows) error {
		var (
			id   uint64
			slot uptime.Slot
		)
		if err := rows.Scan(&id, &slot.Region, &slot.ScheduledAt); err != nil {
			return err
		}
		slot.TargetID, slot.ScheduledAt = int64(id), slot.ScheduledAt.UTC()
		return fn(slot)
	})
	if err != nil {
		return fmt.Errorf("read slots: %w", err)
	}
	return nil
}
