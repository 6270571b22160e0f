package resultstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

const insertPrintsSQL = `INSERT INTO prints (target_id, region, prober, scheduled_at, print)`

// insertPrints stores those that rows bring along: few do.
func (s *Store) insertPrints(ctx context.Context, token string, rows []*uptime.Result) error {
	var (
		target                []uint64
		region, prober, print []string
		scheduled             []time.Time
	)
	for _, r := range rows {
		if r.Print == nil {
			continue
		}
		text, _ := json.Marshal(r.Print) // it has no type that fails
		target, region, prober = append(target, uint64(r.TargetID)), append(region, r.Region), append(prober, r.Prober)
		scheduled, print = append(scheduled, r.ScheduledAt), append(print, string(text))
	}
	if len(target) == 0 {
		return nil
	}
	return s.insert(ctx, token, insertPrintsSQL, []any{target, region, prober, scheduled, print})
}

const printSQL = `SELECT print FROM prints WHERE target_id = {id:UInt64} AND region = {region:String} AND prober = {prober:String}
 AND scheduled_at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC') ORDER BY scheduled_at DESC LIMIT 1`

// print is what a result saw that was up; nil: its prober has stored nothing.
func (s *Store) print(ctx context.Context, r *uptime.Result) (found *uptime.Print, err error) {
	err = s.query(ctx, pageBound, printSQL, []any{
		clickhouse.Named("id", uint64(r.TargetID)), clickhouse.Named("region", r.Region), clickhouse.Named("prober", r.Prober), millis("at", r.ScheduledAt),
	}, func(rows driver.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		found = &uptime.Print{}
		return json.Unmarshal([]byte(text), found)
	})
	return found, err
}
