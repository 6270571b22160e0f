// Package signon asks a provider of single sign-on who somebody is (OpenID Connect:
// authorization code with PKCE).
//
// It guarantees that the provider is dialled at addresses that the guard lets through only,
// directly, over TLS where the issuer is; and that a Person was vouched for by a token of this
// issuer, for this client, that is signed, in time and answers this very question (nonce). It
// keeps nothing but what the provider says of itself.
package signon

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
)

// What can be wrong with a provider's answer.
var (
	ErrUnavailable = errors.New("the provider does not answer")
	ErrRefused     = errors.New("the provider refuses this sign-in")
	ErrUntrue      = errors.New("the provider's answer cannot be believed")
)

// metadataKept is how long it is believed what the provider says of itself. Its keys are
// asked for anew whenever one is not known.
const metadataKept = time.Hour

// askFor is how long the provider has to say it.
const askFor = 10 * time.Second

// Options are where the provider is, and who we are to it.
type Options struct {
	Issuer       string
	ClientID     string
	ClientSecret secret.Text // none: a public client
	Label        string      // for people
	RedirectURL  string      // where the provider leads browsers back to
	Guard        *guard.Guard
}

// Person is who the provider says somebody is.
type Person struct {
	Issuer, Subject string // which together are never anybody else's
	Email           string
	EmailVerified   bool
	Name            string
	Domain          string // the organization that vouches for the account, of providers that say so

	Told bool          // whether the provider says when the person last showed who it is
	Age  time.Duration // how long before it vouched for it
}

// Provider is a provider. It is first asked when somebody signs in.
type Provider struct {
	o      Options
	client *http.Client

	mu    sync.Mutex
	known *metadata
	until time.Time

	failed   error // the last try to know it
	failedAt time.Time
}

// metadata is what the provider says of itself.
type metadata struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	flow     oauth2.Config
}

// New makes one.
func New(o Options) *Provider { return &Provider{o: o, client: newClient(o)} }

// Issuer names the provider for programs.
func (p *Provider) Issuer() string { return p.o.Issuer }

// Label names the provider for people.
func (p *Provider) Label() string { return p.o.Label }

// AuthURL is where a browser is sent to be asked who it is; again: also if the provider knows.
func (p *Provider) AuthURL(ctx context.Context, state, nonce, verifier string, again bool) (string, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)}
	if again { // both: max_age has it say auth_time, and some heed only one
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return m.flow.AuthCodeURL(state, options...), nil
}

// metadata gives what the provider says of itself, asked for at most once at a time: who has
// waited for a try that failed does not try again.
func (p *Provider) metadata(ctx context.Context) (*metadata, error) {
	began := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && time.Now().Before(p.until) {
		return p.known, nil
	}
	if p.failedAt.After(began) {
		return nil, p.failed
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor) // others wait for it, too
	defer cancel()
	known, err := p.ask(asking)
	if err != nil {
		p.failed, p.failedAt = err, time.Now()
		return nil, err
	}
	p.known, p.until = known, time.Now().Add(metadataKept)
	return known, nil
}

func (p *Provider) ask(ctx context.Context) (*metadata, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.o.Issuer)
	if wrong, is := errors.AsType[*oidc.IssuerMismatchError](err); is {
		return nil, fmt.Errorf("%w: %w", ErrUntrue, wrong)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, shown(err))
	}
	var said struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&said); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUntrue, err)
	}
	endpoint := found.Endpoint()
	if !strings.HasPrefix(endpoint.AuthURL, "https://") && (strings.HasPrefix(p.o.Issuer, "https://") || !strings.HasPrefix(endpoint.AuthURL, "http://")) {
		return nil, fmt.Errorf("%w: people are not sent to %q", ErrUntrue, endpoint.AuthURL)
	}
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // what the standard has where nothing is said; trying both would use a code twice
	if p.o.ClientSecret.IsZero() || len(said.Methods) > 0 && !slices.Contains(said.Methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &metadata{found, found.Verifier(&oidc.Config{ClientID: p.o.ClientID}), oauth2.Config{
		ClientID: p.o.ClientID, ClientSecret: p.o.ClientSecret.Reveal(), Endpoint: endpoint, RedirectURL: p.o.RedirectURL, Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}}, nil
}

// truth is a boolean that some providers write as a text.
type truth bool

func (t *truth) UnmarshalJSON(raw []byte) error {
	*t = string(raw) == "true" || string(raw) == `"true"`
	return nil
}

// second is one since 1970; what is none is as good as nothing said.
type second int64

func (s *second) UnmarshalJSON(raw []byte) error {
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n > 0 && n < 1<<40 {
		*s = second(n)
	}
	return nil
}

// claims are what a provider says of somebody.
type claims struct {
	Subject  string `json:"sub"`
	Email    string `json:"email"`
	Verified truth  `json:"email_verified"`
	Name     string `json:"name"`
	Party    string `json:"azp"`
	Domain   string `json:"hd"`
	At       second `json:"auth_time"`
}

// Person gives who it was that came back with a code.
func (p *Provider) Person(ctx context.Context, code, nonce, verifier string) (Person, error) {
	m, err := p.metadata(ctx)
	if err != nil {
		return Person{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := m.flow.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if answer, is := errors.AsType[*oauth2.RetrieveError](err); is && answer.Response.StatusCode < http.StatusInternalServerError {
		return Person{}, fmt.Errorf("%w: %s: %s", ErrRefused, answer.Response.Status, answer.ErrorCode)
	}
	if err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrUnavailable, shown(err))
	}
	raw, is := tokens.Extra("id_token").(string)
	if !is {
		return Person{}, fmt.Errorf("%w: there is no token in it", ErrUntrue)
	}
	token, err := m.verifier.Verify(ctx, raw)
	if err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrUntrue, err)
	}
	var said claims
	if err := token.Claims(&said); err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrUntrue, err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1:
		return Person{}, fmt.Errorf("%w: it answers another question", ErrUntrue)
	case said.Subject == "":
		return Person{}, fmt.Errorf("%w: it names nobody", ErrUntrue)
	case said.Party != "" && said.Party != p.o.ClientID, len(token.Audience) > 1 && said.Party == "":
		return Person{}, fmt.Errorf("%w: it was made for %q", ErrUntrue, said.Party)
	case token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil:
		return Person{}, fmt.Errorf("%w: it belongs to another token", ErrUntrue)
	}
	at := said.At // of the token: what is said apart is not signed
	if said.Email == "" && m.provider.UserInfoEndpoint() != "" {
		if said, err = p.more(ctx, m, tokens, said); err != nil {
			return Person{}, err
		}
	}
	person := Person{Issuer: p.o.Issuer, Subject: said.Subject, Email: strings.TrimSpace(said.Email), EmailVerified: bool(said.Verified), Name: said.Name, Domain: said.Domain}
	if at > 0 { // both by the provider's clock
		person.Told, person.Age = true, max(0, token.IssuedAt.Sub(time.Unix(int64(at), 0)))
	}
	return person, nil
}

// more asks for what is not in the token: some providers keep it apart.
func (p *Provider) more(ctx context.Context, m *metadata, tokens *oauth2.Token, known claims) (claims, error) {
	info, err := m.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return known, fmt.Errorf("%w: %w", ErrUnavailable, shown(err))
	}
	var said claims
	if err := info.Claims(&said); err != nil {
		return known, fmt.Errorf("%w: %w", ErrUntrue, err)
	}
	if said.Subject != known.Subject {
		return known, fmt.Errorf("%w: it is of somebody else", ErrUntrue)
	}
	return said, nil
}

// shown is an error as it may be logged: of a dial that the guard refused it says how to allow it.
func shown(err error) error {
	if errors.Is(err, guard.ErrBlocked) {
		return errors.New("its address is not public, and API_OIDC_ALLOW_CIDRS does not open it")
	}
	if _, is := errors.AsType[*json.SyntaxError](err); is {
		return errors.New("what it answers is no JSON")
	}
	return err
}
