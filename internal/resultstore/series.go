package resultstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// MaxPoints is the largest number of points of a series.
const MaxPoints = 11_000

// SeriesQuery asks for one target's results in [From, To), folded into steps.
type SeriesQuery struct {
	TargetID int64
	From, To time.Time
	Step     time.Duration // whole seconds
	Region   string        // "" means all
}

// Series is columnar: index i of every column is the step [At[i], At[i]+Step). Steps
// are aligned to the Unix epoch and none is left out, so gaps are visible. Latencies
// and phases are of up and degraded results, in µs, and NaN where there are none.
type Series struct {
	At                                         []time.Time
	Count, Up, Degraded, Down, Unknown, Missed []uint64
	P50, P95, P99                              []float64
	DNS, Connect, TLS, Wait, Transfer          []float64 // means
}

const seriesSQL = `SELECT intDiv(toUnixTimestamp64Milli(scheduled_at), {step:Int64}) AS bucket,
 count(), countIf(status = 'up'), countIf(status = 'degraded'), countIf(status = 'down'), countIf(status = 'unknown'), countIf(status = 'missed'),
 quantilesExactIf(0.5, 0.95, 0.99)(toFloat64(total_us), status <= 'degraded'),
 avgIf(dns_us, status <= 'degraded'), avgIf(connect_us, status <= 'degraded'), avgIf(tls_us, status <= 'degraded'),
 avgIf(wait_us, status <= 'degraded'), avgIf(transfer_us, status <= 'degraded')
FROM results FINAL
WHERE target_id = {id:UInt64} AND ({region:String} = '' OR region = {region:String})
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY bucket`

// Series folds the results of a target into steps.
func (s *Store) Series(ctx context.Context, q SeriesQuery) (Series, error) {
	if q.Step < time.Second || q.Step%time.Second != 0 {
		return Series{}, fmt.Errorf("read series: step %v is not a number of whole seconds", q.Step)
	}
	from, to := ceilMilli(q.From), ceilMilli(q.To)
	if !from.Before(to) {
		return Series{}, nil
	}
	step := q.Step.Milliseconds()
	first, last := floorDiv(from.UnixMilli(), step), floorDiv(to.UnixMilli()-1, step)
	if last-first >= MaxPoints {
		return Series{}, fmt.Errorf("read series: %d steps are more than %d", last-first+1, MaxPoints)
	}
	series := emptySeries(first, int(last-first+1), step)
	err := s.query(ctx, pageBound, seriesSQL, []any{
		clickhouse.Named("id", uint64(q.TargetID)), clickhouse.Named("region", q.Region), clickhouse.Named("step", step), millis("from", from), millis("to", to),
	}, func(rows driver.Rows) error { return series.scan(rows, first) })
	if err != nil {
		return Series{}, fmt.Errorf("read series: %w", err)
	}
	return series, nil
}

func (s *Series) scan(rows driver.Rows, first int64) error {
	var (
		bucket                                     int64
		count, up, degraded, down, unknown, missed uint64
		quantiles                                  []float64
		dns, connect, tls, wait, transfer          float64
	)
	if err := rows.Scan(&bucket, &count, &up, &degraded, &down, &unknown, &missed, &quantiles, &dns, &connect, &tls, &wait, &transfer); err != nil {
		return err
	}
	i := bucket - first
	if i < 0 || i >= int64(len(s.At)) || len(quantiles) != 3 {
		return fmt.Errorf("series answer has step %d of %d", i, len(s.At))
	}
	s.Count[i], s.Up[i], s.Degraded[i], s.Down[i], s.Unknown[i], s.Missed[i] = count, up, degraded, down, unknown, missed
	if up+degraded == 0 {
		return nil // ClickHouse answers quantiles of nothing with 0
	}
	s.P50[i], s.P95[i], s.P99[i] = quantiles[0], quantiles[1], quantiles[2]
	s.DNS[i], s.Connect[i], s.TLS[i], s.Wait[i], s.Transfer[i] = dns, connect, tls, wait, transfer
	return nil
}

func emptySeries(first int64, n int, step int64) Series {
	none := func() []float64 {
		column := make([]float64, n)
		for i := range column {
			column[i] = math.NaN()
		}
		return column
	}
	counts := func() []uint64 { return make([]uint64, n) }
	s := Series{
		At: make([]time.Time, n), Count: counts(), Up: counts(), Degraded: counts(), Down: counts(), Unknown: counts(), Missed: counts(),
		P50: none(), P95: none(), P99: none(), DNS: none(), Connect: none(), TLS: none(), Wait: none(), Transfer: none(),
	}
	for i := range s.At {
		s.At[i] = time.UnixMilli((first + int64(i)) * step).UTC()
	}
	return s
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
