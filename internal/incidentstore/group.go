package incidentstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Member is an incident of a group.
type Member struct {
	TargetID  int64
	FirstSlot time.Time
}

// OpenGroup is one that goes on.
type OpenGroup struct {
	Group
	Members []int64 // targets whose incidents in it are open
}

const (
	findGroup   = "SELECT id, incident_id FROM incident_groups WHERE kind = ? AND value = ? AND first_slot_ms = ? AND resolved_at_ms IS NULL"
	joinGroup   = "UPDATE incidents SET group_id = ? WHERE target_id = ? AND first_slot_ms = ? AND group_id IS NULL AND resolved_at_ms IS NULL"
	nameGroup   = "UPDATE incident_groups SET incident_id = ? WHERE id = ?"
	openMembers = `SELECT g.kind, g.value, g.first_slot_ms, i.target_id FROM incident_groups g JOIN incidents i ON i.group_id = g.id
WHERE g.resolved_at_ms IS NULL AND i.resolved_at_ms IS NULL AND i.target_id IS NOT NULL ORDER BY g.id, i.target_id`
	overGroups = `SELECT g.id, g.incident_id, (SELECT MAX(i.resolved_at_ms) FROM incidents i WHERE i.group_id = g.id AND i.target_id IS NOT NULL) FROM incident_groups g
WHERE g.resolved_at_ms IS NULL AND NOT EXISTS (SELECT 1 FROM incidents i WHERE i.group_id = g.id AND i.resolved_at_ms IS NULL AND i.target_id IS NOT NULL)`
	endGroup = "UPDATE incident_groups SET resolved_at_ms = ? WHERE id = ? AND resolved_at_ms IS NULL"
)

// Gather puts open incidents into the group of an opening, in the caller's transaction. A new
// group has an incident of its own, by which people hear of all of them at once; of what comes to
// it later its timeline tells, and whoever would have heard of that and has not heard of the group.
func (s *Store) Gather(ctx context.Context, tx *gorm.DB, o Opening, members []Member) error {
	var group, incident sql.NullInt64
	err := tx.Raw(findGroup, o.Group.Kind, o.Group.Value, o.Group.FirstSlot.UnixMilli()).Row().Scan(&group, &incident)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return database.Failed(ctx, "gather incidents", err)
	}
	for _, m := range members {
		o.Members = append(o.Members, m.TargetID)
	}
	i := Incident{ID: incident.Int64}
	if !incident.Valid {
		if i, _, err = s.Open(ctx, tx, o); err != nil {
			return err
		}
		if err := tx.Exec(nameGroup, i.ID, i.GroupID).Error; err != nil {
			return database.Failed(ctx, "gather incidents", err)
		}
		group.Int64 = i.GroupID
	} else if err := s.joined(ctx, tx, i.ID, o); err != nil {
		return database.Failed(ctx, "gather incidents", err)
	}
	for _, m := range members {
		if err := tx.Exec(joinGroup, group.Int64, m.TargetID, m.FirstSlot.UnixMilli()).Error; err != nil {
			return database.Failed(ctx, "gather incidents", err)
		}
	}
	return nil
}

func (s *Store) joined(ctx context.Context, tx *gorm.DB, id int64, o Opening) error {
	key := fmt.Sprint("joined:", o.At.UnixMilli(), ":", o.Members[0])
	if err := s.Remark(ctx, tx, id, key, Event{At: o.At, Text: o.Cause.Explanation}); err != nil {
		return err
	}
	i, err := Hold(ctx, tx, id)
	if err != nil {
		return err
	}
	if o.Severity == Down && i.Severity != Down {
		if _, err := s.SetSeverity(ctx, tx, id, key, Down, i.Cause, o.At); err != nil {
			return err
		}
		i.Severity = Down
	}
	i.Members, i.MemberTags = o.Members, o.Tags
	return s.announceOpening(ctx, tx, i, o.At)
}

// Tell has an open incident told that was opened without that, in the caller's transaction; who
// has heard of it hears nothing.
func (s *Store) Tell(ctx context.Context, tx *gorm.DB, id int64, at time.Time) error {
	i, err := Hold(ctx, tx, id)
	if err != nil || !i.Open() {
		return err
	}
	return database.Failed(ctx, "tell of incident", s.announceOpening(ctx, tx, i, at))
}

func (s *Store) announceOpening(ctx context.Context, tx *gorm.DB, i Incident, at time.Time) error {
	if s.planner == nil {
		return nil
	}
	return s.announce(ctx, tx, Change{Incident: i, Key: string(Opened), Event: Event{Kind: Opened, At: at, Text: i.Cause.Explanation}})
}

// OpenGroups reads in the caller's transaction the groups that go on.
func OpenGroups(tx *gorm.DB) (all []OpenGroup, err error) {
	err = database.Each(tx, func(rows *sql.Rows) error {
		var g Group
		var slot, target int64
		err := rows.Scan(&g.Kind, &g.Value, &slot, &target)
		if g.FirstSlot = at(slot); len(all) == 0 || all[len(all)-1].Group != g {
			all = append(all, OpenGroup{Group: g})
		}
		last := &all[len(all)-1]
		last.Members = append(last.Members, target)
		return err
	}, openMembers)
	return all, err
}

// EndGroups ends in the caller's transaction the groups of which no incident is open any more,
// and has it told: they are over, or their targets were deleted.
func (s *Store) EndGroups(ctx context.Context, tx *gorm.DB, now time.Time) error {
	type over struct {
		group              int64
		incident, resolved sql.NullInt64
	}
	var all []over
	err := database.Each(tx, func(rows *sql.Rows) error {
		var o over
		err := rows.Scan(&o.group, &o.incident, &o.resolved)
		all = append(all, o)
		return err
	}, overGroups)
	if err != nil {
		return database.Failed(ctx, "end incident groups", err)
	}
	for _, o := range all {
		ended := now
		if o.resolved.Valid {
			ended = at(o.resolved.Int64)
		}
		if err := tx.Exec(endGroup, ended.UnixMilli(), o.group).Error; err != nil {
			return database.Failed(ctx, "end incident groups", err)
		}
		if !o.incident.Valid {
			continue
		}
		if _, err := s.Resolve(ctx, tx, o.incident.Int64, ended, "None of its targets fails any more."); err != nil {
			return err
		}
	}
	return nil
}
