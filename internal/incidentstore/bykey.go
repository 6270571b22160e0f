package incidentstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// ByKey gives the id of the incident of a target and first slot, in the caller's transaction.
func ByKey(ctx context.Context, tx *gorm.DB, targetID int64, firstSlot time.Time) (int64, error) {
	i, err := scanIncident(tx.Raw(byKey, targetID, firstSlot.UnixMilli()).Row())
	return i.ID, database.Failed(ctx, "find incident", missing(err, ErrNotFound))
}

// Remark adds what the service has to say to an incident's timeline, in the caller's
// transaction; once a key.
func (s *Store) Remark(ctx context.Context, tx *gorm.DB, id int64, key string, e Event) error {
	i, err := Hold(ctx, tx, id)
	if err != nil {
		return err
	}
	e.Kind = Noted
	_, err = s.happened(ctx, tx, i, "remark:"+key, e)
	return database.Failed(ctx, "remark on incident", err)
}
