package accountstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
)

// User is a person who can sign in.
type User struct {
	ID        int64
	Email     string // lower case
	Name      string
	Role      Role
	CreatedAt time.Time
	Version   int64 // rises with the name, the address, the role, and being disabled or enabled
	Epoch     int64 // rises with what ends sessions: a new password, another role, a second factor, being disabled

	Passwordless bool      // signs in by other ways only
	DisabledAt   time.Time // since when the user comes in by no way; zero: not so
}

type userRow struct {
	ID           int64  `gorm:"column:id;primaryKey"`
	Email        string `gorm:"column:email"`
	Name         string `gorm:"column:name"`
	PasswordHash string `gorm:"column:password_hash"`
	Role         string `gorm:"column:role"`
	CreatedAtMS  int64  `gorm:"column:created_at_ms"`
	Epoch        int64  `gorm:"column:epoch"`
	Version      int64  `gorm:"column:version"`

	DisabledAtMS *int64  `gorm:"column:disabled_at_ms"`
	Handle       *string `gorm:"column:handle"` // what authenticators know the user by; nil: none was asked yet
}

func (userRow) TableName() string { return "users" }

func (r userRow) user() User {
	return User{ID: r.ID, Email: r.Email, Name: r.Name, Role: Role(r.Role), CreatedAt: at(r.CreatedAtMS), Version: r.Version, Epoch: r.Epoch, Passwordless: r.PasswordHash == "", DisabledAt: atOrZero(r.DisabledAtMS)}
}

func (r userRow) handle() string {
	if r.Handle == nil {
		return ""
	}
	return *r.Handle
}

// HasOwner says whether the set-up is done.
func (s *Store) HasOwner(ctx context.Context) (bool, error) {
	exists, err := hasOwner(ctx, s.db.Read())
	if err != nil {
		return false, fmt.Errorf("look for an owner: %w", database.Translate(ctx, err))
	}
	return exists, nil
}

func hasOwner(ctx context.Context, tx *gorm.DB) (bool, error) {
	owners, err := gorm.G[userRow](tx).Where("role = ?", string(RoleOwner)).Count(ctx, "id")
	return owners > 0, err
}

// EnsureSetupToken makes this the one valid set-up token, in place of any
// before; ErrSetupDone once an owner exists.
func (s *Store) EnsureSetupToken(ctx context.Context, tokenHash string) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		exists, err := hasOwner(ctx, tx)
		if err != nil {
			return err
		}
		if exists {
			return ErrSetupDone
		}
		return tx.Exec(`INSERT INTO setup_tokens (id, token_hash, created_at_ms) VALUES (1, ?, ?)
ON CONFLICT (id) DO UPDATE SET token_hash = excluded.token_hash, created_at_ms = excluded.created_at_ms, used_at_ms = NULL`,
			tokenHash, s.now().UnixMilli()).Error
	})
	if err != nil {
		return fmt.Errorf("store the set-up token: %w", err)
	}
	return nil
}

// CreateFirstOwner uses the set-up token up and creates the owner, or does
// neither. Of any number of calls at once exactly one wins: they queue for the
// token's row, and who comes later finds it used and the owner there. The others
// get ErrSetupDone; a wrong token while there is no owner gets ErrBadToken.
func (s *Store) CreateFirstOwner(ctx context.Context, setupTokenHash, email, name, passwordHash string) (User, error) {
	row := userRow{Email: normal(email), Name: name, PasswordHash: passwordHash, Role: string(RoleOwner), Version: 1}
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		row.ID, row.CreatedAtMS = 0, s.now().UnixMilli()
		used := tx.Exec("UPDATE setup_tokens SET used_at_ms = ? WHERE id = 1 AND used_at_ms IS NULL AND token_hash = ?", row.CreatedAtMS, setupTokenHash)
		if used.Error != nil {
			return used.Error
		}
		exists, err := hasOwner(ctx, tx) // after the row is locked: sees the winner's commit
		switch {
		case err != nil:
			return err
		case exists:
			return ErrSetupDone
		case used.RowsAffected != 1:
			return ErrBadToken
		}
		return gorm.G[userRow](tx).Create(ctx, &row)
	})
	if errors.Is(err, database.ErrDuplicate) {
		return User{}, fmt.Errorf("create the first owner: %w", ErrEmailTaken)
	}
	if err != nil {
		return User{}, fmt.Errorf("create the first owner: %w", err)
	}
	return row.user(), nil
}

// UserByEmail gives a user and the hash of the password, or ErrNotFound.
func (s *Store) UserByEmail(ctx context.Context, email string) (User, string, error) {
	row, err := gorm.G[userRow](s.db.Read()).Where("email = ?", normal(email)).Take(ctx)
	if err != nil {
		return User{}, "", fmt.Errorf("get user: %w", notFound(ctx, err))
	}
	return row.user(), row.PasswordHash, nil
}

// Ended is what a new password has ended beside sessions.
type Ended struct {
	Keys        int // that were valid, with those that they made
	Invitations int // that nobody had used
}

// SetPassword replaces a password and ends what the old one has let in: every session of the user
// but one, the user's keys, and the invitations by either. ErrConflict if something of the kind
// has happened since user was read.
func (s *Store) SetPassword(ctx context.Context, user User, passwordHash string, keep int64) (ended Ended, err error) {
	err = s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if err = renew(ctx, tx, user, keep, map[string]any{"password_hash": passwordHash}); err != nil {
			return err
		}
		if ended.Invitations, err = s.withdrawOf(ctx, tx, user.ID); err != nil {
			return err
		}
		now := s.now().UnixMilli()
		ended.Keys, err = gorm.G[keyRow](tx).Where("user_id = ? AND "+valid, user.ID, now).Update(ctx, "revoked_at_ms", now)
		return err
	})
	if err != nil {
		return Ended{}, fmt.Errorf("set password: %w", err)
	}
	return ended, nil
}

// Member is a user as those see who look after users.
type Member struct {
	User
	LastSeenAt   time.Time // to the minute; zero: in no session that is left
	SecondFactor bool
}

type memberRow struct {
	User         userRow `gorm:"embedded"`
	LastSeenAtMS *int64  `gorm:"column:last_seen_at_ms"`
	SecondFactor bool    `gorm:"column:second_factor"`
}

// Members lists users by id.
func (s *Store) Members(ctx context.Context, afterID int64, limit int) ([]Member, error) {
	var rows []memberRow
	err := s.db.Read().WithContext(ctx).Raw(`SELECT users.*,
	(SELECT MAX(last_seen_at_ms) FROM sessions WHERE sessions.user_id = users.id) AS last_seen_at_ms,
	EXISTS (SELECT 1 FROM second_factors WHERE second_factors.user_id = users.id AND confirmed_at_ms IS NOT NULL) AS second_factor
FROM users WHERE id > ? ORDER BY id LIMIT ?`, afterID, limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list users: %w", database.Translate(ctx, err))
	}
	all := make([]Member, len(rows))
	for i, row := range rows {
		all[i] = Member{User: row.User.user(), LastSeenAt: atOrZero(row.LastSeenAtMS), SecondFactor: row.SecondFactor}
	}
	return all, nil
}

// SetRole gives a user another role and ends the user's sessions; who is an owner no more has
// nobody come in by an invitation of before. ErrLastOwner if nobody would be an owner
// afterwards; the same role again changes nothing. An ifVersion other than 0 must be the user's
// version, else ErrVersion.
func (s *Store) SetRole(ctx context.Context, id, ifVersion int64, role Role) (User, error) {
	var user User
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if user, err = alone(ctx, tx, id, ifVersion, role == RoleOwner); err != nil || user.Role == role {
			return err
		}
		if err = endEpoch(ctx, tx, user, map[string]any{"role": string(role), "version": user.Version + 1}); err != nil {
			return err
		}
		if user.Role == RoleOwner {
			if _, err = s.withdrawOf(ctx, tx, id); err != nil {
				return err
			}
		}
		user.Role, user.Version, user.Epoch = role, user.Version+1, user.Epoch+1
		_, err = gorm.G[sessionRow](tx).Where("user_id = ?", id).Delete(ctx)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("change role: %w", notFound(ctx, err))
	}
	return user, nil
}

// Disable has a user come in by no way from now on, or by all again: sessions end, keys do not
// count while it lasts, and invitations for or by the user are withdrawn. ErrLastOwner if no
// owner could come in afterwards; the same again changes nothing. An ifVersion other than 0 must
// be the user's version, else ErrVersion.
func (s *Store) Disable(ctx context.Context, id, ifVersion int64, disabled bool) (User, error) {
	var user User
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if user, err = alone(ctx, tx, id, ifVersion, !disabled); err != nil || user.DisabledAt.IsZero() != disabled {
			return err
		}
		now := s.now().UnixMilli()
		change := map[string]any{"disabled_at_ms": nil, "version": user.Version + 1}
		if disabled {
			change["disabled_at_ms"] = now
		}
		if err = endEpoch(ctx, tx, user, change); err != nil {
			return err
		}
		user.Version, user.Epoch, user.DisabledAt = user.Version+1, user.Epoch+1, time.Time{}
		if !disabled {
			return nil
		}
		user.DisabledAt = at(now)
		if _, err = gorm.G[sessionRow](tx).Where("user_id = ?", id).Delete(ctx); err != nil {
			return err
		}
		if _, err = s.withdrawOf(ctx, tx, id); err != nil {
			return err
		}
		return s.withdraw(ctx, tx, user.Email)
	})
	if err != nil {
		return User{}, fmt.Errorf("disable user: %w", notFound(ctx, err))
	}
	return user, nil
}

// RemoveUser removes a user with all that is the user's: sessions, keys and ways
// to sign in, and the invitations for or by the user that nobody has used. ErrLastOwner if
// nobody would be an owner afterwards. An ifVersion other than 0 must be the user's version, else
// ErrVersion.
func (s *Store) RemoveUser(ctx context.Context, id, ifVersion int64) (User, error) {
	var user User
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if user, err = alone(ctx, tx, id, ifVersion, false); err != nil {
			return err
		}
		if _, err = s.withdrawOf(ctx, tx, id); err != nil {
			return err
		}
		if _, err = gorm.G[userRow](tx).Where("id = ?", id).Delete(ctx); err != nil {
			return err
		}
		return s.withdraw(ctx, tx, user.Email)
	})
	if err != nil {
		return User{}, fmt.Errorf("remove user: %w", notFound(ctx, err))
	}
	return user, nil
}

// alone reads a user to be changed while no other change of who is an owner is under
// way: they queue for the set-up token's row, which is there since before the first
// owner was. ErrVersion unless it is as ifVersion says (0: whatever it is), ErrLastOwner unless
// another is left who can come in, or this one stays one.
func alone(ctx context.Context, tx *gorm.DB, id, ifVersion int64, stays bool) (User, error) {
	queue := tx.WithContext(ctx).Exec(`INSERT INTO setup_tokens (id, token_hash, created_at_ms, used_at_ms) VALUES (1, '', 0, 0)
ON CONFLICT (id) DO UPDATE SET token_hash = setup_tokens.token_hash`)
	if queue.Error != nil {
		return User{}, queue.Error
	}
	row, err := readHeld(ctx, tx, id, ifVersion)
	if err != nil || stays || row.Role != string(RoleOwner) || row.DisabledAtMS != nil {
		return row.user(), err
	}
	others, err := gorm.G[userRow](tx).Where("role = ? AND id <> ? AND disabled_at_ms IS NULL", string(RoleOwner), id).Count(ctx, "id")
	if err == nil && others == 0 {
		err = ErrLastOwner
	}
	return row.user(), err
}

// readHeld reads a user whom nobody else changes until the transaction is over. An ifVersion other
// than 0 must be the version, else ErrVersion.
func readHeld(ctx context.Context, tx *gorm.DB, id, ifVersion int64) (userRow, error) {
	if err := tx.WithContext(ctx).Exec("UPDATE users SET version = version WHERE id = ?", id).Error; err != nil {
		return userRow{}, err
	}
	row, err := gorm.G[userRow](tx).Where("id = ?", id).Take(ctx)
	if err == nil && ifVersion != 0 && row.Version != ifVersion {
		err = ErrVersion
	}
	return row, err
}

// endEpoch changes columns of a user and begins another epoch, in which no session counts yet.
func endEpoch(ctx context.Context, tx *gorm.DB, user User, change map[string]any) error {
	change["epoch"] = user.Epoch + 1
	done := tx.WithContext(ctx).Table("users").Where("id = ? AND epoch = ?", user.ID, user.Epoch).Updates(change)
	if done.Error == nil && done.RowsAffected != 1 {
		return ErrConflict
	}
	return done.Error
}

// renew changes columns of a user and begins another epoch, into which one session comes along.
func renew(ctx context.Context, tx *gorm.DB, user User, keep int64, change map[string]any) error {
	if err := endEpoch(ctx, tx, user, change); err != nil {
		return err
	}
	if _, err := gorm.G[sessionRow](tx).Where("user_id = ? AND id <> ?", user.ID, keep).Delete(ctx); err != nil {
		return err
	}
	_, err := gorm.G[sessionRow](tx).Where("user_id = ? AND id = ?", user.ID, keep).Update(ctx, "epoch", user.Epoch+1)
	return err
}

// SetProfile changes how a user as read is called, and the address to sign in with: ErrConflict if
// how the user signs in has changed since. An ifVersion other than 0 must be the user's version,
// else ErrVersion. The same again changes nothing.
func (s *Store) SetProfile(ctx context.Context, user User, ifVersion int64, name, email string) (User, error) {
	var row userRow
	err := s.db.Tx(ctx, func(tx *gorm.DB) (err error) {
		if row, err = readHeld(ctx, tx, user.ID, ifVersion); err != nil {
			return err
		}
		if row.Epoch != user.Epoch {
			return ErrConflict
		}
		if row.Name == name && row.Email == normal(email) {
			return nil
		}
		row.Name, row.Email, row.Version = name, normal(email), row.Version+1
		return tx.WithContext(ctx).Table("users").Where("id = ?", user.ID).Updates(map[string]any{"name": row.Name, "email": row.Email, "version": row.Version}).Error
	})
	if errors.Is(err, database.ErrDuplicate) {
		err = ErrEmailTaken
	}
	if err != nil {
		return User{}, fmt.Errorf("change profile: %w", notFound(ctx, err))
	}
	return row.user(), nil
}

func notFound(ctx context.Context, err error) error {
	err = database.Translate(ctx, err)
	if errors.Is(err, database.ErrNoRow) {
		return ErrNotFound
	}
	return err
}
