package pagestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

const postColumns = "id, page_id, incident_id, body, begun_at_ms, resolved_at_ms, version"

func scanPost(row interface{ Scan(...any) error }) (Post, error) {
	var p Post
	var body string
	var begun int64
	var incident, resolved sql.NullInt64
	if err := row.Scan(&p.ID, &p.PageID, &incident, &body, &begun, &resolved, &p.Version); err != nil {
		return p, missing(err, ErrPostNotFound)
	}
	if err := json.Unmarshal([]byte(body), &p.Body); err != nil {
		return p, fmt.Errorf("post %d: %w", p.ID, err)
	}
	p.IncidentID, p.BegunAt = incident.Int64, at(begun)
	if resolved.Valid {
		p.ResolvedAt = at(resolved.Int64)
	}
	return p, nil
}

// knownIncident is an incident if it is there, else NULL.
const knownIncident = "(SELECT id FROM incidents WHERE id = ?)"

// write stores a post, and gives it as it is stored: without its incident if there is none.
func write(tx *gorm.DB, incident int64, statement string, args ...any) (Post, error) {
	p, err := scanPost(tx.Raw(statement+" RETURNING "+postColumns, args...).Row())
	if err == nil && p.IncidentID != incident {
		err = ErrIncidentGone
	}
	return p, err
}

// CreatePost stores a post. The error is ErrNotFound if its page is gone, ErrIncidentGone if its
// incident is.
func (s *Store) CreatePost(ctx context.Context, p Post) (created Post, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		of, err := page(tx, p.PageID, nil)
		if err != nil {
			return err
		}
		created, err = write(tx, p.IncidentID, "INSERT INTO status_page_posts (page_id, incident_id, body, begun_at_ms, resolved_at_ms, version) VALUES (?, "+knownIncident+", ?, ?, ?, 1)",
			p.PageID, p.IncidentID, text(p.Body), p.BegunAt.UnixMilli(), maybeInstant(p.ResolvedAt))
		if err == nil && s.teller != nil {
			err = s.teller.Tell(tx, of, created)
		}
		return err
	})
	return created, database.Failed(ctx, "create post", err)
}

// UpdatePost reads a post, lets change edit it and stores it, all in one transaction. An
// ifVersion other than 0 must be its version, else ErrConflict; its incident must be there, else
// ErrIncidentGone.
func (s *Store) UpdatePost(ctx context.Context, pageID, id, ifVersion int64, change func(*Post) error) (p Post, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if p, err = holdPost(tx, pageID, id, ifVersion); err != nil {
			return err
		}
		said := len(p.Body.Updates)
		if err := change(&p); err != nil {
			return err
		}
		p.Version++
		p, err = write(tx, p.IncidentID, "UPDATE status_page_posts SET incident_id = "+knownIncident+", body = ?, begun_at_ms = ?, resolved_at_ms = ?, version = ? WHERE id = ?",
			p.IncidentID, text(p.Body), p.BegunAt.UnixMilli(), maybeInstant(p.ResolvedAt), p.Version, id)
		if err != nil {
			return err
		}
		if s.teller == nil || len(p.Body.Updates) <= said {
			return nil
		}
		of, err := pages(tx, "id = ?", pageID)
		if err != nil || len(of) == 0 {
			return err
		}
		return s.teller.Tell(tx, of[0], p)
	})
	return p, database.Failed(ctx, "update post", err)
}

// DeletePost removes a post.
func (s *Store) DeletePost(ctx context.Context, pageID, id, ifVersion int64) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if _, err := holdPost(tx, pageID, id, ifVersion); err != nil {
			return err
		}
		return tx.Exec("DELETE FROM status_page_posts WHERE id = ?", id).Error
	})
	return database.Failed(ctx, "delete post", err)
}

// Post gives one post of a page.
func (s *Store) Post(ctx context.Context, pageID, id int64) (Post, error) {
	p, err := scanPost(s.db.Read().WithContext(ctx).Raw("SELECT "+postColumns+" FROM status_page_posts WHERE page_id = ? AND id = ?", pageID, id).Row())
	return p, database.Failed(ctx, "get post", err)
}

// Posts gives at most limit posts of a page before an id, the newest first. A beforeID of 0 begins.
func (s *Store) Posts(ctx context.Context, pageID, beforeID int64, limit int) (all []Post, err error) {
	err = database.Each(s.db.Read().WithContext(ctx), func(rows *sql.Rows) error {
		p, err := scanPost(rows)
		all = append(all, p)
		return err
	}, "SELECT "+postColumns+" FROM status_page_posts WHERE page_id = ? AND (id < ? OR ? = 0) ORDER BY id DESC LIMIT ?", pageID, beforeID, beforeID, limit)
	return all, database.Failed(ctx, "list posts", err)
}

// Told gives the newest posts that tell of an incident, at most limit, the oldest first, and the
// pages they are on by id.
func (s *Store) Told(ctx context.Context, incidentID int64, limit int) (all []Post, on map[int64]Page, err error) {
	db := s.db.Read().WithContext(ctx)
	on = map[int64]Page{}
	err = database.Each(db, func(rows *sql.Rows) error {
		p, err := scanPost(rows)
		all, on[p.PageID] = append(all, p), Page{}
		return err
	}, "SELECT "+postColumns+" FROM status_page_posts WHERE incident_id = ? ORDER BY id DESC LIMIT ?", incidentID, limit)
	if err != nil || len(all) == 0 {
		return nil, nil, database.Failed(ctx, "read what was told of an incident", err)
	}
	found, err := pages(db, "id IN ?", slices.Collect(maps.Keys(on)))
	clear(on)
	for _, p := range found {
		on[p.ID] = p
	}
	slices.Reverse(all)
	all = slices.DeleteFunc(all, func(p Post) bool { _, is := on[p.PageID]; return !is }) // gone in between, with its page
	return all, on, database.Failed(ctx, "read what was told of an incident", err)
}

func holdPost(tx *gorm.DB, pageID, id, ifVersion int64) (Post, error) {
	p, err := scanPost(tx.Raw("UPDATE status_page_posts SET version = version WHERE page_id = ? AND id = ? RETURNING "+postColumns, pageID, id).Row())
	if err == nil && ifVersion != 0 && p.Version != ifVersion {
		err = ErrConflict
	}
	return p, err
}

func maybeInstant(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: !t.IsZero()}
}
