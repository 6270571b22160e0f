package jobstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Cursor is a place in a list of jobs: the last one before it.
type Cursor struct {
	CreatedAt time.Time // whole milliseconds
	ID        string
}

// After says whether the job comes after the cursor in a list, which begins with the
// newest. The nil cursor is before all.
func (c *Cursor) After(j Job) bool {
	if c == nil {
		return true
	}
	at, last := j.CreatedAt.UnixMilli(), c.CreatedAt.UnixMilli()
	return at < last || at == last && j.ID < c.ID
}

// Filter says which jobs are wanted. Zero members are no condition.
type Filter struct {
	URL      string // the whole of it
	From, To time.Time
	State    State
	Before   *Cursor
	Limit    int
}

// Matches says whether a job fulfils the conditions, the cursor included.
func (f Filter) Matches(j Job) bool {
	return (f.URL == "" || f.URL == j.URL) && (f.From.IsZero() || !j.CreatedAt.Before(f.From)) && (f.To.IsZero() || j.CreatedAt.Before(f.To)) &&
		(f.State == "" || f.State == j.State) && f.Before.After(j)
}

// Get gives a job with all evidence, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id string) (Job, error) {
	r, err := gorm.G[row](s.db.Read()).Where("id = ?", id).Take(ctx)
	if err == nil {
		return r.job()
	}
	err = database.Translate(ctx, err)
	if errors.Is(err, database.ErrNoRow) {
		return Job{}, ErrNotFound
	}
	return Job{}, fmt.Errorf("get job: %w", err)
}

// List gives jobs without evidence, newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Job, error) {
	query := gorm.G[row](s.db.Read()).Select(brief[0], rest()...).Order("created_at_ms DESC, id DESC").Limit(f.Limit)
	if f.URL != "" {
		query = query.Where("url_hash = ?", hashOf(f.URL))
	}
	if !f.From.IsZero() {
		query = query.Where("created_at_ms >= ?", ceilMilli(f.From))
	}
	if !f.To.IsZero() {
		query = query.Where("created_at_ms < ?", ceilMilli(f.To))
	}
	if f.State != "" {
		query = query.Where("state = ?", string(f.State))
	}
	if f.Before != nil {
		ms := f.Before.CreatedAt.UnixMilli()
		query = query.Where("created_at_ms <= ? AND (created_at_ms < ? OR id < ?)", ms, ms, f.Before.ID)
	}
	rows, err := query.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", database.Translate(ctx, err))
	}
	return jobs(rows)
}

// Changed gives the jobs of others than owner that were changed at since or later, without
// evidence, the earliest change first.
func (s *Store) Changed(ctx context.Context, owner string, since time.Time, limit int) ([]Job, error) {
	rows, err := gorm.G[row](s.db.Read()).Select(brief[0], rest()...).Where("updated_at_ms >= ? AND owner <> ?", since.UnixMilli(), owner).
		Order("updated_at_ms, id").Limit(limit).Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("changed jobs: %w", database.Translate(ctx, err))
	}
	return jobs(rows)
}

func rest() []any {
	columns := make([]any, 0, len(brief)-1)
	for _, name := range brief[1:] {
		columns = append(columns, name)
	}
	return columns
}

// ceilMilli is the first whole millisecond that is not before t.
func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return ms
}
