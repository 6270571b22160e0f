package accountstore

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// What can be wrong with somebody whom a provider knows.
var (
	ErrUnknownPerson = errors.New("nobody has invited this person")
	ErrOtherIdentity = errors.New("the account is somebody else's to the provider")
)

// Identity is who somebody is to a provider of single sign-on.
type Identity struct {
	Issuer, Subject string
}

type identityRow struct {
	ID          int64  `gorm:"column:id;primaryKey"`
	UserID      int64  `gorm:"column:user_id"`
	Issuer      string `gorm:"column:issuer"`
	Subject     string `gorm:"column:subject"`
	CreatedAtMS int64  `gorm:"column:created_at_ms"`
}

func (identityRow) TableName() string { return "identities" }

// IdentityUser gives the user that an identity is bound to, or ErrNotFound.
func (s *Store) IdentityUser(ctx context.Context, who Identity) (User, error) {
	row, err := gorm.G[identityRow](s.db.Read()).Where("issuer = ? AND subject = ?", who.Issuer, who.Subject).Take(ctx)
	if err != nil {
		return User{}, fmt.Errorf("get identity: %w", notFound(ctx, err))
	}
	user, err := gorm.G[userRow](s.db.Read()).Where("id = ?", row.UserID).Take(ctx)
	if err != nil {
		return User{}, fmt.Errorf("get the identity's user: %w", notFound(ctx, err))
	}
	return user.user(), nil
}

// BindIdentity has an identity be a user's from now on; ErrOtherIdentity if the user is
// another one to this provider already, or the identity another user's.
func (s *Store) BindIdentity(ctx context.Context, userID int64, who Identity) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error { return s.bind(ctx, tx, userID, who) })
	if errors.Is(err, database.ErrDuplicate) {
		err = ErrOtherIdentity
	}
	if err != nil {
		return fmt.Errorf("bind identity: %w", err)
	}
	return nil
}

func (s *Store) bind(ctx context.Context, tx *gorm.DB, userID int64, who Identity) error {
	return gorm.G[identityRow](tx).Create(ctx, &identityRow{UserID: userID, Issuer: who.Issuer, Subject: who.Subject, CreatedAtMS: s.now().UnixMilli()})
}

// Join makes an account without a password for who was invited by this address, by somebody who
// may still invite, using the newest invitation up, or else with the role of strangers; ErrUnknownPerson if they have none.
func (s *Store) Join(ctx context.Context, who Identity, email, name string, strangers Role) (user User, invited bool, err error) {
	var row userRow
	err = s.db.Tx(ctx, func(tx *gorm.DB) error {
		now := s.now().UnixMilli()
		row = userRow{Email: normal(email), Name: name, Role: string(strangers), CreatedAtMS: now, Version: 1}
		invitation, err := s.invitationFor(ctx, tx, row.Email)
		switch {
		case err == nil:
			n, err := gorm.G[invitationRow](tx).Where("id = ? AND "+unused, invitation.ID, now).Update(ctx, "accepted_at_ms", now)
			if err == nil && n == 0 {
				err = ErrConflict // somebody has used it up meanwhile
			}
			if err != nil {
				return err
			}
			row.Role, invited = invitation.Role, true
		case !errors.Is(err, ErrBadInvitation):
			return err
		case strangers == "":
			return ErrUnknownPerson
		}
		if err := gorm.G[userRow](tx).Create(ctx, &row); err != nil {
			return err
		}
		if err := s.withdraw(ctx, tx, row.Email); err != nil {
			return err
		}
		return s.bind(ctx, tx, row.ID, who)
	})
	if errors.Is(err, database.ErrDuplicate) {
		err = ErrConflict
	}
	if err != nil {
		return User{}, false, fmt.Errorf("join: %w", err)
	}
	return row.user(), invited, nil
}

// invitationFor is the newest invitation for an address that can be used, or ErrBadInvitation.
func (s *Store) invitationFor(ctx context.Context, tx *gorm.DB, email string) (invitationRow, error) {
	rows, err := gorm.G[invitationRow](tx).Where("email = ? AND "+unused, email, s.now().UnixMilli()).Order("id DESC").Find(ctx)
	if err != nil {
		return invitationRow{}, err
	}
	for _, row := range rows {
		if err := mayInvite(ctx, tx, row.CreatedBy, s.now()); !errors.Is(err, ErrBadInvitation) {
			return row, err
		}
	}
	return invitationRow{}, ErrBadInvitation
}
