package resultstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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

const failedSQL = `SELECT region, minIf(scheduled_at, status = 'down'), countIf(status = 'down') > 0, minIf(scheduled_at, status = 'degraded'), countIf(status = 'degraded') > 0 FROM results FINAL
WHERE target_id = {id:UInt64} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND status IN ('degraded', 'down')` + believed + `
GROUP BY region`

// failing is a region that failed.
type failing struct {
	region         string
	down, degraded time.Time // the first of each; zero: there was none
	at             time.Time // which of them counts, and after that the first bad one
	how            uptime.Status
	good           time.Time // the last that was; zero: there is none
}

// Turns looks for the regions that saw a target fail in [from, to), or in the day after from,
// those that failed first in front. Bad is down after up or degraded, or degraded after up:
// of a region that was degraded already right before from only down counts, unless
// there is nothing else: an incident may begin later, with the end of a maintenance. What a region
// saw while it was blind is neither, nor what it saw late. Beyond that day no more is read than it takes
// to find what was right before, two hours at first.
func (s *Store) Turns(ctx context.Context, targetID int64, from, to time.Time, blind map[string]availability.Spans) (turns []Turn, err error) {
	to = earlier(to, from.Add(turnsWithin))
	q := turning{s, append(CellQuery{Blind: blind, From: from.Add(-GoodWithin), To: to}.blinded().args(), clickhouse.Named("id", uint64(targetID)))}
	failed, err := q.failed(ctx, from, to)
	if err == nil {
		failed, err = q.begun(ctx, failed, from)
	}
	if err == nil {
		slices.SortFunc(failed, func(a, b failing) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.region, b.region)) })
		failed = failed[:min(len(failed), maxTurns)]
		err = q.seekGood(ctx, failed)
	}
	if err == nil {
		err = q.seekBad(ctx, failed)
	}
	for i := 0; err == nil && i < len(failed); i++ {
		var turn Turn
		slot := uptime.Slot{TargetID: targetID, Region: failed[i].region, ScheduledAt: failed[i].good}
		if !slot.ScheduledAt.IsZero() {
			turn.Good, err = s.good(ctx, slot)
		}
		if err == nil {
			var found bool
			slot.ScheduledAt = failed[i].at
			if turn.Bad, found, err = s.Result(ctx, slot); found {
				turns = append(turns, turn)
			}
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

// turning asks about one target, with what is believed.
type turning struct {
	*Store
	about []any
}

func (q turning) ask(ctx context.Context, sql string, from, to time.Time, args []any, each func(driver.Rows) error) error {
	return q.query(ctx, pageBound, sql, slices.Concat(q.about, []any{millis("from", from), millis("to", to)}, args), each)
}

func (q turning) failed(ctx context.Context, from, to time.Time) (all []failing, err error) {
	err = q.ask(ctx, failedSQL, from, to, nil, func(rows driver.Rows) error {
		var f failing
		var down, degraded uint8
		err := rows.Scan(&f.region, &f.down, &down, &f.degraded, &degraded)
		if down == 0 {
			f.down = time.Time{}
		}
		if degraded == 0 {
			f.degraded = time.Time{}
		}
		all = append(all, f)
		return err
	})
	return all, err
}

const beforeSQL = `SELECT region, argMax(status, scheduled_at) FROM results FINAL
WHERE target_id = {id:UInt64} AND region IN {regions:Array(String)} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')` + believed + `
GROUP BY region`

// begun says from when on each region failed, and leaves out those that had been degraded and are as
// they were, unless there are no others.
func (q turning) begun(ctx context.Context, all []failing, from time.Time) (fresh []failing, err error) {
	wanted, had := map[string]bool{}, map[string]bool{}
	for _, f := range all {
		if !f.degraded.IsZero() && (f.down.IsZero() || f.degraded.Before(f.down)) {
			wanted[f.region] = true
		}
	}
	err = backwards(from, from.Add(-GoodWithin), func(since, to time.Time) (more bool, err error) {
		if len(wanted) == 0 {
			return false, nil
		}
		err = q.ask(ctx, beforeSQL, since, to, []any{clickhouse.Named("regions", slices.Sorted(maps.Keys(wanted)))}, func(rows driver.Rows) error {
			var region string
			var status int8
			err := rows.Scan(&region, &status)
			had[region] = uptime.Status(status) == uptime.StatusDegraded
			delete(wanted, region)
			return err
		})
		return true, err
	})
	for _, anew := range []bool{true, false} {
		for _, f := range all {
			switch {
			case !f.degraded.IsZero() && (!anew || !had[f.region]) && (f.down.IsZero() || f.degraded.Before(f.down)):
				f.at, f.how = f.degraded, uptime.StatusDegraded
			case !f.down.IsZero():
				f.at, f.how = f.down, uptime.StatusDown
			default:
				continue
			}
			fresh = append(fresh, f)
		}
		if len(fresh) > 0 {
			break
		}
	}
	return fresh, err
}

// backwards asks about stretches further and further back, as long as there is more to find.
func backwards(to, since time.Time, ask func(from, to time.Time) (more bool, err error)) error {
	for window := firstWindow; since.Before(to); window *= windowGrowth {
		from := later(since, to.Add(-window))
		if more, err := ask(from, to); err != nil || !more {
			return err
		}
		to = from
	}
	return nil
}

// named names regions with an instant, for statements that ask for all of them at once.
func named(all []failing, at func(failing) time.Time) []any {
	var regions, down []string
	var ats []int64
	for _, f := range all {
		regions, ats = append(regions, f.region), append(ats, at(f).UnixMilli())
		if f.how == uptime.StatusDown {
			down = append(down, f.region)
		}
	}
	return []any{clickhouse.Named("regions", regions), clickhouse.Named("ats", ats), clickhouse.Named("down", orNone(down))}
}

func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// Of a region that was down degraded is good, too. Its instant is among those of all.
const (
	isGood = `(status = 'up' OR status = 'degraded' AND region IN {down:Array(String)})`
	itsOwn = `{ats:Array(Int64)}[indexOf({regions:Array(String)}, toString(region))]`
)

const lastGoodSQL = `SELECT region, max(scheduled_at) FROM results FINAL
WHERE target_id = {id:UInt64} AND region IN {regions:Array(String)} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND ` + isGood + ` AND toUnixTimestamp64Milli(scheduled_at) < ` + itsOwn + believed + ` GROUP BY region`

// seekGood looks for the last good result of each region before it failed.
func (q turning) seekGood(ctx context.Context, failed []failing) error {
	if len(failed) == 0 {
		return nil
	}
	newest, oldest := failed[len(failed)-1].at, failed[0].at.Add(-GoodWithin)
	return backwards(newest, oldest, func(from, to time.Time) (bool, error) {
		var left []failing
		for _, f := range failed {
			if f.good.IsZero() {
				left = append(left, f)
			}
		}
		if len(left) == 0 {
			return false, nil
		}
		return true, q.ask(ctx, lastGoodSQL, from, to, named(left, func(f failing) time.Time { return f.at }), func(rows driver.Rows) error {
			var region string
			var at time.Time
			err := rows.Scan(&region, &at)
			i := slices.IndexFunc(failed, func(f failing) bool { return f.region == region })
			if i >= 0 && !at.Before(failed[i].at.Add(-GoodWithin)) {
				failed[i].good = at
			}
			return err
		})
	})
}

const firstBadSQL = `SELECT region, min(scheduled_at) FROM results FINAL
WHERE target_id = {id:UInt64} AND region IN {regions:Array(String)} AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND status IN ('degraded', 'down') AND NOT ` + isGood + ` AND toUnixTimestamp64Milli(scheduled_at) > ` + itsOwn + believed + ` GROUP BY region`

// seekBad looks for the first bad result of each region after its last good one: others may have
// failed right before the one that was found. Each is asked for by itself: one may have been bad for days.
func (q turning) seekBad(ctx context.Context, failed []failing) error {
	for i := range failed {
		f := &failed[i]
		if f.good.IsZero() {
			continue
		}
		err := q.ask(ctx, firstBadSQL, f.good, f.at, named([]failing{*f}, func(f failing) time.Time { return f.good }), func(rows driver.Rows) error {
			var region string
			return rows.Scan(&region, &f.at)
		})
		if err != nil {
			return err
		}
	}
	return nil
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
