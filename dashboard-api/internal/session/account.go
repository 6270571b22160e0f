package session

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// ErrWrongPassword means that who is signed in could not say the password again.
var ErrWrongPassword = errors.New("this is not the password")

// Confirm has who is signed in say the password again, before what a stolen session
// must not do. It gives the account as of now. Guessing is slowed as it is at the door.
func (s *Sessions) Confirm(r *http.Request, identity Identity, password string) (accountstore.User, error) {
	account, address := identity.User.Email, s.clientAddress(r)
	if wait := s.throttle.Begin(account, address); wait > 0 {
		return accountstore.User{}, &ThrottledError{wait}
	}
	user, hash, err := s.store.UserByEmail(r.Context(), account)
	if err != nil {
		return accountstore.User{}, fmt.Errorf("confirm password: %w", err)
	}
	right, err := s.hasher.Check(r.Context(), hash, password)
	switch {
	case err != nil:
		return accountstore.User{}, fmt.Errorf("confirm password: %w", err)
	case !right || user.ID != identity.User.ID:
		return accountstore.User{}, ErrWrongPassword
	}
	s.throttle.Succeed(account, address)
	return user, nil
}

// ChangePassword replaces the password and ends every other session of the account.
func (s *Sessions) ChangePassword(r *http.Request, identity Identity, current, next string) error {
	user, err := s.Confirm(r, identity, current)
	if err != nil {
		return err
	}
	hash, err := s.hasher.Hash(r.Context(), next)
	if err != nil {
		return fmt.Errorf("change password: %w", err)
	}
	return s.store.SetPassword(r.Context(), user, hash, identity.SessionID)
}
