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
	ID         int64
	UserID     int64
	Client     Client
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	ExpiresAt  time.Time // whatever happens
}

// Client is how a session began.
type Client struct {
	Address   string // as people recognise it, like the next
	UserAgent string
	Proven    time.Time // when the person showed who it is, to us or to a provider; zero: nobody can say
}

type sessionRow struct {
	ID           int64  `gorm:"column:id;primaryKey"`
	TokenHash    string `gorm:"column:token_hash"`
	UserID       int64  `gorm:"column:user_id"`
	Epoch        int64  `gorm:"column:epoch"`
	Address      string `gorm:"column:address"`
	UserAgent    string `gorm:"column:user_agent"`
	CreatedAtMS  int64  `gorm:"column:created_at_ms"`
	LastSeenAtMS int64  `gorm:"column:last_seen_at_ms"`
	ExpiresAtMS  int64  `gorm:"column:expires_at_ms"`
	ProvenAtMS   int64  `gorm:"column:proven_at_ms"`
}

func (sessionRow) TableName() string { return "sessions" }

func (r sessionRow) session() Session {
	session := Session{
		ID: r.ID, UserID: r.UserID, Client: Client{Address: r.Address, UserAgent: r.UserAgent},
		CreatedAt: at(r.CreatedAtMS), LastSeenAt: at(r.LastSeenAtMS), ExpiresAt: at(r.ExpiresAtMS),
	}
	if r.ProvenAtMS > 0 {
		session.Client.Proven = at(r.ProvenAtMS)
	}
	return session
}

// CreateSession stores a session that ends at expires, or SessionMax from now
// if that is sooner, and after SessionIdle without a request. It is of the user as
// read: if the password or the role has changed since, or the user is disabled, it never counts.
func (s *Store) CreateSession(ctx context.Context, tokenHash string, user User, client Client, expires time.Time) error {
	now := s.now()
	if latest := now.Add(SessionMax); expires.After(latest) {
		expires = latest
	}
	row := sessionRow{
		TokenHash: tokenHash, UserID: user.ID, Epoch: user.Epoch, Address: client.Address, UserAgent: client.UserAgent,
		CreatedAtMS: now.UnixMilli(), LastSeenAtMS: now.UnixMilli(), ExpiresAtMS: expires.UnixMilli(), ProvenAtMS: max(0, client.Proven.UnixMilli()),
	}
	if err := gorm.G[sessionRow](s.db.Write()).Create(ctx, &row); err != nil {
		return fmt.Errorf("create session: %w", database.Translate(ctx, err))
	}
	return nil
}

// alive is true of sessions that count at an instant, asked with living(instant).
const alive = "expires_at_ms > ? AND last_seen_at_ms > ? AND epoch = (SELECT epoch FROM users WHERE users.id = sessions.user_id)"

func living(now time.Time, more ...any) []any {
	return append([]any{now.UnixMilli(), now.Add(-SessionIdle).UnixMilli()}, more...)
}

// SessionUser gives the user of a session that is alive at now, or ErrNotFound.
// The role is read each time: a change of role holds for open sessions too.
func (s *Store) SessionUser(ctx context.Context, tokenHash string, now time.Time) (User, Session, error) {
	session, err := gorm.G[sessionRow](s.db.Read()).Where(alive+" AND token_hash = ?", living(now, tokenHash)...).Take(ctx)
	if err != nil {
		return User{}, Session{}, fmt.Errorf("get session: %w", notFound(ctx, err))
	}
	user, err := gorm.G[userRow](s.db.Read()).Where("id = ? AND epoch = ? AND disabled_at_ms IS NULL", session.UserID, session.Epoch).Take(ctx)
	if err != nil {
		return User{}, Session{}, fmt.Errorf("get the session's user: %w", notFound(ctx, err))
	}
	return user.user(), session.session(), nil
}

// Sessions lists the sessions of a user that are alive at now, the newest first.
func (s *Store) Sessions(ctx context.Context, userID int64, now time.Time) ([]Session, error) {
	rows, err := gorm.G[sessionRow](s.db.Read()).Where(alive+" AND user_id = ?", living(now, userID)...).Order("id DESC").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", database.Translate(ctx, err))
	}
	all := make([]Session, len(rows))
	for i, row := range rows {
		all[i] = row.session()
	}
	return all, nil
}

// EndSession ends a session of a user, and gives it; ErrNotFound if that user has none of this id.
func (s *Store) EndSession(ctx context.Context, userID, id int64) (Session, error) {
	var row sessionRow
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if row, err = gorm.G[sessionRow](tx).Where("id = ? AND user_id = ?", id, userID).Take(ctx); err == nil {
			_, err = gorm.G[sessionRow](tx).Where("id = ?", id).Delete(ctx)
		}
		return err
	})
	if err != nil {
		return Session{}, fmt.Errorf("end session: %w", notFound(ctx, err))
	}
	return row.session(), nil
}

// EndOtherSessions ends every session of a user but one.
func (s *Store) EndOtherSessions(ctx context.Context, userID, except int64) error {
	if _, err := gorm.G[sessionRow](s.db.Write()).Where("user_id = ? AND id <> ?", userID, except).Delete(ctx); err != nil {
		return fmt.Errorf("end other sessions: %w", database.Translate(ctx, err))
	}
	return nil
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

// DeleteExpired removes sessions, challenges and kept answers that are past their time
// at now: housekeeping only, since none is ever returned.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) error {
	_, err := gorm.G[sessionRow](s.db.Write()).
		Where("expires_at_ms <= ? OR last_seen_at_ms <= ?", now.UnixMilli(), now.Add(-SessionIdle).UnixMilli()).Delete(ctx)
	if err != nil {
		return fmt.Errorf("delete expired sessions: %w", database.Translate(ctx, err))
	}
	if _, err = gorm.G[challengeRow](s.db.Write()).Where("expires_at_ms <= ?", now.UnixMilli()).Delete(ctx); err != nil {
		return fmt.Errorf("delete expired challenges: %w", database.Translate(ctx, err))
	}
	_, err = gorm.G[answerRow](s.db.Write()).Where("created_at_ms <= ?", now.Add(-AnswersKept).UnixMilli()).Delete(ctx)
	if err != nil {
		return fmt.Errorf("delete expired answers: %w", database.Translate(ctx, err))
	}
	return nil
}
