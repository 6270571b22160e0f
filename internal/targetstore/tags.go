package targetstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

const (
	putOn = `INSERT INTO target_tags (target_id, tag, from_ms) VALUES (?, ?, ?)
ON CONFLICT (target_id, tag, from_ms) DO UPDATE SET to_ms = NULL`
	// The clock of the node that put it on may be ahead of this one's.
	takeOff = "UPDATE target_tags SET to_ms = CASE WHEN from_ms > ? THEN from_ms ELSE ? END WHERE target_id = ? AND tag = ? AND to_ms IS NULL"
)

// tagsOf are those a target carries now.
func tagsOf(r row) []string {
	if r.Tags == "" {
		return nil
	}
	return strings.Fields(r.Tags)
}

// carry notes since when a target carries which tags, and until when it did: what is asked about
// the past of a tag is answered as it was.
func carry(ctx context.Context, tx *gorm.DB, id int64, before, after []string, at time.Time) error {
	ms := at.UnixMilli()
	for _, tag := range before {
		if slices.Contains(after, tag) {
			continue
		}
		if err := tx.Exec(takeOff, ms, ms, id, tag).Error; err != nil {
			return database.Translate(ctx, err)
		}
	}
	for _, tag := range after {
		if slices.Contains(before, tag) {
			continue
		}
		if err := tx.Exec(putOn, id, tag, ms).Error; err != nil {
			return database.Translate(ctx, err)
		}
	}
	return nil
}
