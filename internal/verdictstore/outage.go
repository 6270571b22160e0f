package verdictstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/sharedcause"
)

// Outage is one that is open, with what it may share with others.
type Outage struct {
	sharedcause.Outage
	Name     string
	Tags     []string
	Severity incidentstore.Severity
	At       time.Time // when it was found
	Told     bool      // alone
}

// Grouping is outages that are put into a group, and what is said of it.
type Grouping struct {
	sharedcause.Value
	Slot     time.Time
	At       time.Time
	Severity incidentstore.Severity
	Subject  incidentstore.Subject
	Cause    incidentstore.Cause
	Members  []Outage
}

func writeOutage(tx *gorm.DB, o Outage) error {
	facts, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return tx.Exec("INSERT INTO verdict_outages (target_id, first_slot_ms, told, facts) VALUES (?, ?, ?, ?) ON CONFLICT (target_id, first_slot_ms) DO NOTHING",
		o.TargetID, o.Slot.UnixMilli(), o.Told, string(facts)).Error
}

func toldAlone(tx *gorm.DB, target int64, slot time.Time) error {
	return tx.Exec("UPDATE verdict_outages SET told = ? WHERE target_id = ? AND first_slot_ms = ?", true, target, slot.UnixMilli()).Error
}

func dropOutage(tx *gorm.DB, target int64, slot time.Time) error {
	return tx.Exec("DELETE FROM verdict_outages WHERE target_id = ? AND first_slot_ms = ?", target, slot.UnixMilli()).Error
}

// readOutages gives all, and the targets of those whose facts cannot be read: what they have in common with
// others is not known, so they are told alone.
func readOutages(tx *gorm.DB) (all []Outage, unread []int64, err error) {
	rows, err := tx.Raw("SELECT target_id, first_slot_ms, told, facts FROM verdict_outages ORDER BY target_id, first_slot_ms").Rows()
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o Outage
		var target, slot int64
		var told bool
		var facts string
		if err := rows.Scan(&target, &slot, &told, &facts); err != nil {
			return nil, nil, err
		}
		err := json.Unmarshal([]byte(facts), &o)
		if err != nil || o.TargetID != target || o.Slot.UnixMilli() != slot {
			o, unread = Outage{}, append(unread, target)
			o.TargetID, o.Slot = target, time.UnixMilli(slot).UTC()
		}
		o.Told = told
		all = append(all, o)
	}
	return all, unread, rows.Err()
}

// gather makes a grouping true, of those targets that are still there.
func (s *Store) gather(ctx context.Context, tx *gorm.DB, g Grouping, there map[int64]bool) error {
	var members []incidentstore.Member
	var tags []string
	for _, o := range g.Members {
		if !there[o.TargetID] {
			continue
		}
		members, tags = append(members, incidentstore.Member{TargetID: o.TargetID, FirstSlot: o.Slot}), append(tags, o.Tags...)
		if err := dropOutage(tx, o.TargetID, o.Slot); err != nil {
			return err
		}
	}
	if len(members) == 0 {
		return nil
	}
	return s.aloud.Gather(ctx, tx, incidentstore.Opening{
		FirstSlot: g.Slot, Severity: g.Severity, Subject: g.Subject, Cause: g.Cause, At: g.At, Group: incidentstore.Group{Kind: string(g.Kind), Value: g.Value.Value, FirstSlot: g.Slot},
		Tags: slices.Compact(slices.Sorted(slices.Values(tags))),
	}, members)
}
