package schedulestore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
)

// idsPerStatement is far below every engine's limit of parameters.
const idsPerStatement = 500

// Intervals gives the intervals of each target over time, as adopted. A target that no
// publisher has adopted yet is absent.
func (s *Store) Intervals(ctx context.Context, ids []int64) (map[int64]availability.Intervals, error) {
	found := make(map[int64][]availability.Interval, len(ids))
	for chunk := range slices.Chunk(ids, idsPerStatement) {
		rows, err := gorm.G[versionRow](s.db.Read()).Select("target_id, interval_s, effective_from_ms").
			Where("target_id IN ? AND effective_from_ms IS NOT NULL AND NOT deleted", chunk).Order("seq").Find(ctx)
		if err != nil {
			return nil, fmt.Errorf("read intervals: %w", database.Translate(ctx, err))
		}
		for _, row := range rows {
			found[row.TargetID] = append(found[row.TargetID], availability.Interval{From: time.UnixMilli(*row.EffectiveFromMS).UTC(), Every: time.Duration(row.IntervalS) * time.Second})
		}
	}
	intervals := make(map[int64]availability.Intervals, len(found))
	for id, all := range found {
		intervals[id] = availability.NewIntervals(all...)
	}
	return intervals, nil
}
