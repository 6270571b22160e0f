package accountstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// APIKey is a key for programs.
type APIKey struct {
	ID         int64
	Name       string
	Prefix     string // its first characters, to tell keys apart
	Role       Role
	CreatedAt  time.Time
	LastUsedAt time.Time // to the minute; zero when never
	ExpiresAt  time.Time // zero when never
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
}

func (keyRow) TableName() string { return "api_keys" }

// EnsureKey creates a key unless one with this hash exists, revoked or not:
// restarting a program must not revive a key that was taken away.
func (s *Store) EnsureKey(ctx context.Context, name, prefix, keyHash string, role Role) error {
	err := s.db.Write().WithContext(ctx).Exec(`INSERT INTO api_keys (name, prefix, key_hash, role, created_at_ms) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key_hash) DO NOTHING`, name, prefix, keyHash, string(role), s.now().UnixMilli()).Error
	if err != nil {
		return fmt.Errorf("create API key: %w", database.Translate(ctx, err))
	}
	return nil
}

// KeyByHash gives the key that is valid at now, or ErrNotFound.
func (s *Store) KeyByHash(ctx context.Context, keyHash string, now time.Time) (APIKey, error) {
	row, err := gorm.G[keyRow](s.db.Read()).
		Where("key_hash = ? AND revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)", keyHash, now.UnixMilli()).Take(ctx)
	if err != nil {
		return APIKey{}, fmt.Errorf("get API key: %w", notFound(ctx, err))
	}
	return APIKey{
		ID: row.ID, Name: row.Name, Prefix: row.Prefix, Role: Role(row.Role), CreatedAt: at(row.CreatedAtMS),
		LastUsedAt: atOrZero(row.LastUsedAtMS), ExpiresAt: atOrZero(row.ExpiresAtMS),
	}, nil
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
// that no longer are.
func (s *Store) LendKey(ctx context.Context, name, prefix, keyHash string, role Role, expires time.Time) error {
	_, err := gorm.G[keyRow](s.db.Write()).Where("name = ? AND expires_at_ms <= ?", name, s.now().UnixMilli()).Delete(ctx)
	if err == nil {
		until := expires.UnixMilli()
		err = gorm.G[keyRow](s.db.Write()).Create(ctx, &keyRow{
			Name: name, Prefix: prefix, KeyHash: keyHash, Role: string(role), CreatedAtMS: s.now().UnixMilli(), ExpiresAtMS: &until,
		})
	}
	if err != nil {
		return fmt.Errorf("lend API key: %w", database.Translate(ctx, err))
	}
	return nil
}
