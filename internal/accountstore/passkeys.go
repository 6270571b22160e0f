package accountstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// MaxPasskeys is how many passkeys a user may have.
const MaxPasskeys = 20

// What can be wrong with a passkey.
var (
	ErrPasskeyKnown    = errors.New("this passkey is registered already")
	ErrTooManyPasskeys = errors.New("too many passkeys")
	ErrLastWay         = errors.New("there is no other way to sign in")
)

// Passkey is a key of a user that stands in for the password and the second factor.
type Passkey struct {
	ID           int64
	UserID       int64
	CredentialID string // given by the authenticator, base64url
	Name         string
	Credential   string // JSON: the public key, and how it was made
	SignCount    uint32 // of the newest use; 0: the authenticator does not count
	CreatedAt    time.Time
	UsedAt       time.Time // zero: never
	BlockedAt    time.Time // its count went back: there may be a copy; zero: it counts
}

type passkeyRow struct {
	ID           int64  `gorm:"column:id;primaryKey"`
	UserID       int64  `gorm:"column:user_id"`
	CredentialID string `gorm:"column:credential_id"`
	Name         string `gorm:"column:name"`
	Credential   string `gorm:"column:credential"`
	SignCount    uint32 `gorm:"column:sign_count"`
	CreatedAtMS  int64  `gorm:"column:created_at_ms"`
	UsedAtMS     *int64 `gorm:"column:used_at_ms"`
	BlockedAtMS  *int64 `gorm:"column:blocked_at_ms"`
}

func (passkeyRow) TableName() string { return "passkeys" }

func (r passkeyRow) passkey() Passkey {
	return Passkey{
		ID: r.ID, UserID: r.UserID, CredentialID: r.CredentialID, Name: r.Name, Credential: r.Credential, SignCount: r.SignCount,
		CreatedAt: at(r.CreatedAtMS), UsedAt: atOrZero(r.UsedAtMS), BlockedAt: atOrZero(r.BlockedAtMS),
	}
}

// Handle is what authenticators know a user by: the first that was offered stays.
func (s *Store) Handle(ctx context.Context, userID int64, offered string) (string, error) {
	if _, err := gorm.G[userRow](s.db.Write()).Where("id = ? AND handle IS NULL", userID).Update(ctx, "handle", offered); err != nil {
		return "", fmt.Errorf("give a handle: %w", database.Translate(ctx, err))
	}
	row, err := gorm.G[userRow](s.db.Write()).Where("id = ?", userID).Take(ctx)
	if err != nil {
		return "", fmt.Errorf("get handle: %w", notFound(ctx, err))
	}
	return row.handle(), nil
}

// Passkeys lists the passkeys of a user by id.
func (s *Store) Passkeys(ctx context.Context, userID int64) ([]Passkey, error) {
	rows, err := gorm.G[passkeyRow](s.db.Read()).Where("user_id = ?", userID).Order("id").Find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", database.Translate(ctx, err))
	}
	all := make([]Passkey, len(rows))
	for i, row := range rows {
		all[i] = row.passkey()
	}
	return all, nil
}

// AddPasskey stores a passkey of a user as read: ErrConflict if the password or the role
// has changed since.
func (s *Store) AddPasskey(ctx context.Context, user User, p Passkey) (Passkey, error) {
	row := passkeyRow{UserID: user.ID, CredentialID: p.CredentialID, Name: p.Name, Credential: p.Credential, SignCount: p.SignCount}
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		row.ID, row.CreatedAtMS = 0, s.now().UnixMilli()
		if err := holdUser(tx, user); err != nil {
			return err
		}
		n, err := gorm.G[passkeyRow](tx).Where("user_id = ?", user.ID).Count(ctx, "id")
		if err == nil && n >= MaxPasskeys {
			err = ErrTooManyPasskeys
		}
		if err != nil {
			return err
		}
		return gorm.G[passkeyRow](tx).Create(ctx, &row)
	})
	if errors.Is(err, database.ErrDuplicate) {
		err = ErrPasskeyKnown
	}
	if err != nil {
		return Passkey{}, fmt.Errorf("add passkey: %w", err)
	}
	return row.passkey(), nil
}

// holdUser has other changes of how a user signs in wait until this one is through; ErrConflict if
// there has been one since the user was read.
func holdUser(tx *gorm.DB, user User) error {
	held := tx.Exec("UPDATE users SET epoch = epoch WHERE id = ? AND epoch = ?", user.ID, user.Epoch)
	if held.Error == nil && held.RowsAffected != 1 {
		return ErrConflict
	}
	return held.Error
}

// holdMaker keeps what a person makes from outliving what ends it: who changes the password
// waits, or has been first, ErrConflict.
func holdMaker(tx *gorm.DB, maker User) error {
	if maker.ID == 0 {
		return nil
	}
	return holdUser(tx, maker)
}

// RenamePasskey calls a passkey of a user something else; ErrNotFound if that user has none of this id.
func (s *Store) RenamePasskey(ctx context.Context, userID, id int64, name string) (Passkey, error) {
	var row passkeyRow
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if _, err = gorm.G[passkeyRow](tx).Where("id = ? AND user_id = ?", id, userID).Update(ctx, "name", name); err == nil {
			row, err = gorm.G[passkeyRow](tx).Where("id = ? AND user_id = ?", id, userID).Take(ctx)
		}
		return err
	})
	if err != nil {
		return Passkey{}, fmt.Errorf("rename passkey: %w", notFound(ctx, err))
	}
	return row.passkey(), nil
}

// RemovePasskey removes a passkey of a user as read, and gives it: ErrConflict if how the user signs
// in has changed since; ErrLastWay if nothing else would let the user
// in: neither a password, nor another passkey that counts, nor the provider of this issuer.
func (s *Store) RemovePasskey(ctx context.Context, user User, id int64, issuer string) (Passkey, error) {
	var row passkeyRow
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if err = holdUser(tx, user); err != nil {
			return err
		}
		if row, err = gorm.G[passkeyRow](tx).Where("id = ? AND user_id = ?", id, user.ID).Take(ctx); err != nil {
			return notFound(ctx, err)
		}
		if _, err = gorm.G[passkeyRow](tx).Where("id = ?", id).Delete(ctx); err != nil {
			return err
		}
		var ways int64
		err = tx.Raw(`SELECT (SELECT count(*) FROM users WHERE id = ? AND password_hash <> '')
 + (SELECT count(*) FROM passkeys WHERE user_id = ? AND blocked_at_ms IS NULL)
 + (SELECT count(*) FROM identities WHERE user_id = ? AND issuer = ?)`, user.ID, user.ID, user.ID, issuer).Scan(&ways).Error
		if err == nil && ways == 0 {
			err = ErrLastWay
		}
		return err
	})
	if err != nil {
		return Passkey{}, fmt.Errorf("remove passkey: %w", err)
	}
	return row.passkey(), nil
}

// PasskeyUser gives a passkey by the authenticator's name of it, with its user as of now
// and what the authenticator knows the user by; or ErrNotFound.
func (s *Store) PasskeyUser(ctx context.Context, credentialID string) (p Passkey, user User, handle string, err error) {
	row, err := gorm.G[passkeyRow](s.db.Read()).Where("credential_id = ?", credentialID).Take(ctx)
	if err != nil {
		return p, user, "", fmt.Errorf("get passkey: %w", notFound(ctx, err))
	}
	owner, err := gorm.G[userRow](s.db.Read()).Where("id = ?", row.UserID).Take(ctx)
	if err != nil {
		return p, user, "", fmt.Errorf("get the passkey's user: %w", notFound(ctx, err))
	}
	return row.passkey(), owner.user(), owner.handle(), nil
}

// UsePasskey records a use with the authenticator's new count: false if the count did not
// rise, or the passkey is blocked or gone. Of two uses with one count one is recorded.
func (s *Store) UsePasskey(ctx context.Context, id int64, count uint32, credential string) (bool, error) {
	rising := "sign_count < ?"
	if count == 0 {
		rising = "sign_count = ?"
	}
	done := s.db.Write().WithContext(ctx).Table("passkeys").Where("id = ? AND blocked_at_ms IS NULL AND "+rising, id, int64(count)).
		Updates(map[string]any{"sign_count": int64(count), "credential": credential, "used_at_ms": s.now().UnixMilli()})
	if done.Error != nil {
		return false, fmt.Errorf("use passkey: %w", database.Translate(ctx, done.Error))
	}
	return done.RowsAffected == 1, nil
}

// BlockPasskey has a passkey count no more: false if it is blocked or gone already.
func (s *Store) BlockPasskey(ctx context.Context, id int64) (bool, error) {
	n, err := gorm.G[passkeyRow](s.db.Write()).Where("id = ? AND blocked_at_ms IS NULL", id).Update(ctx, "blocked_at_ms", s.now().UnixMilli())
	if err != nil {
		return false, fmt.Errorf("block passkey: %w", database.Translate(ctx, err))
	}
	return n == 1, nil
}
