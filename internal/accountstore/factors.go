package accountstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
)

// ErrFactorOn means that a user has a second factor already.
var ErrFactorOn = errors.New("there is a second factor already")

// Factor is a user's second factor.
type Factor struct {
	Secret    uptime.Sealed
	Confirmed bool // else it does not count yet
}

type factorRow struct {
	UserID        int64  `gorm:"column:user_id;primaryKey"`
	Secret        string `gorm:"column:secret"`
	LastStep      int64  `gorm:"column:last_step"`
	CreatedAtMS   int64  `gorm:"column:created_at_ms"`
	ConfirmedAtMS *int64 `gorm:"column:confirmed_at_ms"`
}

func (factorRow) TableName() string { return "second_factors" }

type recoveryRow struct {
	ID       int64  `gorm:"column:id;primaryKey"`
	UserID   int64  `gorm:"column:user_id"`
	CodeHash string `gorm:"column:code_hash"`
	UsedAtMS *int64 `gorm:"column:used_at_ms"`
}

func (recoveryRow) TableName() string { return "recovery_codes" }

// Enrol stores a second factor that does not count before ConfirmFactor, in place of
// one that never was; ErrFactorOn if one counts.
func (s *Store) Enrol(ctx context.Context, userID int64, secret uptime.Sealed) error {
	done := s.db.Write().WithContext(ctx).Exec(`INSERT INTO second_factors (user_id, secret, last_step, created_at_ms) VALUES (?, ?, 0, ?)
ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0, created_at_ms = excluded.created_at_ms WHERE second_factors.confirmed_at_ms IS NULL`,
		userID, string(secret), s.now().UnixMilli())
	err := database.Translate(ctx, done.Error)
	if err == nil && done.RowsAffected == 0 {
		err = ErrFactorOn
	}
	if err != nil {
		return fmt.Errorf("enrol: %w", err)
	}
	return nil
}

// SecondFactor gives a user's second factor, or ErrNotFound.
func (s *Store) SecondFactor(ctx context.Context, userID int64) (Factor, error) {
	row, err := gorm.G[factorRow](s.db.Read()).Where("user_id = ?", userID).Take(ctx)
	if err != nil {
		return Factor{}, fmt.Errorf("get second factor: %w", notFound(ctx, err))
	}
	return Factor{Secret: uptime.Sealed(row.Secret), Confirmed: row.ConfirmedAtMS != nil}, nil
}

// ConfirmFactor has a second factor count from now on, its code of that step used, with
// these recovery codes, and ends every session of the user but one; ErrConflict if it is not the
// one that was enrolled last, or the password or the role has changed since user was read.
func (s *Store) ConfirmFactor(ctx context.Context, user User, keep int64, secret uptime.Sealed, step int64, codeHashes []string) error {
	userID := user.ID
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := renew(ctx, tx, user, keep, map[string]any{}); err != nil {
			return err
		}
		done := tx.Table("second_factors").Where("user_id = ? AND secret = ? AND confirmed_at_ms IS NULL", userID, string(secret)).
			Updates(map[string]any{"confirmed_at_ms": s.now().UnixMilli(), "last_step": step})
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return ErrConflict
		}
		if _, err := gorm.G[recoveryRow](tx).Where("user_id = ?", userID).Delete(ctx); err != nil {
			return err
		}
		rows := make([]recoveryRow, len(codeHashes))
		for i, hash := range codeHashes {
			rows[i] = recoveryRow{UserID: userID, CodeHash: hash}
		}
		return gorm.G[recoveryRow](tx).CreateInBatches(ctx, &rows, len(rows))
	})
	if err != nil {
		return fmt.Errorf("confirm second factor: %w", err)
	}
	return nil
}

// UseStep uses up the code of a step, and all before: false if it was used.
func (s *Store) UseStep(ctx context.Context, userID, step int64) (bool, error) {
	n, err := gorm.G[factorRow](s.db.Write()).Where("user_id = ? AND confirmed_at_ms IS NOT NULL AND last_step < ?", userID, step).Update(ctx, "last_step", step)
	if err != nil {
		return false, fmt.Errorf("use code: %w", database.Translate(ctx, err))
	}
	return n == 1, nil
}

// UseRecoveryCode uses a recovery code up: false if there is none, or it was used.
func (s *Store) UseRecoveryCode(ctx context.Context, userID int64, codeHash string) (bool, error) {
	n, err := gorm.G[recoveryRow](s.db.Write()).Where("user_id = ? AND code_hash = ? AND used_at_ms IS NULL", userID, codeHash).Update(ctx, "used_at_ms", s.now().UnixMilli())
	if err != nil {
		return false, fmt.Errorf("use recovery code: %w", database.Translate(ctx, err))
	}
	return n == 1, nil
}

// RecoveryCodesLeft counts the recovery codes that were not used.
func (s *Store) RecoveryCodesLeft(ctx context.Context, userID int64) (int64, error) {
	n, err := gorm.G[recoveryRow](s.db.Read()).Where("user_id = ? AND used_at_ms IS NULL", userID).Count(ctx, "id")
	if err != nil {
		return 0, fmt.Errorf("count recovery codes: %w", database.Translate(ctx, err))
	}
	return n, nil
}

// RemoveFactor removes the second factor of a user as read, with its recovery codes: ErrConflict if
// how the user signs in has changed since. One that is not there is no error.
func (s *Store) RemoveFactor(ctx context.Context, user User) error {
	err := s.db.Tx(ctx, func(tx *gorm.DB) error {
		if err := holdUser(tx, user); err != nil {
			return err
		}
		if _, err := gorm.G[recoveryRow](tx).Where("user_id = ?", user.ID).Delete(ctx); err != nil {
			return err
		}
		_, err := gorm.G[factorRow](tx).Where("user_id = ?", user.ID).Delete(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove second factor: %w", err)
	}
	return nil
}

// Challenge is something begun, to be finished with a token.
type Challenge struct {
	Kind    string
	User    User // whose it is, as far as ID and Epoch; zero: nobody's yet
	Payload string
	Expires time.Time
}

type challengeRow struct {
	TokenHash   string `gorm:"column:token_hash;primaryKey"`
	Kind        string `gorm:"column:kind"`
	UserID      *int64 `gorm:"column:user_id"`
	Epoch       int64  `gorm:"column:epoch"`
	Payload     string `gorm:"column:payload"`
	ExpiresAtMS int64  `gorm:"column:expires_at_ms"`
}

func (challengeRow) TableName() string { return "challenges" }

// SaveChallenge stores what was begun.
func (s *Store) SaveChallenge(ctx context.Context, tokenHash string, c Challenge) error {
	row := challengeRow{TokenHash: tokenHash, Kind: c.Kind, Epoch: c.User.Epoch, Payload: c.Payload, ExpiresAtMS: c.Expires.UnixMilli()}
	if c.User.ID != 0 {
		row.UserID = &c.User.ID
	}
	if err := gorm.G[challengeRow](s.db.Write()).Create(ctx, &row); err != nil {
		return fmt.Errorf("save challenge: %w", database.Translate(ctx, err))
	}
	return nil
}

// Challenge gives what was begun, with its user as of now, or ErrNotFound: also once
// the user's password or role is another one.
func (s *Store) Challenge(ctx context.Context, tokenHash, kind string, now time.Time) (Challenge, error) {
	row, err := gorm.G[challengeRow](s.db.Read()).Where("token_hash = ? AND kind = ? AND expires_at_ms > ?", tokenHash, kind, now.UnixMilli()).Take(ctx)
	if err != nil {
		return Challenge{}, fmt.Errorf("get challenge: %w", notFound(ctx, err))
	}
	c := Challenge{Kind: row.Kind, Payload: row.Payload, Expires: at(row.ExpiresAtMS)}
	if row.UserID != nil {
		user, err := gorm.G[userRow](s.db.Read()).Where("id = ? AND epoch = ?", *row.UserID, row.Epoch).Take(ctx)
		if err != nil {
			return Challenge{}, fmt.Errorf("get the challenge's user: %w", notFound(ctx, err))
		}
		c.User = user.user()
	}
	return c, nil
}

// EndChallenge uses a challenge up: false if somebody else has.
func (s *Store) EndChallenge(ctx context.Context, tokenHash string) (bool, error) {
	n, err := gorm.G[challengeRow](s.db.Write()).Where("token_hash = ?", tokenHash).Delete(ctx)
	if err != nil {
		return false, fmt.Errorf("end challenge: %w", database.Translate(ctx, err))
	}
	return n == 1, nil
}
