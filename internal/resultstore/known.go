package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/asknown"
)

// Of each slot the row of the highest revision among those that were told by an instant, as far
// as they are there: one whose place another has taken is dropped some time later, so nothing
// is asked FINAL here. A revision ends in when it was told, in µs.
const knownSQL = `SELECT target_id, region, scheduled_at, tupleElement(was, 1), tupleElement(was, 2), tupleElement(was, 3), tupleElement(was, 4), tupleElement(was, 5), tupleElement(was, 6),
 tupleElement(was, 7), tupleElement(was, 8), tupleElement(was, 9), tupleElement(was, 10), n > 0, next
FROM (SELECT target_id, region, scheduled_at, countIf(told <= {at:UInt64}) AS n, minIf(told, told > {at:UInt64}) AS next,
  argMaxIf(tuple(checked_at, status, failure, reason, http_status, total_us, message, cert_not_after, prober, revision), revision, told <= {at:UInt64}) AS was
 FROM (SELECT *, bitAnd(revision, 4611686018427387903) AS told FROM results
  WHERE target_id IN {ids:Array(UInt64)} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC'))
 GROUP BY target_id, region, scheduled_at)
ORDER BY target_id, scheduled_at DESC, region LIMIT {n:UInt32} BY target_id, region`

// Known gives the n newest slots of each target and region in [since, at] as their rows were at
// an instant, the newest first. The rows carry what Newest's carry. What a sweep wrote is dated
// before its slot: package asknown judges that.
func (s *Store) Known(ctx context.Context, ids []int64, n int, since, at time.Time) (map[int64][]asknown.Row, error) {
	all := make(map[int64][]asknown.Row, len(ids))
	from, to := s.keptRange(since, at.Add(time.Millisecond))
	if len(ids) == 0 || n < 1 || !from.Before(to) {
		return all, nil
	}
	err := s.query(ctx, pageBound, knownSQL, []any{
		clickhouse.Named("ids", unsigned(ids)), clickhouse.Named("n", uint32(n)), clickhouse.Named("at", uint64(at.UnixMicro())), millis("from", from), millis("to", to),
	}, func(rows driver.Rows) error {
		var r asknown.Row
		var w wire
		var there uint8
		var next uint64
		err := rows.Scan(&w.target, &r.Region, &w.scheduled, &w.checked, &w.status, (*string)(&r.Failure), (*string)(&r.Reason), &w.httpStatus,
			&r.TotalUS, &r.Message, &w.cert, &r.Prober, &w.revision, &there, &next)
		if r.Known = there > 0; r.Known {
			w.into(&r.Result)
		} else {
			r.TargetID, r.ScheduledAt = int64(w.target), w.scheduled.UTC()
		}
		if next > 0 {
			r.LaterAt = time.UnixMicro(int64(next)).UTC()
		}
		all[r.TargetID] = append(all[r.TargetID], r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what was known: %w", err)
	}
	return all, nil
}

const lastKnownSQL = `SELECT ` + tickColumns + ` FROM results
WHERE target_id = {id:UInt64} AND status <= 'down' AND bitShiftRight(revision, 62) = 2 AND bitAnd(revision, 4611686018427387903) <= {at:UInt64}
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
ORDER BY scheduled_at DESC, revision DESC LIMIT 1 BY region`

// LastKnown gives the newest measurement in [since, before) that had been told by an instant, of each
// of a target's regions that has one: looked for further and further back until these regions have.
func (s *Store) LastKnown(ctx context.Context, id int64, regions []string, since, before, at time.Time) (all []asknown.Row, err error) {
	wanted := map[string]bool{}
	for _, region := range regions {
		wanted[region] = true
	}
	since, to := s.keptRange(since, before)
	found := map[string]bool{}
	for window := firstWindow; since.Before(to) && len(wanted) > 0; window *= windowGrowth {
		from := later(since, to.Add(-window))
		rows, err := s.ticks(ctx, pageBound, len(wanted), lastKnownSQL, []any{
			clickhouse.Named("id", uint64(id)), clickhouse.Named("at", uint64(at.UnixMicro())), millis("from", from), millis("to", to),
		})
		if err != nil {
			return nil, fmt.Errorf("read what was known last: %w", err)
		}
		for _, r := range rows {
			if delete(wanted, r.Region); !found[r.Region] {
				found[r.Region], all = true, append(all, asknown.Row{Result: r, Known: true})
			}
		}
		to = from
	}
	return all, nil
}
