// Package targetstore keeps the targets users register.
//
// It guarantees that every change of a target and its schedule version are
// committed together (see package schedulestore), that an id is never used
// again, that every deletion leaves a row which says how far its removal has come
// (Deletion), and that a change made against an old version of a target can be
// refused (ErrConflict). Errors of the driver arrive as this package's, or as
// database.ErrUnavailable when the database could not answer.
package targetstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// What can be wrong with a request, as opposed to with the database.
var (
	ErrNotFound  = errors.New("target not found")
	ErrNameTaken = errors.New("target name is taken")
	ErrConflict  = errors.New("target has changed since it was read")

	ErrNoParent    = errors.New("there is no such parent")
	ErrParentCycle = errors.New("a target cannot depend on itself")
	ErrParentDepth = errors.New("too many targets depend on each other in a row")
	ErrHasChildren = errors.New("other targets depend on this one")
)

var errUnchanged = errors.New("unchanged")

// Store reads and writes targets.
type Store struct {
	db   *database.DB
	rate HostRate
	now  func() time.Time
	same bool // see Resealing
}

// New makes a store on an open database. It saves whatever it is given: see WithHostRate.
func New(db *database.DB) *Store { return &Store{db: db, now: time.Now} }

// WithClock makes the store date what it saves by another clock than this machine's: what is seen of targets is
// compared with it.
func (s *Store) WithClock(now func() time.Time) *Store {
	with := *s
	with.now = now
	return &with
}

// Resealing makes a store for who writes specs anew that say the same: what was seen of a target stays evidence.
func (s *Store) Resealing() *Store {
	with := *s
	with.same = true
	return &with
}

// Create stores a target and its first schedule version. It assigns the id, the
// spec version and the times, whatever the argument holds there.
func (s *Store) Create(ctx context.Context, t uptime.Target) (uptime.Target, error) {
	var created row
	err := schedulestore.Change(ctx, s.db, func(tx *gorm.DB, seq int64) (err error) {
		created, err = s.create(ctx, tx, seq, t)
		return err
	})
	if err != nil {
		return uptime.Target{}, fmt.Errorf("create target: %w", err)
	}
	return created.target()
}

// create is Create inside a Change.
func (s *Store) create(ctx context.Context, tx *gorm.DB, seq int64, t uptime.Target) (row, error) {
	t.ID, t.SpecVersion, t.VisitedSince = 0, seq, time.Time{}
	t.CreatedAt = s.now()
	t.UpdatedAt = t.CreatedAt
	r, err := toRow(t)
	if err != nil {
		return row{}, err
	}
	if err := related(ctx, tx, r); err != nil {
		return row{}, err
	}
	if err := gorm.G[row](tx).Create(ctx, &r); err != nil {
		return row{}, nameTaken(ctx, err)
	}
	if err := s.rate.judge(ctx, tx, row{}, r); err != nil {
		return row{}, err
	}
	if err := carry(ctx, tx, r.ID, nil, t.Tags, t.CreatedAt); err != nil {
		return row{}, err
	}
	return r, schedulestore.Append(ctx, tx, seq, draft(r, t.Regions), t.CreatedAt)
}

// Update reads a target, lets change edit it and stores it with the next schedule
// version, all in one transaction. An ifVersion other than 0 must be the target's
// spec version, else ErrConflict. An error of change is passed on and nothing is
// stored; a change that alters nothing stores nothing and keeps the version. The
// id, version and times are not change's to edit.
func (s *Store) Update(ctx context.Context, id, ifVersion int64, change func(*uptime.Target) error) (uptime.Target, error) {
	var updated row
	err := schedulestore.Change(ctx, s.db, func(tx *gorm.DB, seq int64) (err error) {
		updated, err = s.update(ctx, tx, seq, id, ifVersion, change)
		return err
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return uptime.Target{}, fmt.Errorf("update target %d: %w", id, err)
	}
	return updated.target()
}

// update is Update inside a Change. With errUnchanged it gives the target as it is.
func (s *Store) update(ctx context.Context, tx *gorm.DB, seq, id, ifVersion int64, change func(*uptime.Target) error) (row, error) {
	before, err := take(ctx, tx, id, ifVersion)
	if err != nil {
		return row{}, err
	}
	was, err := before.target()
	if err != nil {
		return row{}, err
	}
	t := was
	if err := change(&t); err != nil {
		return row{}, err
	}
	t.ID, t.SpecVersion, t.VisitedSince = before.ID, before.SpecVersion, was.VisitedSince
	t.CreatedAt, t.UpdatedAt = time.UnixMilli(before.CreatedAtMS), time.UnixMilli(before.UpdatedAtMS)
	after, err := toRow(t)
	if err != nil {
		return row{}, err
	}
	after.Host, after.HostSeq = before.Host, before.HostSeq
	if after == before {
		return before, errUnchanged
	}
	if after.ParentID != before.ParentID {
		if err := related(ctx, tx, after); err != nil {
			return row{}, err
		}
	}
	after.SpecVersion, after.UpdatedAtMS = seq, s.now().UnixMilli()
	if !s.same && !uptime.VisitedAlike(was, t) {
		after.VisitedSinceMS = after.UpdatedAtMS
	}
	after.Host, after.HostSeq = uptime.HostOf(after.URL), seq
	if err := write(ctx, tx, before, after); err != nil {
		return row{}, err
	}
	if err := s.rate.judge(ctx, tx, before, after); err != nil {
		return row{}, err
	}
	return after, schedulestore.Append(ctx, tx, seq, draft(after, t.Regions), time.UnixMilli(after.UpdatedAtMS))
}

// write puts a row in place of the one before.
func write(ctx context.Context, tx *gorm.DB, before, after row) error {
	result := tx.WithContext(ctx).Model(&row{}).Where("id = ?", after.ID).
		Select("name", "url", "kind", "interval_s", "timeout_ms", "regions", "active", "spec", "policy", "tags", "parent_id", "spec_version", "visited_since_ms", "updated_at_ms", "host", "host_seq").
		Updates(after)
	if result.Error != nil {
		return nameTaken(ctx, result.Error)
	}
	if result.RowsAffected != 1 {
		return ErrNotFound
	}
	return carry(ctx, tx, after.ID, tagsOf(before), tagsOf(after), time.UnixMilli(after.UpdatedAtMS))
}

// Delete removes a target, writes the version that ends its schedule and notes
// that what it left behind is to be removed, all in one transaction. An ifVersion other than 0 must
// be the target's spec version, else ErrConflict. One on which others depend stays: ErrHasChildren.
func (s *Store) Delete(ctx context.Context, id, ifVersion int64) error {
	err := schedulestore.Change(ctx, s.db, func(tx *gorm.DB, seq int64) error {
		r, err := take(ctx, tx, id, ifVersion)
		if err != nil {
			return err
		}
		if err := childless(ctx, tx, id); err != nil {
			return err
		}
		deleted, err := gorm.G[row](tx).Where("id = ?", id).Delete(ctx)
		if err != nil {
			return err
		}
		if deleted != 1 {
			return ErrNotFound
		}
		t, err := r.target()
		if err != nil {
			return err
		}
		if err := requestDeletion(ctx, tx, id); err != nil {
			return err
		}
		ended := draft(r, t.Regions)
		ended.Deleted = true
		return schedulestore.Append(ctx, tx, seq, ended, s.now())
	})
	if err != nil {
		return fmt.Errorf("delete target %d: %w", id, err)
	}
	return nil
}

// take reads a target inside a Change, whose counter keeps other writers out.
func take(ctx context.Context, tx *gorm.DB, id, ifVersion int64) (row, error) {
	r, err := gorm.G[row](tx).Where("id = ?", id).Take(ctx)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row{}, ErrNotFound
	}
	if err != nil {
		return row{}, err
	}
	if ifVersion != 0 && r.SpecVersion != ifVersion {
		return row{}, ErrConflict
	}
	return r, nil
}

// nameTaken knows that the name is the only thing a write can clash on.
func nameTaken(ctx context.Context, err error) error {
	err = database.Translate(ctx, err)
	if errors.Is(err, database.ErrDuplicate) {
		return ErrNameTaken
	}
	return err
}
