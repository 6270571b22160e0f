package session

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// What was begun with a passkey.
const (
	challengeRegister = "register a passkey"
	challengePasskey  = "sign in with a passkey"
	passkeyCookie     = "pf_passkey"
)

// What can be wrong with a passkey.
var (
	ErrNoPasskeys     = errors.New("passkeys need a public URL of https and a name")
	ErrBadPasskey     = errors.New("this passkey signs nobody in")
	ErrPasskeyRefused = errors.New("this is no passkey that can be registered")
	ErrNotBegun       = errors.New("this registration was not begun here, is over or took too long")
)

// BlockedPasskeyError says that a passkey counts no more since its count went back: there
// may be a copy of it.
type BlockedPasskeyError struct {
	Passkey accountstore.Passkey
	Now     bool // by this very use
}

func (e *BlockedPasskeyError) Error() string {
	return "passkey " + strconv.FormatInt(e.Passkey.ID, 10) + " is blocked"
}

// Passkeys is the part of the store for passkeys.
type Passkeys interface {
	Handle(ctx context.Context, userID int64, offered string) (string, error)
	Passkeys(ctx context.Context, userID int64) ([]accountstore.Passkey, error)
	AddPasskey(ctx context.Context, user accountstore.User, p accountstore.Passkey) (accountstore.Passkey, error)
	RemovePasskey(ctx context.Context, user accountstore.User, id int64, issuer string) (accountstore.Passkey, error)
	PasskeyUser(ctx context.Context, credentialID string) (accountstore.Passkey, accountstore.User, string, error)
	UsePasskey(ctx context.Context, id int64, count uint32, credential string) (bool, error)
	BlockPasskey(ctx context.Context, id int64) (bool, error)
}

// WithPasskeys has passkeys belong to the host of the public URL, whatever host a request
// names. Where browsers have none, because the URL has no name or no TLS, there are none.
func (s *Sessions) WithPasskeys(publicURL string) *Sessions {
	s.passkeys = nil
	u, err := url.Parse(publicURL)
	if err != nil {
		return s
	}
	host := strings.ToLower(u.Hostname())
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if protocol.ValidateRPID(host) != nil || u.Scheme != "https" && !local {
		return s
	}
	origin := u.Scheme + "://" + host
	if port := u.Port(); port != "" && port != map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		origin += ":" + port
	}
	made, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: issuer, RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{
			Login:        webauthn.TimeoutConfig{Timeout: challengeLasts},
			Registration: webauthn.TimeoutConfig{Timeout: challengeLasts},
		},
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore, // some browsers tell more than they were asked
	})
	if err == nil {
		s.passkeys = made
	}
	return s
}

// HasPasskeys says whether browsers can have passkeys for us.
func (s *Sessions) HasPasskeys() bool { return s.passkeys != nil }

// keyHolder is a user as the library sees one.
type keyHolder struct {
	user   accountstore.User
	handle string
	keys   []webauthn.Credential
}

func (h keyHolder) WebAuthnID() []byte                         { return []byte(h.handle) }
func (h keyHolder) WebAuthnName() string                       { return h.user.Email }
func (h keyHolder) WebAuthnDisplayName() string                { return h.user.Name }
func (h keyHolder) WebAuthnCredentials() []webauthn.Credential { return h.keys }

// begun is what of a ceremony is kept until it is finished.
type begun struct {
	SessionID int64                `json:"session,omitempty"` // which alone may finish it
	Data      webauthn.SessionData `json:"data"`
}

// keep stores what was begun, for who holds the token.
func (s *Sessions) keep(ctx context.Context, kind string, user accountstore.User, what any, lasts time.Duration) (token string, expires time.Time, err error) {
	payload, err := json.Marshal(what)
	if err != nil {
		return "", expires, fmt.Errorf("keep what was begun: %w", err)
	}
	token, expires = NewToken(), s.now().Add(lasts)
	return token, expires, s.store.SaveChallenge(ctx, HashToken(token), accountstore.Challenge{Kind: kind, User: user, Payload: string(payload), Expires: expires})
}

// take gives what was begun, to whoever is first: whatever becomes of it, it was used.
func (s *Sessions) take(ctx context.Context, token, kind string, what any) (c accountstore.Challenge, found bool, err error) {
	c, err = s.store.Challenge(ctx, HashToken(token), kind, s.now())
	if errors.Is(err, accountstore.ErrNotFound) {
		return c, false, nil
	}
	if err == nil {
		found, err = s.store.EndChallenge(ctx, HashToken(token))
	}
	if err != nil || !found {
		return c, false, err
	}
	if err := json.Unmarshal([]byte(c.Payload), what); err != nil {
		return c, false, fmt.Errorf("read what was begun: %w", err)
	}
	return c, true, nil
}

// Registration is what a browser makes a passkey from.
type Registration struct {
	Options   *protocol.CredentialCreation
	Challenge string // goes back with what the browser has made, from the same session
	ExpiresAt time.Time
}

// BeginPasskey begins to register a passkey of who is signed in, who says the password again.
func (s *Sessions) BeginPasskey(r *http.Request, identity Identity, password string) (begin Registration, err error) {
	if s.passkeys == nil {
		return begin, ErrNoPasskeys
	}
	user, err := s.Confirm(r, identity, password)
	if err != nil {
		return begin, err
	}
	ctx := r.Context()
	holder := keyHolder{user: user}
	if holder.handle, err = s.store.Handle(ctx, user.ID, NewToken()); err != nil {
		return begin, err
	}
	have, err := s.store.Passkeys(ctx, user.ID)
	if err != nil {
		return begin, err
	}
	if len(have) >= accountstore.MaxPasskeys {
		return begin, accountstore.ErrTooManyPasskeys
	}
	exclude := make([]protocol.CredentialDescriptor, len(have))
	for i, p := range have {
		credential, err := credentialOf(p)
		if err != nil {
			return begin, err
		}
		exclude[i] = credential.Descriptor()
	}
	options, data, err := s.passkeys.BeginRegistration(holder, webauthn.WithExclusions(exclude))
	if err != nil {
		return begin, fmt.Errorf("begin to register a passkey: %w", err)
	}
	begin.Options = options
	begin.Challenge, begin.ExpiresAt, err = s.keep(ctx, challengeRegister, user, begun{identity.SessionID, *data}, challengeLasts)
	return begin, err
}

// AddPasskey finishes a registration that the same session began.
func (s *Sessions) AddPasskey(r *http.Request, identity Identity, challenge, name string, made []byte) (accountstore.Passkey, error) {
	ctx := r.Context()
	if s.passkeys == nil {
		return accountstore.Passkey{}, ErrNoPasskeys
	}
	var b begun
	c, found, err := s.take(ctx, challenge, challengeRegister, &b)
	if err != nil {
		return accountstore.Passkey{}, err
	}
	if !found || c.User.ID != identity.User.ID || b.SessionID != identity.SessionID {
		return accountstore.Passkey{}, ErrNotBegun
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(made)
	if err != nil {
		return accountstore.Passkey{}, refused(ErrPasskeyRefused, err)
	}
	credential, err := s.passkeys.CreateCredential(keyHolder{user: c.User, handle: string(b.Data.UserID)}, b.Data, parsed)
	if err != nil {
		return accountstore.Passkey{}, refused(ErrPasskeyRefused, err)
	}
	credential.Attestation = webauthn.CredentialAttestation{} // asked for none: what came all the same is nobody's business
	text, err := json.Marshal(credential)
	if err != nil {
		return accountstore.Passkey{}, fmt.Errorf("write passkey: %w", err)
	}
	return s.store.AddPasskey(ctx, c.User, accountstore.Passkey{
		CredentialID: credentialID(credential.ID), Name: name, Credential: string(text), SignCount: credential.Authenticator.SignCount,
	})
}

// RemovePasskey removes a passkey of who is signed in, who says the password again.
func (s *Sessions) RemovePasskey(r *http.Request, identity Identity, id int64, password string) (accountstore.Passkey, error) {
	user, err := s.Confirm(r, identity, password)
	if err != nil {
		return accountstore.Passkey{}, err
	}
	issuer := ""
	if s.provider != nil {
		issuer = s.provider.Issuer()
	}
	return s.store.RemovePasskey(r.Context(), user, id, issuer)
}

// AskPasskey begins to sign in with a passkey, whosoever: the answer is the same for
// everybody. The cookie binds it to the browser.
func (s *Sessions) AskPasskey(r *http.Request) (*protocol.CredentialAssertion, *http.Cookie, error) {
	if s.passkeys == nil {
		return nil, nil, ErrNoPasskeys
	}
	options, data, err := s.passkeys.BeginDiscoverableLogin()
	if err != nil {
		return nil, nil, fmt.Errorf("begin to sign in with a passkey: %w", err)
	}
	token, expires, err := s.keep(r.Context(), challengePasskey, accountstore.User{}, begun{Data: *data}, challengeLasts)
	if err != nil {
		return nil, nil, err
	}
	return options, s.cookieOf(r, passkeyCookie, token, expires), nil
}

// LogInWithPasskey signs a browser in by what its authenticator signed, which knows the
// person by a finger or a number: no second factor is asked for. Whatever is wrong is ErrBadPasskey,
// or *BlockedPasskeyError for who holds the passkey.
func (s *Sessions) LogInWithPasskey(r *http.Request, signed []byte) (accountstore.User, *http.Cookie, error) {
	if s.passkeys == nil {
		return accountstore.User{}, nil, ErrNoPasskeys
	}
	user, err := s.passkeyUser(r, signed)
	if err != nil {
		return accountstore.User{}, nil, err
	}
	cookie, err := s.enter(r, user, s.now())
	return user, cookie, err
}

// passkeyUser is whose passkey has signed what this browser was asked to have signed.
func (s *Sessions) passkeyUser(r *http.Request, signed []byte) (user accountstore.User, err error) {
	ctx := r.Context()
	token, found := s.readCookieOf(r, passkeyCookie)
	if !found {
		return accountstore.User{}, ErrBadChallenge
	}
	var b begun
	_, found, err = s.take(ctx, token, challengePasskey, &b)
	if err != nil {
		return accountstore.User{}, err
	}
	if !found {
		return accountstore.User{}, ErrBadChallenge
	}
	tried, err := s.begin(From(s.Place(r)))
	if err != nil {
		return accountstore.User{}, err
	}
	defer func() { tried.ended(err) }()
	parsed, err := protocol.ParseCredentialRequestResponseBytes(signed)
	if err != nil {
		return accountstore.User{}, refused(ErrBadPasskey, err)
	}
	passkey, user, handle, err := s.store.PasskeyUser(ctx, credentialID(parsed.RawID))
	if errors.Is(err, accountstore.ErrNotFound) {
		return accountstore.User{}, ErrBadPasskey
	}
	if err != nil {
		return accountstore.User{}, fmt.Errorf("log in: %w", err)
	}
	tried.succeeded() // from here on it is counted by whose it is
	theirs, err := s.begin(s.bounds(r, "passkeys of "+strconv.FormatInt(user.ID, 10), user)...)
	if err != nil {
		return accountstore.User{}, err
	}
	defer func() { theirs.ended(err) }()
	stored, err := credentialOf(passkey)
	if err != nil {
		return accountstore.User{}, err
	}
	credential, err := s.passkeys.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) {
		return keyHolder{user, handle, []webauthn.Credential{stored}}, nil
	}, b.Data, parsed)
	if err != nil {
		return accountstore.User{}, refused(ErrBadPasskey, err)
	}
	if err := s.count(ctx, passkey, credential, parsed.Response.AuthenticatorData.Counter); err != nil {
		return accountstore.User{}, err
	}
	theirs.succeeded()
	return user, nil
}

// count records the use of a passkey, or blocks it if its count has not risen: two
// authenticators that hold one key count apart.
func (s *Sessions) count(ctx context.Context, passkey accountstore.Passkey, credential *webauthn.Credential, counter uint32) error {
	if !passkey.BlockedAt.IsZero() {
		return &BlockedPasskeyError{Passkey: passkey}
	}
	text, err := json.Marshal(credential)
	if err != nil {
		return fmt.Errorf("write passkey: %w", err)
	}
	counted, err := s.store.UsePasskey(ctx, passkey.ID, counter, string(text))
	if err != nil || counted {
		return err
	}
	blocked, err := s.store.BlockPasskey(ctx, passkey.ID)
	if err != nil {
		return err
	}
	return &BlockedPasskeyError{passkey, blocked}
}

// credentialOf is a stored passkey as the library sees it, with the count of the store.
func credentialOf(p accountstore.Passkey) (c webauthn.Credential, err error) {
	if err = json.Unmarshal([]byte(p.Credential), &c); err != nil {
		return c, fmt.Errorf("read passkey %d: %w", p.ID, err)
	}
	c.Authenticator.SignCount = p.SignCount
	return c, nil
}

func credentialID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// refused is one of our errors with what the library found, for the log.
func refused(ours, found error) error {
	if detailed, is := errors.AsType[*protocol.Error](found); is && detailed.DevInfo != "" {
		return fmt.Errorf("%w: %s: %s", ours, detailed.Details, detailed.DevInfo)
	}
	return fmt.Errorf("%w: %w", ours, found)
}
