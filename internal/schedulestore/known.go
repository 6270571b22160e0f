package schedulestore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Known is the schedule of a target as it was wanted at an instant.
type Known struct {
	uptime.Schedule
	PausedAt  time.Time // when it was paused; zero: it was active
	ChangedAt time.Time // when the target was changed next, in whatever way; zero: it was not
}

// KnownAt gives the schedules of targets as they were wanted at an instant, adopted or not. Every
// change of a target is a version, also one that plans the same.
func (s *Store) KnownAt(ctx context.Context, ids []int64, at time.Time) (map[int64]Known, error) {
	all := make(map[int64]Known, len(ids))
	for chunk := range slices.Chunk(ids, idsPerStatement) {
		rows, err := gorm.G[versionRow](s.db.Read()).Where("target_id IN ? AND NOT deleted", chunk).Order("seq").Find(ctx)
		if err != nil {
			return nil, fmt.Errorf("read schedules: %w", database.Translate(ctx, err))
		}
		for _, row := range rows {
			k, found := all[row.TargetID]
			made := time.UnixMilli(row.CreatedAtMS).UTC()
			switch {
			case found && made.After(at):
				if k.ChangedAt.IsZero() {
					k.ChangedAt = made
				}
			default:
				if k.Regions, err = DecodeRegions(row.Regions); err != nil {
					return nil, err
				}
				k.TargetID, k.Interval, k.Active = row.TargetID, time.Duration(row.IntervalS)*time.Second, row.Active
				switch {
				case row.Active:
					k.PausedAt = time.Time{}
				case k.PausedAt.IsZero():
					k.PausedAt = made
				}
			}
			all[row.TargetID] = k
		}
	}
	return all, nil
}

// RegionsAt are the regions that had joined by an instant and had not left, adopted or not.
func (s *Store) RegionsAt(ctx context.Context, at time.Time) ([]string, error) {
	rows, err := gorm.G[regionRow](s.db.Read()).Where("created_at_ms <= ?", at.UnixMilli()).Order("seq").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("read regions: %w", database.Translate(ctx, err))
	}
	var active []string
	for _, row := range rows {
		active = slices.DeleteFunc(active, func(name string) bool { return name == row.Region })
		if row.Active {
			active = append(active, row.Region)
		}
	}
	slices.Sort(active)
	return active, nil
}
