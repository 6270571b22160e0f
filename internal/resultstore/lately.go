package resultstore

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// lately knows the targets that were corrected in hours since an instant, for a while: nearly
// none is, and to ask whether one was costs half of what a day's series does.
type lately struct {
	since, learned time.Time
	rolledUp       int64
	ids            map[uint64]struct{} // nil: too many to know
}

const (
	latelyWindow = exactWindow + hour
	latelyKept   = time.Minute // a rebuild corrects, too, and is told nowhere
	latelyMost   = 100_000
)

const latelySQL = `SELECT DISTINCT target_id FROM corrections WHERE bucket >= {since:DateTime('UTC')} LIMIT {most:UInt32}`

// corrected says whether an hour of a target since an instant may have been corrected. It
// may not know of what came after the last run of the rollups that it was told of (RolledUp),
// nor of the last minute.
func (s *Store) corrected(ctx context.Context, id int64, since time.Time) (bool, error) {
	now, rolledUp := s.now(), s.rolledUp.Load()
	if rolledUp == 0 || since.Before(now.Add(hour-latelyWindow)) {
		return true, nil
	}
	known := s.lately.Load()
	if known == nil || known.rolledUp != rolledUp || now.Before(known.learned) || now.Sub(known.learned) > latelyKept {
		known = &lately{since: now.Add(-latelyWindow).Truncate(hour), learned: now, rolledUp: rolledUp, ids: map[uint64]struct{}{}}
		err := s.query(ctx, pageBound, latelySQL, []any{seconds("since", known.since), clickhouse.Named("most", uint32(latelyMost))}, func(rows driver.Rows) error {
			var id uint64
			err := rows.Scan(&id)
			known.ids[id] = struct{}{}
			return err
		})
		if err != nil {
			return false, err
		}
		if len(known.ids) == latelyMost {
			known.ids = nil
		}
		s.lately.Store(known)
	}
	_, was := known.ids[uint64(id)]
	return was || known.ids == nil || since.Before(known.since), nil
}
