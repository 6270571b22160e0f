package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Rows that were written again say the same of the certificate, or the same a moment later: FINAL would find out
// no more.
const certificatesSQL = `SELECT target_id, min(ends) FROM (
 SELECT target_id, region, argMax(cert_not_after, scheduled_at) AS ends FROM results
 WHERE target_id IN {ids:Array(UInt64)} AND scheduled_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND cert_not_after > toDateTime(0, 'UTC')
 GROUP BY target_id, region)
GROUP BY target_id`

// Certificates gives when the certificate of each target ends that was seen last since an instant: the
// first to end of those that its regions saw. A target that showed none is absent.
func (s *Store) Certificates(ctx context.Context, ids []int64, since time.Time) (map[int64]time.Time, error) {
	ends := map[int64]time.Time{}
	if len(ids) == 0 {
		return ends, nil
	}
	since, _ = s.keptRange(since, time.Time{})
	err := s.query(ctx, pageBound, certificatesSQL, []any{clickhouse.Named("ids", unsigned(ids)), millis("since", since)}, func(rows driver.Rows) error {
		var (
			id  uint64
			end time.Time
		)
		if err := rows.Scan(&id, &end); err != nil {
			return err
		}
		ends[int64(id)] = end.UTC()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	return ends, nil
}
