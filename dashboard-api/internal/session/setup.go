package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// Prepare makes a new set-up token if there is no owner yet; "" if there is one.
// A token made before, by this or another node, ends.
func (s *Sessions) Prepare(ctx context.Context) (token string, err error) {
	token = NewToken()
	err = s.store.EnsureSetupToken(ctx, HashToken(token))
	if errors.Is(err, accountstore.ErrSetupDone) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("prepare set-up: %w", err)
	}
	return token, nil
}

// EnsureKey makes sure that an owner's API key exists, for automation. A key that
// was revoked stays revoked.
func (s *Sessions) EnsureKey(ctx context.Context, key string) error {
	if err := s.store.EnsureKey(ctx, "bootstrap", Prefix(key), HashToken(key), accountstore.RoleOwner); err != nil {
		return fmt.Errorf("ensure bootstrap key: %w", err)
	}
	return nil
}

// SetupNeeded says whether there is no owner yet.
func (s *Sessions) SetupNeeded(ctx context.Context) (bool, error) {
	done, err := s.store.HasOwner(ctx)
	return !done, err
}

// SetUp makes the first owner and signs the browser in. Of any number of calls at
// once one wins; the others get accountstore.ErrSetupDone. User is the account that was made also
// with an error: the sign-in after it may fail.
func (s *Sessions) SetUp(r *http.Request, token, email, name, password string) (user accountstore.User, cookie *http.Cookie, err error) {
	ctx := r.Context()
	// Asked first because it is cheap: once set up, nobody can make us hash passwords here.
	if needed, err := s.SetupNeeded(ctx); err != nil {
		return accountstore.User{}, nil, err
	} else if !needed {
		return accountstore.User{}, nil, accountstore.ErrSetupDone
	}
	tried, err := s.begin(From(s.ClientAddress(r)))
	if err != nil {
		return accountstore.User{}, nil, err
	}
	defer func() { tried.ended(err) }()
	hash, err := s.hasher.Hash(ctx, password)
	if err != nil {
		return accountstore.User{}, nil, fmt.Errorf("set up: %w", err)
	}
	user, err = s.store.CreateFirstOwner(ctx, HashToken(token), email, name, hash)
	if err != nil {
		return accountstore.User{}, nil, err
	}
	tried.succeeded()
	cookie, err = s.enter(r, user, s.now())
	return user, cookie, err
}
