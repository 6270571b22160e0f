package session

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// freshFor is how long after showing who it is somebody without a password counts as having said it.
const freshFor = 10 * time.Minute

// What can be wrong with saying the password again.
var (
	ErrWrongPassword = errors.New("this is not the password")
	ErrSignInAgain   = errors.New("this sign-in is too long ago")
)

// Confirm has who is signed in say the password again, before what a stolen session
// must not do. It gives the account as of now. Guessing is slowed by session: who has stolen one
// holds up nobody else. Who
// has no password has shown just now instead who it is, to a provider that says so or with a passkey.
func (s *Sessions) Confirm(r *http.Request, identity Identity, password string) (user accountstore.User, err error) {
	if identity.User.Passwordless {
		if s.now().Sub(identity.Proven) > freshFor {
			return accountstore.User{}, ErrSignInAgain
		}
		return *identity.User, nil
	}
	tried, err := s.begin(At(identity.User.Email, "session "+strconv.FormatInt(identity.SessionID, 10)))
	if err != nil {
		return accountstore.User{}, err
	}
	defer func() { tried.ended(err) }()
	user, hash, err := s.store.UserByEmail(r.Context(), identity.User.Email)
	if err != nil {
		return accountstore.User{}, fmt.Errorf("confirm password: %w", err)
	}
	right, err := s.hasher.Reserved().Check(r.Context(), hash, password)
	switch {
	case err != nil:
		return accountstore.User{}, fmt.Errorf("confirm password: %w", err)
	case !right || user.ID != identity.User.ID:
		return accountstore.User{}, ErrWrongPassword
	}
	tried.succeeded()
	return user, nil
}

// ChangePassword replaces the password and ends every other session of the account, its keys and
// its invitations. No browser is known any more but this one, by its new cookie.
func (s *Sessions) ChangePassword(r *http.Request, identity Identity, current, next string) (ended accountstore.Ended, known *http.Cookie, err error) {
	user, err := s.Confirm(r, identity, current)
	if err != nil {
		return ended, nil, err
	}
	hash, err := s.hasher.Reserved().Hash(r.Context(), next)
	if err != nil {
		return ended, nil, fmt.Errorf("change password: %w", err)
	}
	if ended, err = s.store.SetPassword(r.Context(), user, hash, identity.SessionID); err != nil {
		return ended, nil, err
	}
	return ended, s.knowAgain(r, user), nil
}

// Accept makes the account that an invitation is for and signs the browser in. Of any
// number of calls at once one wins. User is the account that was made also with an error: the
// sign-in after it may fail.
func (s *Sessions) Accept(r *http.Request, token, email, name, password string) (user accountstore.User, cookie *http.Cookie, err error) {
	ctx := r.Context()
	tried, err := s.begin(From(s.Place(r)))
	if err != nil {
		return accountstore.User{}, nil, err
	}
	defer func() { tried.ended(err) }()
	// Asked first because it is cheap: who has no invitation cannot make us hash passwords.
	invitation, err := s.store.InvitationValid(ctx, HashToken(token), s.now())
	if err != nil {
		return accountstore.User{}, nil, err
	}
	if s.provider != nil && invitation.Email == "" { // at a first single sign-on the address says whose an account is
		return accountstore.User{}, nil, accountstore.ErrBadInvitation
	}
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return accountstore.User{}, nil, fmt.Errorf("accept invitation: %w", err)
	}
	user, err = s.store.AcceptInvitation(ctx, HashToken(token), email, name, hash)
	if err != nil {
		return accountstore.User{}, nil, err
	}
	tried.succeeded()
	cookie, err = s.enter(r, user, s.now())
	return user, cookie, err
}
