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

// OnLostPrints says who is told of prints that could not be stored. Call it before the store is used.
func (s *Store) OnLostPrints(tell func(prints int, err error)) { s.lostPrints = tell }

// insertPrints stores those that rows bring along, and says how many: few do.
func (s *Store) insertPrints(ctx context.Context, token string, rows []*uptime.Result) (int, error) {
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
		return 0, nil
	}
	return len(target), s.insert(ctx, token, insertPrintsSQL, []any{target, region, prober, scheduled, print})
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
