package resultstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	turnsWithin = day // of its beginning in which the regions of an outage are looked for
	maxTurns    = 20  // regions
)

// GoodWithin is how long before a failure the last good result is looked for.
const GoodWithin = 7 * day

// Turn is where a region went from good to bad.
type Turn struct {
	Good *uptime.Result // the last before Bad, with its print or its evidence as far as they are there; nil: there is none
	Bad  uptime.Result  // the first, with its evidence
}

// believed are measurements that verdicts are made of: in time, and not by a region that was blind.
const believed = ` AND status <= 'down' AND bitShiftRight(revision, 62) = 2
 AND NOT arrayExists((r, f, t) -> toString(region) = r AND toUnixTimestamp64Milli(scheduled_at) >= f AND toUnixTimestamp64Milli(scheduled_at) < t,
  {blind:Array(String)}, {blind_from:Array(Int64)}, {blind_to:Array(Int64)})`

const degradedBeforeSQL = `SELECT region FROM results FINAL
WHERE target_id = {id:UInt64} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')` + believed + `
GROUP BY region HAVING argMax(status, scheduled_at) = 'degraded'`

const failedSQL = `SELECT region, min(scheduled_at) AS first, argMin(status, scheduled_at) FROM results FINAL
WHERE target_id = {id:UInt64} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND (status = 'down' OR status = 'degraded' AND region NOT IN {degraded:Array(String)})` + believed + `
GROUP BY region ORDER BY first, region LIMIT {limit:UInt32}`

// Turns looks for the regions that saw a target fail in [from, to), or in the day after from,
// those that failed first in front. Bad is down after up or degraded, or degraded after up:
// of a region that was degraded already right before from only down counts, unless
// there is nothing else: an incident may begin later, with the end of a maintenance. What a region
// saw while it was blind is neither, nor what it saw late.
func (s *Store) Turns(ctx context.Context, targetID int64, from, to time.Time, blind map[string]availability.Spans) ([]Turn, error) {
	to = earlier(to, from.Add(turnsWithin))
	unseen := CellQuery{Blind: blind, From: from.Add(-GoodWithin), To: to}.blinded().args()
	degraded := []string{}
	err := s.query(ctx, pageBound, degradedBeforeSQL, append(unseen, clickhouse.Named("id", uint64(targetID)), millis("from", from.Add(-GoodWithin)), millis("to", from)), func(rows driver.Rows) error {
		var region string
		err := rows.Scan(&region)
		degraded = append(degraded, region)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read turns: %w", err)
	}
	var failed []uptime.Slot
	var how []uptime.Status
	for again := true; again && err == nil; {
		err = s.query(ctx, pageBound, failedSQL, append(unseen,
			clickhouse.Named("id", uint64(targetID)), millis("from", from), millis("to", to), clickhouse.Named("degraded", degraded), clickhouse.Named("limit", uint32(maxTurns)),
		), func(rows driver.Rows) error {
			slot := uptime.Slot{TargetID: targetID}
			var status int8
			err := rows.Scan(&slot.Region, &slot.ScheduledAt, &status)
			failed, how = append(failed, slot), append(how, uptime.Status(status))
			return err
		})
		again, degraded = len(failed) == 0 && len(degraded) > 0, []string{}
	}
	var turns []Turn
	for i := 0; err == nil && i < len(failed); i++ {
		var turn Turn
		var found bool
		if turn, found, err = s.turn(ctx, failed[i], how[i], unseen); found {
			turns = append(turns, turn)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read turns: %w", err)
	}
	slices.SortFunc(turns, func(a, b Turn) int {
		return cmp.Or(a.Bad.ScheduledAt.Compare(b.Bad.ScheduledAt), cmp.Compare(a.Bad.Region, b.Bad.Region))
	})
	return turns, nil
}

const lastGoodSQL = `SELECT max(scheduled_at) FROM results FINAL
WHERE target_id = {id:UInt64} AND region = {region:String}
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({at:Int64}, 'UTC')
 AND status IN {good:Array(String)}` + believed + ` HAVING count() > 0`

const firstBadSQL = `SELECT min(scheduled_at) FROM results FINAL
WHERE target_id = {id:UInt64} AND region = {region:String}
 AND scheduled_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at <= fromUnixTimestamp64Milli({at:Int64}, 'UTC')
 AND status IN ('degraded', 'down') AND status NOT IN {good:Array(String)}` + believed + ` HAVING count() > 0`

// turn looks back from a slot that failed: others may have failed right before it.
func (s *Store) turn(ctx context.Context, failed uptime.Slot, how uptime.Status, unseen []any) (t Turn, found bool, err error) {
	good := []string{"up"}
	if how == uptime.StatusDown {
		good = []string{"up", "degraded"}
	}
	seek := func(sql string, from time.Time) (at time.Time, found bool, err error) {
		err = s.query(ctx, pageBound, sql, append(unseen,
			clickhouse.Named("id", uint64(failed.TargetID)), clickhouse.Named("region", failed.Region), clickhouse.Named("good", good),
			millis("from", from), millis("at", failed.ScheduledAt),
		), func(rows driver.Rows) error { found = true; return rows.Scan(&at) })
		return at, found, err
	}
	last, before, err := seek(lastGoodSQL, failed.ScheduledAt.Add(-GoodWithin))
	if err != nil {
		return t, false, err
	}
	if before {
		if t.Good, err = s.good(ctx, uptime.Slot{TargetID: failed.TargetID, Region: failed.Region, ScheduledAt: last}); err != nil {
			return t, false, err
		}
		first, found, err := seek(firstBadSQL, last)
		if err != nil || !found { // another row of the slot has come meanwhile
			return t, false, err
		}
		failed.ScheduledAt = first
	}
	t.Bad, found, err = s.Result(ctx, failed)
	return t, found, err
}

// good is a result with what it saw; nil: it is not there any more.
func (s *Store) good(ctx context.Context, slot uptime.Slot) (*uptime.Result, error) {
	r, found, err := s.Result(ctx, slot)
	if err != nil || !found {
		return nil, err
	}
	if r.Evidence == nil {
		r.Print, err = s.print(ctx, &r)
	}
	return &r, err
}
