package pagestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

const postColumns = "id, page_id, body, begun_at_ms, resolved_at_ms, version"

func scanPost(row interface{ Scan(...any) error }) (Post, error) {
	var p Post
	var body string
	var begun int64
	var resolved sql.NullInt64
	if err := row.Scan(&p.ID, &p.PageID, &body, &begun, &resolved, &p.Version); err != nil {
		return p, missing(err, ErrPostNotFound)
	}
	if err := json.Unmarshal([]byte(body), &p.Body); err != nil {
		return p, fmt.Errorf("post %d: %w", p.ID, err)
	}
	p.BegunAt = at(begun)
	if resolved.Valid {
		p.ResolvedAt = at(resolved.Int64)
	}
	return p, nil
}

// CreatePost stores a post. The error is ErrNotFound if its page is gone.
func (s *Store) CreatePost(ctx context.Context, p Post) (created Post, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		of, err := page(tx, p.PageID, nil)
		if err != nil {
			return err
		}
		created, err = scanPost(tx.Raw("INSERT INTO status_page_posts (page_id, body, begun_at_ms, resolved_at_ms, version) VALUES (?, ?, ?, ?, 1) RETURNING "+postColumns,
			p.PageID, text(p.Body), p.BegunAt.UnixMilli(), maybeInstant(p.ResolvedAt)).Row())
		if err == nil && s.teller != nil {
			err = s.teller.Tell(tx, of, created)
		}
		return err
	})
	return created, database.Failed(ctx, "create post", err)
}

// UpdatePost reads a post, lets change edit it and stores it, all in one transaction. An
// ifVersion other than 0 must be its version, else ErrConflict.
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
		if err := tx.Exec("UPDATE status_page_posts SET body = ?, begun_at_ms = ?, resolved_at_ms = ?, version = ? WHERE id = ?",
			text(p.Body), p.BegunAt.UnixMilli(), maybeInstant(p.ResolvedAt), p.Version, id).Error; err != nil {
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
