package verdictstore

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Confirmation is what a region saw that was asked to look again at what another one saw
// failing.
type Confirmation struct {
	TargetID   int64
	Slot       time.Time // that failed elsewhere
	Region     string
	Prober     string
	CheckedAt  time.Time
	Status     uptime.Status
	Failure    uptime.Failure
	Reason     uptime.Reason // of what is unknown
	HTTPStatus int
	TotalUS    uint32
	Message    string
}

type confirmationRow struct {
	TargetID    int64          `gorm:"column:target_id;primaryKey;autoIncrement:false"`
	SlotMS      int64          `gorm:"column:slot_ms;primaryKey;autoIncrement:false"`
	Region      string         `gorm:"column:region;primaryKey"`
	Prober      string         `gorm:"column:prober"`
	CheckedAtMS int64          `gorm:"column:checked_at_ms"`
	Status      uptime.Status  `gorm:"column:status"`
	Failure     uptime.Failure `gorm:"column:failure"`
	Reason      uptime.Reason  `gorm:"column:reason"`
	HTTPStatus  int            `gorm:"column:http_status"`
	TotalUS     uint32         `gorm:"column:total_us"`
	Message     string         `gorm:"column:message"`
}

func (confirmationRow) TableName() string { return "confirmations" }

// addConfirmations keeps those that are not there yet: what is folded again is told again.
func addConfirmations(tx *gorm.DB, all []Confirmation, there map[int64]bool) error {
	var rows []confirmationRow
	for _, c := range all {
		if there[c.TargetID] {
			rows = append(rows, confirmationRow{c.TargetID, c.Slot.UnixMilli(), c.Region, c.Prober, c.CheckedAt.UnixMilli(), c.Status, c.Failure, c.Reason, c.HTTPStatus, c.TotalUS, c.Message})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, 200).Error
}

// Confirmations are those of a target that were made in [from, to), in order, at most limit.
func (s *Store) Confirmations(ctx context.Context, targetID int64, from, to time.Time, limit int) ([]Confirmation, error) {
	rows, err := gorm.G[confirmationRow](s.db.Read()).Where("target_id = ? AND checked_at_ms >= ? AND checked_at_ms < ?", targetID, from.UnixMilli(), to.UnixMilli()).
		Order("checked_at_ms, region").Limit(limit).Find(ctx)
	all := make([]Confirmation, 0, len(rows))
	for _, r := range rows {
		all = append(all, r.confirmation())
	}
	return all, database.Failed(ctx, "read confirmations", err)
}

func (r confirmationRow) confirmation() Confirmation {
	return Confirmation{r.TargetID, time.UnixMilli(r.SlotMS).UTC(), r.Region, r.Prober, time.UnixMilli(r.CheckedAtMS).UTC(), r.Status, r.Failure, r.Reason, r.HTTPStatus, r.TotalUS, r.Message}
}

const newestSQL = `SELECT * FROM (SELECT c.*, ROW_NUMBER() OVER (PARTITION BY target_id ORDER BY checked_at_ms DESC, region) AS n
FROM confirmations c WHERE target_id IN ? AND checked_at_ms >= ? AND checked_at_ms < ?) newest WHERE n <= ? ORDER BY target_id, checked_at_ms, region`

// ConfirmationsOf are those of targets that were made in [from, to), in order, of each the newest
// limit. A few hundred targets may be named.
func (s *Store) ConfirmationsOf(ctx context.Context, ids []int64, from, to time.Time, limit int) (map[int64][]Confirmation, error) {
	all := map[int64][]Confirmation{}
	if len(ids) == 0 {
		return all, nil
	}
	var rows []confirmationRow
	err := s.db.Read().WithContext(ctx).Raw(newestSQL, ids, from.UnixMilli(), to.UnixMilli(), limit).Scan(&rows).Error
	for _, r := range rows {
		all[r.TargetID] = append(all[r.TargetID], r.confirmation())
	}
	return all, database.Failed(ctx, "read confirmations", err)
}

// ForgetConfirmations removes those that were made before an instant.
func (s *Store) ForgetConfirmations(ctx context.Context, before time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		return tx.Exec("DELETE FROM confirmations WHERE checked_at_ms < ?", before.UnixMilli()).Error
	})
	return database.Failed(ctx, "forget confirmations", err)
}
