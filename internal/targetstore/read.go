package targetstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	defaultLimit    = 100
	idsPerStatement = 500 // far below every engine's limit of parameters
)

// Filter narrows a list. The zero value is the first page of everything.
type Filter struct {
	AfterID  int64    // the last id of the page before
	Limit    int      // 0 means 100
	Search   string   // part of the name or URL, in any case
	Active   *bool    // nil means both
	Tags     []string // which it carries all of
	ParentID int64    // on which it depends
}

// Get gives one target.
func (s *Store) Get(ctx context.Context, id int64) (uptime.Target, error) {
	r, err := gorm.G[row](s.db.Read()).Where("id = ?", id).Take(ctx)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return uptime.Target{}, fmt.Errorf("get target %d: %w", id, ErrNotFound)
	}
	if err != nil {
		return uptime.Target{}, fmt.Errorf("get target %d: %w", id, database.Translate(ctx, err))
	}
	return r.target()
}

// List gives a page of targets in ascending id.
func (s *Store) List(ctx context.Context, filter Filter) ([]uptime.Target, error) {
	limit := filter.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	query := gorm.G[row](s.db.Read()).Where("id > ?", filter.AfterID).Order("id").Limit(limit)
	if filter.Active != nil {
		query = query.Where("active = ?", *filter.Active)
	}
	if filter.ParentID != 0 {
		query = query.Where("parent_id = ?", filter.ParentID)
	}
	for _, tag := range filter.Tags {
		query = query.Where("id IN (SELECT target_id FROM target_tags WHERE tag = ? AND to_ms IS NULL)", tag)
	}
	if filter.Search != "" {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(filter.Search) + "%"
		query = query.Where(`(LOWER(name) LIKE LOWER(?) ESCAPE '\' OR LOWER(url) LIKE LOWER(?) ESCAPE '\')`, pattern, pattern)
	}
	rows, err := query.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list targets: %w", database.Translate(ctx, err))
	}
	return targets(rows)
}

// ByIDs gives those of the targets that exist, in ascending id.
func (s *Store) ByIDs(ctx context.Context, ids []int64) ([]uptime.Target, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var all []row
	for chunk := range slices.Chunk(ids, idsPerStatement) {
		rows, err := gorm.G[row](s.db.Read()).Where("id IN ?", chunk).Order("id").Find(ctx)
		if err != nil {
			return nil, fmt.Errorf("get targets: %w", database.Translate(ctx, err))
		}
		all = append(all, rows...)
	}
	return targets(all)
}

// Each calls fn with every target in ascending id, without holding them all in
// memory; they are as of one instant. An error of fn ends it.
func (s *Store) Each(ctx context.Context, fn func(uptime.Target) error) error {
	rows, err := gorm.G[row](s.db.Read()).Select(columns).Order("id").Rows(ctx)
	if err != nil {
		return fmt.Errorf("read targets: %w", database.Translate(ctx, err))
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		err := rows.Scan(&r.ID, &r.Name, &r.URL, &r.Kind, &r.IntervalS, &r.TimeoutMS, &r.Regions, &r.Active, &r.Spec, &r.Policy, &r.Tags, &r.ParentID,
			&r.SpecVersion, &r.VisitedSinceMS, &r.CreatedAtMS, &r.UpdatedAtMS)
		if err != nil {
			return fmt.Errorf("read targets: %w", database.Translate(ctx, err))
		}
		t, err := r.target()
		if err != nil {
			return fmt.Errorf("read targets: %w", err)
		}
		if err := fn(t); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read targets: %w", database.Translate(ctx, err))
	}
	return nil
}
