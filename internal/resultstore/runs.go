package resultstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// RolledUp tells the store when the last run of the rollups began that has finished; to be said again
// and again. Until it is told, rollups are asked only for what results are not kept of.
func (s *Store) RolledUp(at time.Time) {
	s.rolledUp.Store(at.UnixMilli())
	s.told.Store(s.now().UnixMilli())
}

// rolled is the instant up to which rollups are good: what arrives later than rollupAge
// after its slot is in them with the next run. A clock that was put back since the last
// run must not make them good for hours that are still to come.
func (s *Store) rolled() time.Time {
	return earlier(time.UnixMilli(s.rolledUp.Load()), s.now()).Add(-rollupAge)
}

// runsToldFor is how long the last run that was told counts as the last: then others may have closed hours, and
// corrected them.
const runsToldFor = 3 * time.Minute

// lastRun is the last run of the rollups that has finished, while that is known.
func (s *Store) lastRun() (at time.Time, known bool) {
	now := s.now()
	at = time.UnixMilli(s.rolledUp.Load())
	return at, !at.After(now) && now.Sub(time.UnixMilli(s.told.Load())) <= runsToldFor
}

// corrected are the targets of which an hour was corrected, as a run of the rollups left it.
type corrected struct {
	run     time.Time
	targets map[int64]bool
}

const correctedTargets = `SELECT DISTINCT target_id FROM corrections WHERE region != '' AND bucket >= {from:DateTime('UTC')}`

// mayBeCorrected says whether an hour of a target may have been corrected of which there are results. Next to none
// are, and to ask that of each target takes a fifth of the time its results take; so who was is asked once a run.
func (s *Store) mayBeCorrected(ctx context.Context, id int64) (bool, error) {
	run, known := s.lastRun()
	if !known {
		return true, nil
	}
	last := s.corrected.Load()
	if last == nil || !last.run.Equal(run) {
		last = &corrected{run, map[int64]bool{}}
		err := s.query(ctx, pageBound, correctedTargets, []any{seconds("from", s.keeps().raw.Add(-keptSlack).UTC().Truncate(hour))}, func(rows driver.Rows) error {
			var id uint64
			err := rows.Scan(&id)
			last.targets[int64(id)] = true
			return err
		})
		if err != nil {
			return false, fmt.Errorf("read whose hours were corrected: %w", err)
		}
		s.corrected.Store(last)
	}
	return last.targets[id], nil
}
