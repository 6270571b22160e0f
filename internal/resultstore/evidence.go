package resultstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

func storedEvidence(e *uptime.Evidence) string {
	if e == nil {
		return ""
	}
	text, _ := json.Marshal(e) // it has no type that fails
	return string(text)
}

const evidenceSQL = `SELECT ` + fullColumns + `, evidence FROM results FINAL
WHERE target_id = {id:UInt64} AND region = {region:String} AND scheduled_at = fromUnixTimestamp64Milli({at:Int64}, 'UTC')`

// Result gives one slot's row with its evidence, and whether there is such a row.
func (s *Store) Result(ctx context.Context, slot uptime.Slot) (r uptime.Result, found bool, err error) {
	err = s.query(ctx, pageBound, evidenceSQL, []any{
		clickhouse.Named("id", uint64(slot.TargetID)), clickhouse.Named("region", slot.Region), millis("at", slot.ScheduledAt),
	}, func(rows driver.Rows) error {
		var text string
		found = true
		r, err = scanFull(rows, &text)
		if err != nil || text == "" {
			return err
		}
		r.Evidence = &uptime.Evidence{}
		return json.Unmarshal([]byte(text), r.Evidence)
	})
	if err != nil {
		return uptime.Result{}, false, fmt.Errorf("read result: %w", err)
	}
	return r, found, nil
}
