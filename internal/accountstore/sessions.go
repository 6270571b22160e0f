package accountstore

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Session is a signed-in browser.
type Session struct {
	UserID     int64
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	ExpiresAt  time.Time // whatever happens
}

type sessionRow struct {
	TokenHash    string `gorm:"column:token_hash;primaryKey"`
	UserID       int64  `gorm:"column:user_id"`
	CreatedAtMS  int64  `gorm:"column:created_at_ms"`
	LastSeenAtMS int64  `gorm:"column:last_seen_at_ms"`
	ExpiresAtMS  int64  `gorm:"column:expires_at_ms"`
}

func (sessionRow) TableName() string { return "sessions" }

// CreateSession stores a session that ends at expires, or SessionMax from now
// if that is sooner, and after SessionIdle without a request.
func (s *Store) CreateSession(ctx context.Context, tokenHash string, userID int64, expires time.Time) error {
	now := s.now()
	if latest := now.Add(SessionMax); expires.After(latest) {
		expires = latest
	}
	row := sessionRow{TokenHash: tokenHash, UserID: userID, CreatedAtMS: now.UnixMilli(), LastSeenAtMS: now.UnixMilli(), ExpiresAtMS: expires.UnixMilli()}
	if err := gorm.G[sessionRow](s.db.Write()).Create(ctx, &row); err != nil {
		return fmt.Errorf("create session: %w", database.Translate(ctx, err))
	}
	return nil
}

// SessionUser gives the user of a session that is alive at now, or ErrNotFound.
// The role is read each time: a change of role holds for open sessions too.
func (s *Store) SessionUser(ctx context.Context, tokenHash string, now time.Time) (User, Session, error) {
	session, err := gorm.G[sessionRow](s.db.Read()).
		Where("token_hash = ? AND expires_at_ms > ? AND last_seen_at_ms > ?", tokenHash, now.UnixMilli(), now.Add(-SessionIdle).UnixMilli()).
		Take(ctx)
	if err != nil {
		return User{}, Session{}, fmt.Errorf("get session: %w", notFound(ctx, err))
	}
	user, err := gorm.G[userRow](s.db.Read()).Where("id = ?", session.UserID).Take(ctx)
	if err != nil {
		return User{}, Session{}, fmt.Errorf("get the session's user: %w", notFound(ctx, err))
	}
	return user.user(), Session{
		UserID: session.UserID, CreatedAt: at(session.CreatedAtMS), LastSeenAt: at(session.LastSeenAtMS), ExpiresAt: at(session.ExpiresAtMS),
	}, nil
}

// TouchSession records a request at now, which restarts the idle time. It writes
// at most once a TouchInterval, and never revives an expired session.
func (s *Store) TouchSession(ctx context.Context, tokenHash string, now time.Time) error {
	_, err := gorm.G[sessionRow](s.db.Write()).
		Where("token_hash = ? AND last_seen_at_ms <= ? AND last_seen_at_ms > ?", tokenHash, now.Add(-TouchInterval).UnixMilli(), now.Add(-SessionIdle).UnixMilli()).
		Update(ctx, "last_seen_at_ms", now.UnixMilli())
	if err != nil {
		return fmt.Errorf("touch session: %w", database.Translate(ctx, err))
	}
	return nil
}

// DeleteSession signs a browser out. An unknown session is no error.
func (s *Store) DeleteSession(ctx context.Context, tokenHash string) error {
	if _, err := gorm.G[sessionRow](s.db.Write()).Where("token_hash = ?", tokenHash).Delete(ctx); err != nil {
		return fmt.Errorf("delete session: %w", database.Translate(ctx, err))
	}
	return nil
}

// DeleteExpired removes sessions and kept answers that are past their time at
// now: housekeeping only, since neither is ever returned.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) error {
	_, err := gorm.G[sessionRow](s.db.Write()).
		Where("expires_at_ms <= ? OR last_seen_at_ms <= ?", now.UnixMilli(), now.Add(-SessionIdle).UnixMilli()).Delete(ctx)
	if err != nil {
		return fmt.Errorf("delete expired sessions: %w", database.Translate(ctx, err))
	}
	_, err = gorm.G[answerRow](s.db.Write()).Where("created_at_ms <= ?", now.Add(-AnswersKept).UnixMilli()).Delete(ctx)
	if err != nil {
		return fmt.Errorf("delete expired answers: %w", database.Translate(ctx, err))
	}
	return nil
}
