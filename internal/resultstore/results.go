package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/uptime"
)

// ResultQuery asks for the results of one target in [From, To).
type ResultQuery struct {
	TargetID int64
	From, To time.Time // zero: as far as results are kept
	Region   string    // "" means all
	Limit    int       // 1 to MaxPage
	Before   *Cursor   // go on after this row; nil starts at the newest
}

// Cursor is the last row of a page. Rows are ordered by time, newest first, then by region.
type Cursor struct {
	ScheduledAt time.Time
	Region      string
}

// MaxPage is the largest Limit: a page of the API and one more, which says that there is more.
const MaxPage = 1001

// A page is looked for in a short window first, then in longer ones further back:
// the newest page of a long history costs as little as that of a short one.
const (
	firstWindow  = 2 * time.Hour
	windowGrowth = 4
)

const resultsSQL = `SELECT ` + fullColumns + ` FROM results FINAL
WHERE target_id = {id:UInt64}
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND ({region:String} = '' OR region = {region:String})
 AND (scheduled_at < fromUnixTimestamp64Milli({at:Int64}, 'UTC') OR region > {after:String})
ORDER BY scheduled_at DESC, region LIMIT {limit:UInt32}`

// Results lists results newest first. A page shorter than Limit is the last one.
func (s *Store) Results(ctx context.Context, q ResultQuery) ([]uptime.Result, error) {
	if q.Limit < 1 || q.Limit > MaxPage {
		return nil, fmt.Errorf("read results: limit %d is not in 1 to %d", q.Limit, MaxPage)
	}
	ctx, cancel := context.WithTimeout(ctx, pageBound)
	defer cancel()
	from, to := s.keptRange(q.From, q.To)
	at, after := to, "" // without a cursor every row is before `at`
	if q.Before != nil {
		at, after = q.Before.ScheduledAt, q.Before.Region
		if next := at.Add(time.Millisecond); next.Before(to) {
			to = next
		}
	}
	var page []uptime.Result
	for window := firstWindow; from.Before(to) && len(page) < q.Limit; window *= windowGrowth {
		start := to.Add(-window)
		if start.Before(from) {
			start = from
		}
		err := s.query(ctx, pageBound, resultsSQL, []any{
			clickhouse.Named("id", uint64(q.TargetID)), millis("from", start), millis("to", to),
			clickhouse.Named("region", q.Region), millis("at", at), clickhouse.Named("after", after),
			clickhouse.Named("limit", uint32(q.Limit-len(page))),
		}, func(rows driver.Rows) error {
			r, err := scanFull(rows)
			page = append(page, r)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read results: %w", err)
		}
		to = start
	}
	return page, nil
}

// keptRange narrows [from, to) to where results can be, to the millisecond.
func (s *Store) keptRange(from, to time.Time) (time.Time, time.Time) {
	now := s.now()
	if oldest := now.Add(-s.RawKept() - day); from.Before(oldest) {
		from = oldest
	}
	if newest := now.Add(2 * maxAhead); to.IsZero() || to.After(newest) {
		to = newest
	}
	return ceilMilli(from), ceilMilli(to)
}

func ceilMilli(t time.Time) time.Time {
	ms := time.UnixMilli(t.UnixMilli())
	if ms.Before(t) {
		ms = ms.Add(time.Millisecond)
	}
	return ms
}
