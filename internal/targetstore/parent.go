package targetstore

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// MaxParents is how many targets may depend on each other in a row, not counting the first.
const MaxParents = 5

const (
	parentOf   = "SELECT parent_id FROM targets WHERE id = ?"
	childrenOf = "SELECT id FROM targets WHERE parent_id IN ?"
	anyChild   = "SELECT COUNT(*) FROM targets WHERE parent_id = ?"
)

// related judges inside a Change, whose counter keeps other writers out, what a target is to
// depend on.
func related(ctx context.Context, tx *gorm.DB, r row) error {
	if !r.ParentID.Valid {
		return nil
	}
	depth := 0
	for id := r.ParentID; id.Valid; depth++ {
		if id.Int64 == r.ID {
			return ErrParentCycle
		}
		var next sql.NullInt64
		err := tx.Raw(parentOf, id.Int64).Row().Scan(&next)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrNoParent
		case err != nil:
			return database.Translate(ctx, err)
		}
		id = next
	}
	for below := []int64{r.ID}; r.ID != 0; depth++ {
		var children []int64
		if err := tx.Raw(childrenOf, below).Scan(&children).Error; err != nil {
			return database.Translate(ctx, err)
		}
		if below = children; len(below) == 0 {
			break
		}
	}
	if depth > MaxParents {
		return ErrParentDepth
	}
	return nil
}

// childless refuses inside a Change to take away what others depend on: nobody would hear of
// that, until all of them are told of at once.
func childless(ctx context.Context, tx *gorm.DB, id int64) error {
	var n int64
	if err := tx.Raw(anyChild, id).Row().Scan(&n); err != nil {
		return database.Translate(ctx, err)
	}
	if n > 0 {
		return ErrHasChildren
	}
	return nil
}
