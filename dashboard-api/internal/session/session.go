package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/seal"
)

// Accounts is what sessions need of the account store.
type Accounts interface {
	UserByEmail(ctx context.Context, email string) (accountstore.User, string, error)
	CreateSession(ctx context.Context, tokenHash string, user accountstore.User, client accountstore.Client, expires time.Time) error
	SessionUser(ctx context.Context, tokenHash string, now time.Time) (accountstore.User, accountstore.Session, error)
	TouchSession(ctx context.Context, tokenHash string, now time.Time) error
	DeleteSession(ctx context.Context, tokenHash string) error
	KeyByHash(ctx context.Context, keyHash string, now time.Time) (accountstore.APIKey, error)
	TouchKey(ctx context.Context, id int64, now time.Time) error
	SetPassword(ctx context.Context, user accountstore.User, passwordHash string, keep int64) (accountstore.Ended, error)
	InvitationValid(ctx context.Context, tokenHash string, now time.Time) (accountstore.Invitation, error)
	AcceptInvitation(ctx context.Context, tokenHash, email, name, passwordHash string) (accountstore.User, error)
	Factors
	Passkeys
	Identities
	Owners
}

// Owners is the part of the store that makes the first accounts.
type Owners interface {
	HasOwner(ctx context.Context) (bool, error)
	EnsureSetupToken(ctx context.Context, tokenHash string) error
	CreateFirstOwner(ctx context.Context, setupTokenHash, email, name, passwordHash string) (accountstore.User, error)
	EnsureKey(ctx context.Context, name, prefix, keyHash string, role accountstore.Role) error
}

// Identity is who is asking.
type Identity struct {
	Actor string             // user:1 or key:1, as the audit log names it
	Role  accountstore.Role  // what they may do, as of now
	User  *accountstore.User // nil for an API key

	SessionID int64                // 0 for an API key
	Proven    time.Time            // when the person showed who it is; zero: nobody can say
	Key       *accountstore.APIKey // nil for a person
}

// What can be wrong with who is asking.
var (
	ErrAnonymous      = errors.New("nobody is signed in")
	ErrBadCredentials = errors.New("wrong e-mail address or password")
	ErrDisabled       = errors.New("this account is disabled") // said only to who has shown that it is theirs
)

// ThrottledError says how long to wait before the next try.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string { return "too many tries, wait " + e.Wait.String() }

// Sessions is the service. It holds no sessions: the store does.
type Sessions struct {
	store    Accounts
	hasher   *Hasher
	throttle *Throttle
	proxied  bool
	box      *seal.Box          // of second factors' secrets
	passkeys *webauthn.WebAuthn // nil: browsers can have none
	provider *signon.Provider   // nil: there is none
	terms    Terms
	now      func() time.Time
	log      *slog.Logger
}

// New makes the service. trustProxy says that X-Forwarded-For and -Proto are
// written by a proxy of ours, which drops what clients put there.
func New(store Accounts, trustProxy bool, log *slog.Logger) *Sessions {
	return &Sessions{store: store, hasher: NewHasher(), throttle: NewThrottle(time.Now), proxied: trustProxy, now: time.Now, log: log}
}

// WithHasher has passwords hashed by another hasher than NewHasher's.
func (s *Sessions) WithHasher(h *Hasher) *Sessions {
	s.hasher = h
	return s
}

// WithClock has it be the time that now says, but for how long tries are slowed.
func (s *Sessions) WithClock(now func() time.Time) *Sessions {
	s.now = now
	return s
}

// Identify says who sends a request: by an API key if it carries one, else by
// the cookie. ErrAnonymous means nobody; other errors mean that the store could not say.
func (s *Sessions) Identify(r *http.Request) (Identity, error) { return s.identify(r, true) }

// StillAllowed judges an open socket's request again: ErrAnonymous once its key or
// session is gone. A store that cannot answer changes nothing. It does not count
// as activity: a page left open does not keep its session alive.
func (s *Sessions) StillAllowed(ctx context.Context, r *http.Request) error {
	if _, err := s.identify(r.WithContext(ctx), false); errors.Is(err, ErrAnonymous) {
		return err
	}
	return nil
}

func (s *Sessions) identify(r *http.Request, activity bool) (Identity, error) {
	key, token := s.credential(r)
	switch {
	case key != "":
		return s.byKey(r.Context(), key, activity)
	case token != "":
		return s.byToken(r.Context(), token, activity)
	}
	return Identity{}, ErrAnonymous
}

// credential is what a request identifies somebody by: a key, or else a session's token, or nothing.
func (s *Sessions) credential(r *http.Request) (key, token string) {
	if header := r.Header.Get("Authorization"); header != "" {
		if scheme, key, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(key), ""
		}
		return "", ""
	}
	token, _ = s.readCookie(r)
	return "", token
}

// Holder is the same for all requests of one key or session, and of no other, however they write it.
func (s *Sessions) Holder(r *http.Request) string {
	key, token := s.credential(r)
	return HashToken(key) + HashToken(token)
}

func (s *Sessions) byKey(ctx context.Context, key string, activity bool) (Identity, error) {
	now := s.now()
	found, err := s.store.KeyByHash(ctx, HashToken(key), now)
	if err != nil {
		return Identity{}, anonymous(err)
	}
	if activity && now.Sub(found.LastUsedAt) > accountstore.TouchInterval {
		s.ignore(ctx, "touch key", s.store.TouchKey(ctx, found.ID, now))
	}
	return Identity{Actor: "key:" + strconv.FormatInt(found.ID, 10), Role: found.Role, Key: &found}, nil
}

func (s *Sessions) byToken(ctx context.Context, token string, activity bool) (Identity, error) {
	now, hash := s.now(), HashToken(token)
	user, session, err := s.store.SessionUser(ctx, hash, now)
	if err != nil {
		return Identity{}, anonymous(err)
	}
	if activity && now.Sub(session.LastSeenAt) > accountstore.TouchInterval {
		s.ignore(ctx, "touch session", s.store.TouchSession(ctx, hash, now))
	}
	return Identity{Actor: "user:" + strconv.FormatInt(user.ID, 10), Role: user.Role, User: &user, SessionID: session.ID, Proven: session.Client.Proven}, nil
}

func anonymous(err error) error {
	if errors.Is(err, accountstore.ErrNotFound) {
		return ErrAnonymous
	}
	return fmt.Errorf("identify: %w", err)
}

// ignore logs what must not fail a request: a "last seen" that was not written.
func (s *Sessions) ignore(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Warn("bookkeeping failed", "what", what, "error", err)
	}
}

// LogIn checks a password and signs the browser in with a new session, ending the
// one it had. The cookie goes to the browser. *SecondFactorError means that Verify is to follow.
func (s *Sessions) LogIn(r *http.Request, email, password string) (accountstore.User, *http.Cookie, error) {
	account := strings.ToLower(strings.TrimSpace(email))
	perhaps, err := s.perhapsKnown(r, account)
	if err != nil {
		return accountstore.User{}, nil, fmt.Errorf("log in: %w", err)
	}
	hasher := s.hasher
	if s.knownTo(r, perhaps) != "" {
		hasher = hasher.Reserved()
	}
	user, err := s.passwordUser(r.Context(), account, password, hasher, s.bounds(r, account, perhaps))
	if err != nil {
		return accountstore.User{}, nil, err
	}
	if err := s.secondStep(r.Context(), user, pending{}); err != nil {
		return accountstore.User{}, nil, err
	}
	cookie, err := s.enter(r, user, s.now())
	return user, cookie, err
}

// passwordUser is whose password this is.
func (s *Sessions) passwordUser(ctx context.Context, account, password string, hasher *Hasher, bounds []Bound) (user accountstore.User, err error) {
	tried, err := s.begin(bounds...)
	if err != nil {
		return user, err
	}
	defer func() { tried.ended(err) }()
	user, hash, err := s.store.UserByEmail(ctx, account)
	if err != nil && !errors.Is(err, accountstore.ErrNotFound) {
		return user, fmt.Errorf("log in: %w", err)
	}
	right, err := hasher.Check(ctx, hash, password)
	if err != nil {
		return user, fmt.Errorf("log in: %w", err)
	}
	if !right {
		return user, ErrBadCredentials
	}
	tried.succeeded()
	return user, nil
}

// LogOut ends the session of the browser, if it has one.
func (s *Sessions) LogOut(r *http.Request) error {
	token, found := s.readCookie(r)
	if !found {
		return nil
	}
	if err := s.store.DeleteSession(r.Context(), HashToken(token)); err != nil {
		return fmt.Errorf("log out: %w", err)
	}
	return nil
}

// enter signs a browser in for who has shown at proven to be this user, ending the session it
// had. Every way in ends here: ErrDisabled is said to nobody before.
func (s *Sessions) enter(r *http.Request, user accountstore.User, proven time.Time) (*http.Cookie, error) {
	if !user.DisabledAt.IsZero() {
		return nil, ErrDisabled
	}
	if err := s.LogOut(r); err != nil {
		return nil, err
	}
	token, expires, client := NewToken(), s.now().Add(accountstore.SessionMax), s.client(r)
	client.Proven = proven
	if err := s.store.CreateSession(r.Context(), HashToken(token), user, client, expires); err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	return s.cookie(r, token, expires), nil
}
