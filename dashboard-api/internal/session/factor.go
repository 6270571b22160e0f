package session

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Codes of the second factor (RFC 6238, as every app makes them), and how long the
// second step of a sign-in may take.
const (
	stepLength      = 30 * time.Second
	clockSkew       = 1 // steps that a phone may be off, either way
	codeDigits      = 6
	recoveryCodes   = 10
	recoveryLength  = 16 // of 32 letters: 80 bits, so that a plain hash is enough
	challengeLasts  = 5 * time.Minute
	challengeFactor = "second factor"
	secondCookie    = "pf_second"
	issuer          = "Probefleet"
)

// What can be wrong with a second step.
var (
	ErrBadChallenge = errors.New("this sign-in was not begun, is over or took too long")
	ErrWrongCode    = errors.New("this code is wrong or was used")
	ErrNoFactor     = errors.New("no second factor waits to be confirmed")
)

// SecondFactorError says that the password is right and a code is to follow.
type SecondFactorError struct {
	Challenge string
	ExpiresAt time.Time
	Cookie    *http.Cookie // without which it counts in no browser; nil: whoever has the challenge may go on
}

// pending is what waits for a second step.
type pending struct {
	Bind    *accountstore.Identity // what the account is bound to then; nil: nothing
	Browser string                 // hash of the cookie of the browser that began; "": none, the password was right
	Proven  time.Time              // when the person showed to the provider who it is; zero: nobody can say
}

func (e *SecondFactorError) Error() string { return "a code of the second factor is needed" }

// Factors is the part of the store for second factors.
type Factors interface {
	Enrol(ctx context.Context, userID int64, sealed uptime.Sealed) error
	SecondFactor(ctx context.Context, userID int64) (accountstore.Factor, error)
	ConfirmFactor(ctx context.Context, user accountstore.User, keep int64, sealed uptime.Sealed, step int64, codeHashes []string) error
	UseStep(ctx context.Context, userID, step int64) (bool, error)
	UseRecoveryCode(ctx context.Context, userID int64, codeHash string) (bool, error)
	RecoveryCodesLeft(ctx context.Context, userID int64) (int64, error)
	RemoveFactor(ctx context.Context, user accountstore.User) error
	SaveChallenge(ctx context.Context, tokenHash string, c accountstore.Challenge) error
	Challenge(ctx context.Context, tokenHash, kind string, now time.Time) (accountstore.Challenge, error)
	EndChallenge(ctx context.Context, tokenHash string) (bool, error)
}

// WithBox has secrets of second factors sealed; without it there are none.
func (s *Sessions) WithBox(box *seal.Box) *Sessions {
	s.box = box
	return s
}

// Enrol makes a secret for the app of who is signed in. It counts once Activate was
// given a code of it.
func (s *Sessions) Enrol(r *http.Request, identity Identity, password string) (key, url string, err error) {
	user, err := s.Confirm(r, identity, password)
	if err != nil {
		return "", "", err
	}
	made, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: user.Email})
	if err != nil {
		return "", "", fmt.Errorf("make a secret: %w", err)
	}
	if err := s.store.Enrol(r.Context(), user.ID, s.box.Seal(secret.New(made.Secret()))); err != nil {
		return "", "", err
	}
	return made.Secret(), made.URL(), nil
}

// Activate has the second factor count, and gives recovery codes: shown once. It ends every other
// session, and no browser is known any more but this one, by its new cookie: what was let in with
// the password alone is not in for ever.
func (s *Sessions) Activate(r *http.Request, identity Identity, code string) (recovery []string, known *http.Cookie, err error) {
	ctx := r.Context()
	tried, err := s.begin(At(factorAccount(identity.User.ID), "session "+strconv.FormatInt(identity.SessionID, 10)))
	if err != nil {
		return nil, nil, err
	}
	defer func() { tried.ended(err) }()
	factor, err := s.store.SecondFactor(ctx, identity.User.ID)
	switch {
	case errors.Is(err, accountstore.ErrNotFound) || err == nil && factor.Confirmed:
		return nil, nil, ErrNoFactor
	case err != nil:
		return nil, nil, fmt.Errorf("confirm second factor: %w", err)
	}
	step, err := s.stepOf(factor, normalCode(code))
	if err != nil {
		return nil, nil, err
	}
	hashes := make([]string, recoveryCodes)
	for i := range hashes {
		text := rand.Text()[:recoveryLength]
		recovery = append(recovery, text[:4]+"-"+text[4:8]+"-"+text[8:12]+"-"+text[12:])
		hashes[i] = HashToken(text)
	}
	if err := s.store.ConfirmFactor(ctx, *identity.User, identity.SessionID, factor.Secret, step, hashes); err != nil {
		return nil, nil, err
	}
	tried.succeeded()
	return recovery, s.knowAgain(r, *identity.User), nil
}

// FactorState says whether who is signed in has a second factor, and how many recovery codes are left.
func (s *Sessions) FactorState(ctx context.Context, identity Identity) (on bool, left int64, err error) {
	factor, err := s.store.SecondFactor(ctx, identity.User.ID)
	if errors.Is(err, accountstore.ErrNotFound) || err == nil && !factor.Confirmed {
		return false, 0, nil
	}
	if err == nil {
		left, err = s.store.RecoveryCodesLeft(ctx, identity.User.ID)
	}
	return err == nil, left, err
}

// RemoveFactor goes back to the password alone.
func (s *Sessions) RemoveFactor(r *http.Request, identity Identity, password string) error {
	user, err := s.Confirm(r, identity, password)
	if err != nil {
		return err
	}
	return s.store.RemoveFactor(r.Context(), user)
}

// secondStep is nil for users without a second factor, else what a sign-in goes on with.
func (s *Sessions) secondStep(ctx context.Context, user accountstore.User, then pending) error {
	factor, err := s.store.SecondFactor(ctx, user.ID)
	if errors.Is(err, accountstore.ErrNotFound) || err == nil && !factor.Confirmed {
		return nil
	}
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	token, expires, err := s.keep(ctx, challengeFactor, user, then, challengeLasts)
	if err != nil {
		return err
	}
	return &SecondFactorError{Challenge: token, ExpiresAt: expires}
}

// Verify finishes a sign-in with a code of the app, or a recovery code.
func (s *Sessions) Verify(r *http.Request, challenge, code string) (arrival Arrival, err error) {
	ctx := r.Context()
	begun, err := s.store.Challenge(ctx, HashToken(challenge), challengeFactor, s.now())
	if errors.Is(err, accountstore.ErrNotFound) {
		return arrival, ErrBadChallenge
	}
	if err != nil {
		return arrival, fmt.Errorf("log in: %w", err)
	}
	var then pending
	if err := json.Unmarshal([]byte(begun.Payload), &then); err != nil {
		return arrival, fmt.Errorf("log in: %w", err)
	}
	if cookie, _ := s.readCookieOf(r, secondCookie); then.Browser != "" && subtle.ConstantTimeCompare([]byte(HashToken(cookie)), []byte(then.Browser)) != 1 {
		return arrival, ErrBadChallenge // it is another browser's, and stays there
	}
	tried, err := s.begin(s.factorBounds(r, begun.User)...)
	if err != nil {
		return arrival, err
	}
	defer func() { tried.ended(err) }()
	if err := s.useCode(ctx, begun.User.ID, normalCode(code)); err != nil {
		return arrival, err
	}
	tried.succeeded()
	if _, mine, err := s.take(ctx, challenge, challengeFactor, &then); err != nil || !mine {
		return arrival, errors.Join(err, ErrBadChallenge)
	}
	arrival.User = begun.User
	if then.Browser == "" {
		then.Proven = s.now()
	}
	if then.Bind != nil && begun.User.DisabledAt.IsZero() {
		if err := s.store.BindIdentity(ctx, begun.User.ID, *then.Bind); err != nil {
			return arrival, err
		}
		arrival.Came = "bound"
	}
	arrival.Cookie, err = s.enter(r, begun.User, then.Proven)
	return arrival, err
}

func (s *Sessions) useCode(ctx context.Context, userID int64, code string) error {
	if len(code) != codeDigits {
		used, err := s.store.UseRecoveryCode(ctx, userID, HashToken(code))
		if err == nil && !used {
			err = ErrWrongCode
		}
		return err
	}
	factor, err := s.store.SecondFactor(ctx, userID)
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	step, err := s.stepOf(factor, code)
	if err != nil {
		return err
	}
	fresh, err := s.store.UseStep(ctx, userID, step)
	if err == nil && !fresh {
		err = ErrWrongCode
	}
	return err
}

// stepOf is the step that a code is of, or ErrWrongCode.
func (s *Sessions) stepOf(factor accountstore.Factor, code string) (int64, error) {
	opened, err := s.box.Open(factor.Secret)
	if err != nil {
		return 0, fmt.Errorf("open the second factor's secret: %w", err)
	}
	now := s.now()
	for skew := -clockSkew; skew <= clockSkew; skew++ {
		then := now.Add(time.Duration(skew) * stepLength)
		want, err := totp.GenerateCode(opened.Reveal(), then)
		if err != nil {
			return 0, fmt.Errorf("make a code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return then.Unix() / int64(stepLength/time.Second), nil
		}
	}
	return 0, ErrWrongCode
}

// normalCode is a code as people may have typed it.
func normalCode(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

// factorBounds are what wrong codes are counted by: a browser that is known to the account by
// itself, and with the others that are; all that are not together, from wherever. Who gets there
// knows the password, and codes are short: but a thief who goes on guessing does not lock the
// person out of the own browser.
func (s *Sessions) factorBounds(r *http.Request, user accountstore.User) []Bound {
	who := factorAccount(user.ID)
	if browser := s.knownTo(r, user); browser != "" {
		return []Bound{InKnown(who), At(who, browser)}
	}
	return []Bound{At(who, "elsewhere")}
}

func factorAccount(userID int64) string { return "second factor of " + strconv.FormatInt(userID, 10) }
