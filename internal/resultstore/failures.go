package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// WindowQuery asks about the results of one target in [From, To), as far as they are kept.
type WindowQuery struct {
	TargetID int64
	From, To time.Time
	Region   string // "" means all
}

// FailureGroup is what slots had in common that were not up: what was wrong at the target,
// or why there is no measurement.
type FailureGroup struct {
	Status      uptime.Status
	Failure     uptime.Failure
	Reason      uptime.Reason
	Count       uint64
	First, Last time.Time     // slots
	Example     uptime.Result // the newest, with what ticks carry; Result has its evidence
}

// Failures are the groups of a window, those with the most slots first.
type Failures struct {
	From, To time.Time // what was looked at
	Groups   []FailureGroup
}

// maxGroups bounds the groups of an answer. The sets they are made of are closed and smaller.
const maxGroups = 200

const failuresSQL = `SELECT status, failure, reason, count() AS n, min(scheduled_at), max(scheduled_at) AS newest,
 tupleElement(argMax((region, checked_at, http_status, total_us, message, cert_not_after, prober, revision), (scheduled_at, region)) AS example, 1), example.2, example.3, example.4, example.5, example.6, example.7, example.8
FROM results FINAL
WHERE target_id = {id:UInt64} AND ({region:String} = '' OR region = {region:String}) AND status != 'up'
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY status, failure, reason ORDER BY n DESC, newest DESC, status, failure, reason LIMIT {limit:UInt32}`

// Failures gives what went wrong in a window, each distinct way once. A *BoundError says
// that nothing is kept of it.
func (s *Store) Failures(ctx context.Context, q WindowQuery) (Failures, error) {
	from, to, err := s.keptWindow(q.From, q.To)
	if err != nil {
		return Failures{}, fmt.Errorf("read failures: %w", err)
	}
	all := Failures{From: from, To: to}
	err = s.query(ctx, pageBound, failuresSQL, append(q.args(from, to), clickhouse.Named("limit", uint32(maxGroups))), func(rows driver.Rows) error {
		var (
			g FailureGroup
			w wire
		)
		r := &g.Example
		if err := rows.Scan(&w.status, (*string)(&r.Failure), (*string)(&r.Reason), &g.Count, &g.First, &w.scheduled,
			&r.Region, &w.checked, &w.httpStatus, &r.TotalUS, &r.Message, &w.cert, &r.Prober, &w.revision); err != nil {
			return err
		}
		w.target = uint64(q.TargetID)
		w.into(r)
		g.Status, g.Failure, g.Reason, g.First, g.Last = r.Status, r.Failure, r.Reason, g.First.UTC(), r.ScheduledAt
		all.Groups = append(all.Groups, g)
		return nil
	})
	if err != nil {
		return Failures{}, fmt.Errorf("read failures: %w", err)
	}
	return all, nil
}

func (q WindowQuery) args(from, to time.Time) []any {
	return []any{clickhouse.Named("id", uint64(q.TargetID)), clickhouse.Named("region", q.Region), millis("from", from), millis("to", to)}
}
