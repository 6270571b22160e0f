package accountstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// Invitation is a way in for one person.
type Invitation struct {
	ID         int64
	Email      string // the only address it is for; empty: any
	Role       Role
	CreatedBy  string // as the audit log names who made it
	CreatedAt  time.Time
	ExpiresAt  time.Time
	AcceptedAt time.Time // zero: not yet
	RevokedAt  time.Time // zero: not
}

type invitationRow struct {
	ID           int64  `gorm:"column:id;primaryKey"`
	TokenHash    string `gorm:"column:token_hash"`
	Email        string `gorm:"column:email"`
	Role         string `gorm:"column:role"`
	CreatedBy    string `gorm:"column:created_by"`
	CreatedAtMS  int64  `gorm:"column:created_at_ms"`
	ExpiresAtMS  int64  `gorm:"column:expires_at_ms"`
	AcceptedAtMS *int64 `gorm:"column:accepted_at_ms"`
	RevokedAtMS  *int64 `gorm:"column:revoked_at_ms"`
}

func (invitationRow) TableName() string { return "invitations" }

func (r invitationRow) invitation() Invitation {
	return Invitation{
		ID: r.ID, Email: r.Email, Role: Role(r.Role), CreatedBy: r.CreatedBy, CreatedAt: at(r.CreatedAtMS),
		ExpiresAt: at(r.ExpiresAtMS), AcceptedAt: atOrZero(r.AcceptedAtMS), RevokedAt: atOrZero(r.RevokedAtMS),
	}
}

// Invite stores an invitation. The email, if any, is the only one it is for. ErrConflict if how its
// maker signs in has changed since that was read; the zero User: a key makes it, as by says.
func (s *Store) Invite(ctx context.Context, maker User, tokenHash, email string, role Role, by string, expires time.Time) (Invitation, error) {
	row := invitationRow{TokenHash: tokenHash, Email: normal(email), Role: string(role), CreatedBy: by, CreatedAtMS: s.now().UnixMilli(), ExpiresAtMS: expires.UnixMilli()}
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		row.ID = 0
		if err := holdMaker(tx, maker); err != nil {
			return err
		}
		return gorm.G[invitationRow](tx).Create(ctx, &row)
	})
	if err != nil {
		return Invitation{}, fmt.Errorf("invite: %w", database.Translate(ctx, err))
	}
	return row.invitation(), nil
}

// Invitations lists invitations, the newest first; beforeID 0 begins.
func (s *Store) Invitations(ctx context.Context, beforeID int64, limit int) ([]Invitation, error) {
	query := gorm.G[invitationRow](s.db.Read()).Order("id DESC").Limit(limit)
	if beforeID > 0 {
		query = query.Where("id < ?", beforeID)
	}
	rows, err := query.Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", database.Translate(ctx, err))
	}
	all := make([]Invitation, len(rows))
	for i, row := range rows {
		all[i] = row.invitation()
	}
	return all, nil
}

// RevokeInvitation withdraws an invitation that nobody has used, and gives it; ErrNotFound if there is none.
func (s *Store) RevokeInvitation(ctx context.Context, id int64) (Invitation, error) {
	n, err := gorm.G[invitationRow](s.db.Write()).Where("id = ? AND accepted_at_ms IS NULL AND revoked_at_ms IS NULL", id).Update(ctx, "revoked_at_ms", s.now().UnixMilli())
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	var row invitationRow
	if err == nil {
		row, err = gorm.G[invitationRow](s.db.Write()).Where("id = ?", id).Take(ctx)
	}
	if err != nil {
		return Invitation{}, fmt.Errorf("revoke invitation: %w", database.Translate(ctx, err))
	}
	return row.invitation(), nil
}

// InvitationValid gives an invitation that can be used at now, or ErrBadInvitation.
func (s *Store) InvitationValid(ctx context.Context, tokenHash string, now time.Time) (Invitation, error) {
	row, err := gorm.G[invitationRow](s.db.Read()).Where(open, tokenHash, now.UnixMilli()).Take(ctx)
	if errors.Is(notFound(ctx, err), ErrNotFound) {
		return Invitation{}, ErrBadInvitation
	}
	if err != nil {
		return Invitation{}, database.Translate(ctx, err)
	}
	return row.invitation(), nil
}

// withdraw revokes what is left unused of the invitations for an address: who has come, or was
// removed, does not come in by another one.
func (s *Store) withdraw(ctx context.Context, tx *gorm.DB, email string) error {
	_, err := gorm.G[invitationRow](tx).Where("email = ? AND accepted_at_ms IS NULL AND revoked_at_ms IS NULL", email).Update(ctx, "revoked_at_ms", s.now().UnixMilli())
	return err
}

// withdrawOf revokes what is left unused of the invitations that a user has made, or a key of the
// user's, and counts them: who may invite nobody any more does not come back by one either.
func (s *Store) withdrawOf(ctx context.Context, tx *gorm.DB, userID int64) (int, error) {
	return s.withdrawBy(ctx, tx, "created_by = ? OR created_by IN (SELECT 'key:' || id FROM api_keys WHERE user_id = ?)", fmt.Sprint("user:", userID), userID)
}

func (s *Store) withdrawBy(ctx context.Context, tx *gorm.DB, whose string, args ...any) (int, error) {
	now := s.now().UnixMilli()
	return gorm.G[invitationRow](tx).Where(unused+" AND ("+whose+")", append([]any{now}, args...)...).Update(ctx, "revoked_at_ms", now)
}

// mayInvite is ErrBadInvitation unless who has made an invitation could make it now. It is asked
// when an invitation is used, since one may be made by a request that was under way while its
// maker was ended.
func mayInvite(ctx context.Context, tx *gorm.DB, by string, now time.Time) error {
	role, err := roleNow(ctx, tx, by, now)
	if errors.Is(err, ErrNotFound) || err == nil && role != RoleOwner {
		return ErrBadInvitation
	}
	return err
}

// roleNow is what an actor may at now, by the name that the audit log has for it; ErrNotFound if
// it comes in by no way.
func roleNow(ctx context.Context, tx *gorm.DB, actor string, now time.Time) (Role, error) {
	kind, text, _ := strings.Cut(actor, ":")
	id, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return "", ErrNotFound
	case kind == "user":
		row, err := gorm.G[userRow](tx).Where("id = ? AND disabled_at_ms IS NULL", id).Take(ctx)
		return Role(row.Role), notFound(ctx, err)
	case kind == "key":
		row, err := gorm.G[keyRow](tx).Where("id = ? AND "+valid, id, now.UnixMilli()).Take(ctx)
		if err != nil {
			return "", notFound(ctx, err)
		}
		key, err := keyNow(ctx, tx, row, now)
		return key.Role, err
	}
	return "", ErrNotFound
}

// unused is true of invitations that can be used at an instant, open of the one with a token.
const (
	unused = "accepted_at_ms IS NULL AND revoked_at_ms IS NULL AND expires_at_ms > ?"
	open   = "token_hash = ? AND " + unused
)

// AcceptInvitation uses an invitation up and creates its user, or does neither. Of
// any number of calls at once one wins: the others find it used, ErrBadInvitation.
// An invitation for one address is for no other (ErrOtherAddress), and one whose maker may
// invite nobody any more is not valid.
func (s *Store) AcceptInvitation(ctx context.Context, tokenHash, email, name, passwordHash string) (User, error) {
	var row userRow
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		now := s.now().UnixMilli()
		n, err := gorm.G[invitationRow](tx).Where(open, tokenHash, now).Update(ctx, "accepted_at_ms", now)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrBadInvitation
		}
		invitation, err := gorm.G[invitationRow](tx).Where("token_hash = ?", tokenHash).Take(ctx)
		if err != nil {
			return err
		}
		if err := mayInvite(ctx, tx, invitation.CreatedBy, s.now()); err != nil {
			return err
		}
		if email = normal(email); email == "" {
			email = invitation.Email
		}
		switch {
		case email == "":
			return ErrNoAddress
		case invitation.Email != "" && invitation.Email != email:
			return ErrOtherAddress
		}
		row = userRow{Email: email, Name: name, PasswordHash: passwordHash, Role: invitation.Role, CreatedAtMS: now, Version: 1}
		if err := gorm.G[userRow](tx).Create(ctx, &row); err != nil {
			return err
		}
		return s.withdraw(ctx, tx, email)
	})
	if errors.Is(err, database.ErrDuplicate) {
		err = ErrEmailTaken
	}
	if err != nil {
		return User{}, fmt.Errorf("accept invitation: %w", err)
	}
	return row.user(), nil
}
