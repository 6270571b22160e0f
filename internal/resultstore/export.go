package resultstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// MaxExportPage is the largest Limit of an ExportQuery.
const MaxExportPage = 5000

// ExportQuery asks for a page of what is kept of one target in [From, To), the oldest
// first, then by region.
type ExportQuery struct {
	TargetID int64
	From, To time.Time // zero From: as far as it is kept
	Limit    int       // 1 to MaxExportPage
	After    *Cursor   // go on after this row; of figures ScheduledAt is the bucket; nil begins with the oldest
}

const exportSQL = `SELECT ` + fullColumns + ` FROM results FINAL
WHERE target_id = {id:UInt64}
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND (scheduled_at > fromUnixTimestamp64Milli({at:Int64}, 'UTC') OR region > {after:String})
ORDER BY scheduled_at, region LIMIT {limit:UInt32}`

// ExportResults gives a page of results. A page shorter than Limit is the last one.
func (s *Store) ExportResults(ctx context.Context, q ExportQuery) (page []uptime.Result, err error) {
	q.From, q.To = s.keptRange(q.From, q.To)
	err = s.export(ctx, q, exportSQL, firstWindow, func(rows driver.Rows) error {
		r, err := scanFull(rows)
		page = append(page, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export results: %w", err)
	}
	return page, nil
}

// Bucket is an hour, or a UTC day, of a region of a target; region "" is the target as a whole.
type Bucket struct {
	Region string
	At     time.Time
	availability.Counts
	// Of up and degraded results, in µs; quantiles are NaN where there are none, and so is
	// everything of the target as a whole.
	DNSSum, ConnectSum, TLSSum, WaitSum, TransferSum, TotalSum uint64
	TotalMin, TotalMax                                         uint32
	P50, P95, P99                                              float64
	RevisedAt                                                  time.Time // zero: never
}

const exportFiguresSQL = `SELECT region, bucket, up, degraded, down, unknown, missed, dns_us_sum, connect_us_sum, tls_us_sum, wait_us_sum, transfer_us_sum, total_us_sum, total_us_min, total_us_max,
 finalizeAggregation(latency), revised_at
FROM %s FINAL
WHERE target_id = {id:UInt64}
 AND bucket >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND bucket < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
 AND (bucket > fromUnixTimestamp64Milli({at:Int64}, 'UTC') OR region > {after:String})
ORDER BY bucket, region LIMIT {limit:UInt32}`

// ExportFigures gives a page of hourly or daily figures. A page shorter than Limit is the
// last one. Buckets belong to the range if they begin in it.
func (s *Store) ExportFigures(ctx context.Context, tier Tier, q ExportQuery) (page []Bucket, err error) {
	window := 31 * day
	if tier == TierDaily {
		window = 366 * day
	}
	if newest := s.now().Add(2 * maxAhead); q.To.IsZero() || q.To.After(newest) {
		q.To = newest
	}
	q.From, q.To = ceilMilli(later(q.From, time.UnixMilli(0))), ceilMilli(q.To)
	err = s.export(ctx, q, fmt.Sprintf(exportFiguresSQL, tier.rollups()), window, func(rows driver.Rows) error {
		b, err := scanBucket(rows)
		page = append(page, b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export figures: %w", err)
	}
	return page, nil
}

// export looks for a page in a short window first, then in longer ones: an answer costs what
// it holds, not what the range does.
func (s *Store) export(ctx context.Context, q ExportQuery, sql string, window time.Duration, each func(driver.Rows) error) error {
	if q.Limit < 1 || q.Limit > MaxExportPage {
		return fmt.Errorf("limit %d is not in 1 to %d", q.Limit, MaxExportPage)
	}
	ctx, cancel := context.WithTimeout(ctx, sweepBound)
	defer cancel()
	at, after := q.From.Add(-time.Millisecond), ""
	if q.After != nil {
		at, after = q.After.ScheduledAt, q.After.Region
		q.From = later(q.From, at)
	}
	for ; q.From.Before(q.To) && q.Limit > 0; window *= windowGrowth {
		end := earlier(q.To, q.From.Add(window))
		err := s.query(ctx, pageBound, sql, []any{
			clickhouse.Named("id", uint64(q.TargetID)), millis("from", q.From), millis("to", end),
			millis("at", at), clickhouse.Named("after", after), clickhouse.Named("limit", uint32(q.Limit)),
		}, func(rows driver.Rows) error {
			q.Limit--
			return each(rows)
		})
		if err != nil {
			return err
		}
		q.From = end
	}
	return nil
}

func scanBucket(rows driver.Rows) (b Bucket, err error) {
	var n [5]uint32
	var quantiles []float32
	err = rows.Scan(&b.Region, &b.At, &n[0], &n[1], &n[2], &n[3], &n[4], &b.DNSSum, &b.ConnectSum, &b.TLSSum, &b.WaitSum, &b.TransferSum, &b.TotalSum, &b.TotalMin, &b.TotalMax, &quantiles, &b.RevisedAt)
	b.Counts, b.At, b.RevisedAt = countsOf(n), b.At.UTC(), domainTime(b.RevisedAt)
	b.P50, b.P95, b.P99 = math.NaN(), math.NaN(), math.NaN()
	if len(quantiles) == 3 && b.Region != "" && b.Up+b.Degraded > 0 {
		b.P50, b.P95, b.P99 = float64(quantiles[0]), float64(quantiles[1]), float64(quantiles[2])
	}
	return b, err
}
