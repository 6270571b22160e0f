package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Mark says that rows of a target with slots in an hour arrived.
type Mark struct {
	TargetID int64
	Hour     time.Time
	At       time.Time // the newest ones, by the server's clock
}

// MaxMarks is the largest number of marks of one answer.
const MaxMarks = 50_000

const marksSQL = `SELECT target_id, bucket, max(dirty_at) AS at FROM rollup_dirty
WHERE dirty_at > now64(3) - toIntervalMillisecond({back:Int64})
GROUP BY target_id, bucket ORDER BY at DESC LIMIT {limit:UInt32}`

// Marks gives what arrived within a time up to now, by the server's clock, the newest first,
// at most MaxMarks. A mark is made shortly before it can be seen: look back two minutes more
// than to the last time.
func (s *Store) Marks(ctx context.Context, back time.Duration) ([]Mark, error) {
	var marks []Mark
	err := s.query(ctx, pageBound, marksSQL, []any{clickhouse.Named("back", back.Milliseconds()), clickhouse.Named("limit", uint32(MaxMarks))}, func(rows driver.Rows) error {
		var m Mark
		var id uint64
		err := rows.Scan(&id, &m.Hour, &m.At)
		m.TargetID, m.Hour, m.At = int64(id), m.Hour.UTC(), m.At.UTC()
		marks = append(marks, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	return marks, nil
}
