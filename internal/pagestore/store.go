package pagestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Teller has subscribers told what was said last of a post, within the transaction that says it.
type Teller interface {
	Tell(tx *gorm.DB, page Page, p Post) error
}

// Store reads and writes pages and posts.
type Store struct {
	db     *database.DB
	teller Teller
}

// New makes a store on an open database. A nil teller tells nobody.
func New(db *database.DB, teller Teller) *Store { return &Store{db, teller} }

const pageColumns = "id, slug, host, published, terms, version, created_at_ms, updated_at_ms"

func scanPage(row interface{ Scan(...any) error }) (Page, error) {
	var p Page
	var host sql.NullString
	var terms string
	var created, updated int64
	if err := row.Scan(&p.ID, &p.Slug, &host, &p.Published, &terms, &p.Version, &created, &updated); err != nil {
		return p, missing(err, ErrNotFound)
	}
	if err := json.Unmarshal([]byte(terms), &p.Terms); err != nil {
		return p, fmt.Errorf("status page %d: %w", p.ID, err)
	}
	p.Host, p.CreatedAt, p.UpdatedAt = host.String, at(created), at(updated)
	return p, nil
}

// pages reads pages with their targets.
func pages(db *gorm.DB, where string, args ...any) (all []Page, err error) {
	err = database.Each(db, func(rows *sql.Rows) error {
		p, err := scanPage(rows)
		all = append(all, p)
		return err
	}, "SELECT "+pageColumns+" FROM status_pages WHERE "+where, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	type bond struct{ page, component int64 }
	bonds := map[bond][]int64{}
	ids := make([]int64, len(all))
	for i, p := range all {
		ids[i] = p.ID
	}
	err = database.Each(db, func(rows *sql.Rows) error {
		var b bond
		var target int64
		err := rows.Scan(&b.page, &b.component, &target)
		bonds[b] = append(bonds[b], target)
		return err
	}, "SELECT page_id, component_id, target_id FROM status_page_targets WHERE page_id IN ? ORDER BY target_id", ids)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		for _, g := range p.Terms.Groups {
			for i := range g.Components {
				c := &g.Components[i]
				c.Targets = bonds[bond{p.ID, c.ID}]
			}
		}
	}
	return all, join(db, all, "to_ms IS NULL")
}

// join gives components the targets that carry their tags, by what holds of the carrying.
func join(db *gorm.DB, all []Page, holds string, args ...any) error {
	carriers, err := carriers(db, all, holds, args...)
	for _, p := range all {
		for _, g := range p.Terms.Groups {
			for i := range g.Components {
				c := &g.Components[i]
				c.Members = members(c.Tags, carriers)
			}
		}
	}
	return err
}

// carriers are the targets that carry the tags of pages, by tag.
func carriers(db *gorm.DB, all []Page, holds string, args ...any) (map[string][]int64, error) {
	var tags []string
	for _, p := range all {
		for _, c := range p.Components() {
			tags = append(tags, c.Tags...)
		}
	}
	if len(tags) == 0 {
		return nil, nil //nolint:nilnil // none: reading of a nil map is fine
	}
	found := map[string][]int64{}
	slices.Sort(tags)
	return found, database.Each(db, func(rows *sql.Rows) error {
		var tag string
		var target int64
		err := rows.Scan(&tag, &target)
		found[tag] = append(found[tag], target)
		return err
	}, "SELECT DISTINCT tag, target_id FROM target_tags WHERE tag IN ? AND "+holds+" ORDER BY target_id", append([]any{slices.Compact(tags)}, args...)...)
}

// members are the targets that carry all of the tags.
func members(tags []string, carriers map[string][]int64) (all []int64) {
	for i, tag := range tags {
		if i == 0 {
			all = slices.Clone(carriers[tag])
			continue
		}
		all = slices.DeleteFunc(all, func(id int64) bool { _, carries := slices.BinarySearch(carriers[tag], id); return !carries })
	}
	return all
}

// page reads one inside a transaction, which keeps other writers of it out.
func page(tx *gorm.DB, id int64, fits func(Page) bool) (Page, error) {
	if err := tx.Exec("UPDATE status_pages SET version = version WHERE id = ?", id).Error; err != nil {
		return Page{}, err
	}
	all, err := pages(tx, "id = ?", id)
	switch {
	case err != nil:
		return Page{}, err
	case len(all) == 0:
		return Page{}, ErrNotFound
	case fits != nil && !fits(all[0]):
		return Page{}, ErrConflict
	}
	return all[0], nil
}

// Create stores a page. It assigns the ids, the version and the times.
func (s *Store) Create(ctx context.Context, p Page, now time.Time) (Page, error) {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		number(&p.Terms)
		stored, err := scanPage(tx.Raw("INSERT INTO status_pages (slug, host, published, terms, version, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, 1, ?, ?) RETURNING "+pageColumns,
			p.Slug, maybe(p.Host), p.Published, text(p.Terms), now.UnixMilli(), now.UnixMilli()).Row())
		if err != nil {
			return taken(ctx, err)
		}
		p.ID = stored.ID
		p, err = bind(ctx, tx, p)
		return err
	})
	return p, database.Failed(ctx, "create status page", err)
}

// Update reads a page, lets change edit it and stores it, all in one transaction. A page that
// does not fit is ErrConflict; nil takes any.
func (s *Store) Update(ctx context.Context, id int64, now time.Time, fits func(Page) bool, change func(*Page) error) (p Page, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		before, err := page(tx, id, fits)
		if err != nil {
			return err
		}
		p = before
		if err := change(&p); err != nil {
			return err
		}
		number(&p.Terms)
		p.ID, p.Version, p.CreatedAt, p.UpdatedAt = id, before.Version+1, before.CreatedAt, at(now.UnixMilli())
		if err := tx.Exec("UPDATE status_pages SET slug = ?, host = ?, published = ?, terms = ?, version = ?, updated_at_ms = ? WHERE id = ?",
			p.Slug, maybe(p.Host), p.Published, text(p.Terms), p.Version, now.UnixMilli(), id).Error; err != nil {
			return taken(ctx, err)
		}
		if err := tx.Exec("DELETE FROM status_page_targets WHERE page_id = ?", id).Error; err != nil {
			return err
		}
		p, err = bind(ctx, tx, p)
		return err
	})
	return p, database.Failed(ctx, "update status page", err)
}

// Delete removes a page and its posts.
func (s *Store) Delete(ctx context.Context, id int64, fits func(Page) bool) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if _, err := page(tx, id, fits); err != nil {
			return err
		}
		return tx.Exec("DELETE FROM status_pages WHERE id = ?", id).Error
	})
	return database.Failed(ctx, "delete status page", err)
}

// Get gives one page.
func (s *Store) Get(ctx context.Context, id int64) (Page, error) {
	all, err := pages(s.db.Read().WithContext(ctx), "id = ?", id)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Page{}, database.Failed(ctx, "get status page", err)
	}
	return all[0], nil
}

// KnownAt gives one page as it is now, but with the members of then: those that carried its tags at
// an instant and are still there.
func (s *Store) KnownAt(ctx context.Context, id int64, at time.Time) (Page, error) {
	p, err := s.Get(ctx, id)
	if err == nil {
		ms := at.UnixMilli()
		err = database.Failed(ctx, "read who carried tags", join(s.db.Read().WithContext(ctx), []Page{p}, "from_ms <= ? AND (to_ms IS NULL OR to_ms > ?)", ms, ms))
	}
	return p, err
}

// List gives at most limit pages after an id, by id.
func (s *Store) List(ctx context.Context, afterID int64, limit int) ([]Page, error) {
	all, err := pages(s.db.Read().WithContext(ctx), "id > ? ORDER BY id LIMIT ?", afterID, limit)
	return all, database.Failed(ctx, "list status pages", err)
}

// Published gives every page that is public, and of each the posts that went on at some time
// since an instant, the newest first.
func (s *Store) Published(ctx context.Context, since time.Time) (all []Page, posts map[int64][]Post, err error) {
	db := s.db.Read().WithContext(ctx)
	if all, err = pages(db, "published ORDER BY id"); err == nil {
		posts = map[int64][]Post{}
		err = database.Each(db, func(rows *sql.Rows) error {
			p, err := scanPost(rows)
			posts[p.PageID] = append(posts[p.PageID], p)
			return err
		}, "SELECT "+postColumns+" FROM status_page_posts WHERE resolved_at_ms IS NULL OR resolved_at_ms >= ? ORDER BY begun_at_ms DESC, id DESC", since.UnixMilli())
	}
	return all, posts, database.Failed(ctx, "read status pages", err)
}

// Hosts are the own hosts of all pages, published or not.
func (s *Store) Hosts(ctx context.Context) (all []string, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		var host string
		err := rows.Scan(&host)
		all = append(all, host)
		return err
	}, "SELECT host FROM status_pages WHERE host IS NOT NULL ORDER BY id")
	return all, database.Failed(ctx, "read hosts of status pages", err)
}

// number gives new components their ids.
func number(t *Terms) {
	for _, g := range t.Groups {
		for i := range g.Components {
			if c := &g.Components[i]; c.ID == 0 {
				t.LastComponent++
				c.ID = t.LastComponent
			}
		}
	}
}

// bind stores what the components of a page show, and gives the page as it is now.
func bind(ctx context.Context, tx *gorm.DB, p Page) (Page, error) {
	for _, c := range p.Components() {
		for _, target := range slices.Compact(slices.Sorted(slices.Values(c.Targets))) {
			done := tx.Exec("INSERT INTO status_page_targets (page_id, component_id, target_id) SELECT ?, ?, id FROM targets WHERE id = ?", p.ID, c.ID, target)
			if done.Error != nil {
				return p, database.Translate(ctx, done.Error)
			}
			if done.RowsAffected != 1 {
				return p, ErrTargetGone
			}
		}
	}
	return page(tx, p.ID, nil)
}

func taken(ctx context.Context, err error) error {
	if err = database.Translate(ctx, err); errors.Is(err, database.ErrDuplicate) {
		return ErrTaken
	}
	return err
}

func maybe(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// text is a value as JSON; of types that cannot fail.
func text(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

// missing puts what is not there in this package's words.
func missing(err, is error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return is
	}
	return err
}
