package accountstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// APIKey is a key for programs.
type APIKey struct {
	ID         int64
	Name       string
	Prefix     string   // its first characters, to tell keys apart
	Role       Role     // the most it may; KeyByHash gives what it may now
	Scopes     []string // what of that; none: all
	UserID     int64    // whose it is; 0: the installation's
	ParentID   int64    // the key that made it; 0: none
	CreatedAt  time.Time
	LastUsedAt time.Time // to the minute; zero when never
	ExpiresAt  time.Time // zero when never
	RevokedAt  time.Time // zero: not
}

type keyRow struct {
	ID           int64  `gorm:"column:id;primaryKey"`
	Name         string `gorm:"column:name"`
	Prefix       string `gorm:"column:prefix"`
	KeyHash      string `gorm:"column:key_hash"`
	Role         string `gorm:"column:role"`
	CreatedAtMS  int64  `gorm:"column:created_at_ms"`
	LastUsedAtMS *int64 `gorm:"column:last_used_at_ms"`
	ExpiresAtMS  *int64 `gorm:"column:expires_at_ms"`
	RevokedAtMS  *int64 `gorm:"column:revoked_at_ms"`
	Scopes       string `gorm:"column:scopes"`
	UserID       *int64 `gorm:"column:user_id"`
	ParentID     *int64 `gorm:"column:parent_id"`
}

func (keyRow) TableName() string { return "api_keys" }

// EnsureKey creates a key unless one with this hash exists, revoked or not:
// restarting a program must not revive a key that was taken away. The audit log says so.
func (s *Store) EnsureKey(ctx context.Context, name, prefix, keyHash string, role Role) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		done := tx.Exec(`INSERT INTO api_keys (name, prefix, key_hash, role, created_at_ms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key_hash) DO NOTHING`, name, prefix, keyHash, string(role), s.now().UnixMilli())
		if done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		row, err := gorm.G[keyRow](tx).Where("key_hash = ?", keyHash).Take(ctx)
		if err != nil {
			return err
		}
		return s.auditKey(ctx, tx, ActorSystem, row)
	})
	if err != nil {
		return fmt.Errorf("create API key: %w", database.Translate(ctx, err))
	}
	return nil
}

func (r keyRow) key() APIKey {
	key := APIKey{
		ID: r.ID, Name: r.Name, Prefix: r.Prefix, Role: Role(r.Role), Scopes: strings.Fields(r.Scopes), CreatedAt: at(r.CreatedAtMS),
		LastUsedAt: atOrZero(r.LastUsedAtMS), ExpiresAt: atOrZero(r.ExpiresAtMS), RevokedAt: atOrZero(r.RevokedAtMS),
	}
	if r.UserID != nil {
		key.UserID = *r.UserID
	}
	if r.ParentID != nil {
		key.ParentID = *r.ParentID
	}
	return key
}

// valid is true of keys that are valid at an instant.
const valid = "revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)"

// KeyByHash gives the key that is valid at now, or ErrNotFound. Its role is what it
// may now: never more than its user may, who must not be disabled, nor than the key that made
// it, which must be valid too.
func (s *Store) KeyByHash(ctx context.Context, keyHash string, now time.Time) (APIKey, error) {
	row, err := gorm.G[keyRow](s.db.Read()).Where("key_hash = ? AND "+valid, keyHash, now.UnixMilli()).Take(ctx)
	if err != nil {
		return APIKey{}, fmt.Errorf("get API key: %w", notFound(ctx, err))
	}
	return keyNow(ctx, s.db.Read(), row, now)
}

// keyNow is a valid key with the role that it has at now.
func keyNow(ctx context.Context, db *gorm.DB, row keyRow, now time.Time) (APIKey, error) {
	key := row.key()
	if key.ParentID != 0 {
		parent, err := gorm.G[keyRow](db).Where("id = ? AND "+valid, key.ParentID, now.UnixMilli()).Take(ctx)
		if err != nil {
			return APIKey{}, fmt.Errorf("get the key that made a key: %w", notFound(ctx, err))
		}
		key.Role = lesser(key.Role, Role(parent.Role))
	}
	if key.UserID != 0 {
		user, err := gorm.G[userRow](db).Where("id = ? AND disabled_at_ms IS NULL", key.UserID).Take(ctx)
		if err != nil {
			return APIKey{}, fmt.Errorf("get the key's user: %w", notFound(ctx, err))
		}
		key.Role = lesser(key.Role, Role(user.Role))
	}
	return key, nil
}

// lesser of two roles; one that is not known is less than all.
func lesser(a, b Role) Role {
	order := []Role{RoleViewer, RoleEditor, RoleOwner}
	return append([]Role{""}, order...)[min(slices.Index(order, a), slices.Index(order, b))+1]
}

// CreateKey stores a key: its name, prefix, role, scopes, user, parent and expiry. ErrConflict if
// how its maker signs in has changed since that was read; the zero User: a key makes it, whose own
// end is the end of what it made.
func (s *Store) CreateKey(ctx context.Context, maker User, key APIKey, keyHash string) (APIKey, error) {
	row := keyRow{Name: key.Name, Prefix: key.Prefix, KeyHash: keyHash, Role: string(key.Role), Scopes: strings.Join(key.Scopes, " "), CreatedAtMS: s.now().UnixMilli()}
	if key.UserID != 0 {
		row.UserID = &key.UserID
	}
	if key.ParentID != 0 {
		row.ParentID = &key.ParentID
	}
	if !key.ExpiresAt.IsZero() {
		until := key.ExpiresAt.UnixMilli()
		row.ExpiresAtMS = &until
	}
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		row.ID = 0
		if err := holdMaker(tx, maker); err != nil {
			return err
		}
		return gorm.G[keyRow](tx).Create(ctx, &row)
	})
	if err != nil {
		return APIKey{}, fmt.Errorf("create API key: %w", database.Translate(ctx, err))
	}
	return row.key(), nil
}

// Keys lists the keys that were not revoked, by id: those of a user, or of everybody (0).
func (s *Store) Keys(ctx context.Context, userID, afterID int64, limit int) ([]APIKey, error) {
	query := gorm.G[keyRow](s.db.Read()).Where("revoked_at_ms IS NULL AND id > ?", afterID).Order("id").Limit(limit)
	if userID != 0 {
		query = query.Where("user_id = ?", userID)
	}
	rows, err := query.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list API keys: %w", database.Translate(ctx, err))
	}
	all := make([]APIKey, len(rows))
	for i, row := range rows {
		all[i] = row.key()
	}
	return all, nil
}

// RevokeKey ends a key, and with it those that it made and the invitations that it or they have
// made: one of a user, or of anybody (0). It gives what was ended, or ErrNotFound.
func (s *Store) RevokeKey(ctx context.Context, userID, id int64) (APIKey, error) {
	var row keyRow
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		query := gorm.G[keyRow](tx).Where("id = ? AND revoked_at_ms IS NULL", id)
		if userID != 0 {
			query = query.Where("user_id = ?", userID)
		}
		n, err := query.Update(ctx, "revoked_at_ms", s.now().UnixMilli())
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		if row, err = gorm.G[keyRow](tx).Where("id = ?", id).Take(ctx); err != nil {
			return err
		}
		_, err = s.withdrawBy(ctx, tx, "created_by IN (SELECT 'key:' || id FROM api_keys WHERE id = ? OR parent_id = ?)", id, id)
		return err
	})
	if err != nil {
		return APIKey{}, fmt.Errorf("revoke API key: %w", database.Translate(ctx, err))
	}
	return row.key(), nil
}

// TouchKey records that a key was used at now. It writes at most once a TouchInterval.
func (s *Store) TouchKey(ctx context.Context, id int64, now time.Time) error {
	_, err := gorm.G[keyRow](s.db.Write()).
		Where("id = ? AND (last_used_at_ms IS NULL OR last_used_at_ms <= ?)", id, now.Add(-TouchInterval).UnixMilli()).
		Update(ctx, "last_used_at_ms", now.UnixMilli())
	if err != nil {
		return fmt.Errorf("touch API key: %w", database.Translate(ctx, err))
	}
	return nil
}

// LendKey makes a key that is valid until expires, and removes those lent under this name
// that no longer are. The audit log says that the operator's tool has made it.
func (s *Store) LendKey(ctx context.Context, name, prefix, keyHash string, role Role, expires time.Time) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if _, err := gorm.G[keyRow](tx).Where("name = ? AND expires_at_ms <= ?", name, s.now().UnixMilli()).Delete(ctx); err != nil {
			return err
		}
		until := expires.UnixMilli()
		row := keyRow{Name: name, Prefix: prefix, KeyHash: keyHash, Role: string(role), CreatedAtMS: s.now().UnixMilli(), ExpiresAtMS: &until}
		if err := gorm.G[keyRow](tx).Create(ctx, &row); err != nil {
			return err
		}
		return s.auditKey(ctx, tx, ActorTool, row)
	})
	if err != nil {
		return fmt.Errorf("lend API key: %w", database.Translate(ctx, err))
	}
	return nil
}

// auditKey records that a key was made past the API, in the transaction that made it.
func (s *Store) auditKey(ctx context.Context, tx *gorm.DB, actor string, key keyRow) error {
	entry := AuditEntry{Actor: actor, Action: "key.created", Object: fmt.Sprint("key:", key.ID), Detail: key.Name + " as " + key.Role}
	row := entry.row(s.now())
	return gorm.G[auditRow](tx).Create(ctx, &row)
}
