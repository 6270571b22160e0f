package resultstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// perDoubling is how many buckets of a histogram lie between a response time and its
// double: each is 19 % wider than the one before.
const perDoubling = 4

// Histogram counts the response times of up and degraded results by buckets that are
// evenly spaced on a logarithmic scale. It is made from results: the quantile states of
// rollups give quantiles, but not their buckets.
type Histogram struct {
	From, To time.Time // what was looked at
	Count    uint64    // of all buckets
	Buckets  []Band    // from that of the fastest to that of the slowest, none left out
}

// Band counts response times in [From, To), in µs.
type Band struct {
	From, To uint64
	Count    uint64
}

const histogramSQL = `SELECT if(total_us = 0, -1, toInt32(floor(log2(total_us) * {per:UInt8}))) AS bucket, count() FROM results FINAL
WHERE target_id = {id:UInt64} AND ({region:String} = '' OR region = {region:String}) AND status <= 'degraded'
 AND scheduled_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scheduled_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
GROUP BY bucket ORDER BY bucket`

// Histogram counts the response times of a window. A *BoundError says that nothing is kept of it.
func (s *Store) Histogram(ctx context.Context, q WindowQuery) (Histogram, error) {
	from, to, err := s.keptWindow(q.From, q.To)
	if err != nil {
		return Histogram{}, fmt.Errorf("read histogram: %w", err)
	}
	h := Histogram{From: from, To: to}
	last := math.MinInt32
	err = s.query(ctx, pageBound, histogramSQL, append(q.args(from, to), clickhouse.Named("per", uint8(perDoubling))), func(rows driver.Rows) error {
		var (
			number int32
			n      uint64
		)
		if err := rows.Scan(&number, &n); err != nil {
			return err
		}
		if last == math.MinInt32 {
			last = int(number) - 1
		}
		for last++; last <= int(number); last++ {
			if b := bandOf(last); b.From < b.To { // the first ones are narrower than a microsecond
				h.Buckets = append(h.Buckets, b)
			}
		}
		last = int(number)
		h.Count += n
		h.Buckets[len(h.Buckets)-1].Count = n
		return nil
	})
	if err != nil {
		return Histogram{}, fmt.Errorf("read histogram: %w", err)
	}
	return h, nil
}

// bucketOf gives the edges of a bucket: the whole microseconds from 2^(n/4) up to
// 2^((n+1)/4). Band -1 holds what took less than a microsecond.
func bandOf(n int) Band {
	if n < 0 {
		return Band{From: 0, To: 1}
	}
	edge := func(n int) uint64 { return uint64(math.Ceil(math.Exp2(float64(n) / perDoubling))) }
	return Band{From: edge(n), To: edge(n + 1)}
}
