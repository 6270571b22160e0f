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
	VisitedSince time.Time // as in uptime.Target
	PausedAt     time.Time // when it was paused; zero: it was active
	ChangedAt    time.Time // when the target was changed next, in whatever way; zero: it was not
	Earlier      []Earlier // what it had been before, the oldest first
}

// Earlier is the schedule of a target as it was wanted until an instant.
type Earlier struct {
	uptime.Schedule
	VisitedSince time.Time
	Until        time.Time
}

// Regions are those that had joined and not left from an instant on.
type Regions struct {
	From   time.Time // zero: the beginning
	Active []string
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
				if found {
					k.Earlier = append(k.Earlier, Earlier{k.Schedule, k.VisitedSince, made})
				}
				if k.Regions, err = DecodeRegions(row.Regions); err != nil {
					return nil, err
				}
				if row.VisitedOtherwise {
					k.VisitedSince = made
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

// RegionsUntil are the regions that had joined and had not left, adopted or not: from the beginning
// to an instant, whose own are the last.
func (s *Store) RegionsUntil(ctx context.Context, at time.Time) ([]Regions, error) {
	rows, err := gorm.G[regionRow](s.db.Read()).Where("created_at_ms <= ?", at.UnixMilli()).Order("seq").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("read regions: %w", database.Translate(ctx, err))
	}
	all := []Regions{{}}
	for _, row := range rows {
		active := slices.DeleteFunc(slices.Clone(all[len(all)-1].Active), func(name string) bool { return name == row.Region })
		if row.Active {
			active = append(active, row.Region)
		}
		slices.Sort(active)
		all = append(all, Regions{time.UnixMilli(row.CreatedAtMS).UTC(), active})
	}
	return all, nil
}
