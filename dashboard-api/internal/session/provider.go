package session

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
)

const (
	challengeProvider = "sign in with the provider"
	providerCookie    = "pf_provider"
	providerLasts     = 10 * time.Minute // people are asked for passwords and codes there
	longestName       = 120
	rounding          = 2 * time.Second // that what a provider says of time is rounded to
)

// What can be wrong with signing in with a provider.
var (
	ErrNoProvider = errors.New("there is no single sign-on")
	ErrUnverified = errors.New("the provider has not verified an address of this person")
	ErrDomain     = errors.New("this person's address is of another domain")

	ErrNotAskedAgain = errors.New("the provider has not asked the person again, or does not say when it did")
)

// Terms are who may come in by the provider.
type Terms struct {
	Domains   []string          // of the addresses of who comes for the first time; none: any
	Strangers accountstore.Role // of who was not invited; none: they do not come in
}

// Identities is the part of the store for who people are to a provider.
type Identities interface {
	IdentityUser(ctx context.Context, who accountstore.Identity) (accountstore.User, error)
	BindIdentity(ctx context.Context, userID int64, who accountstore.Identity) error
	Join(ctx context.Context, who accountstore.Identity, email, name string, strangers accountstore.Role) (accountstore.User, bool, error)
}

// WithProvider has people sign in with a provider, too.
func (s *Sessions) WithProvider(p *signon.Provider, terms Terms) *Sessions {
	s.provider, s.terms = p, terms
	return s
}

// ProviderLabel names the provider, if there is one.
func (s *Sessions) ProviderLabel() (label string, there bool) {
	if s.provider == nil {
		return "", false
	}
	return s.provider.Label(), true
}

// journey is what of a sign-in with the provider is kept while the browser is there.
type journey struct {
	State, Nonce, Verifier string
	Again                  time.Time // since when the person must have shown who it is; zero: whoever the provider still knows
}

// AskProvider begins to sign in with the provider: where the browser goes, and the cookie
// that binds its return to it. Again has the provider ask the person anew who it is.
func (s *Sessions) AskProvider(r *http.Request, again bool) (to string, cookie *http.Cookie, err error) {
	if s.provider == nil {
		return "", nil, ErrNoProvider
	}
	j := journey{State: NewToken(), Nonce: NewToken(), Verifier: NewToken()}
	if again {
		j.Again = s.now()
	}
	if to, err = s.provider.AuthURL(r.Context(), j.State, j.Nonce, j.Verifier, again); err != nil {
		return "", nil, err
	}
	token, expires, err := s.keep(r.Context(), challengeProvider, accountstore.User{}, j, providerLasts)
	if err != nil {
		return "", nil, err
	}
	return to, s.cookieOf(r, providerCookie, token, expires), nil
}

// Arrival is somebody who came back from the provider.
type Arrival struct {
	User   accountstore.User
	Cookie *http.Cookie
	Came   string // how, when for the first time: bound, invited or new
}

// LogInWithProvider signs in whoever comes back from the provider, in the browser that went
// there. A second factor is asked for (*SecondFactorError) as after the password, before the
// account is bound to the person. Arrival says what was bound or made also with an error.
func (s *Sessions) LogInWithProvider(r *http.Request, said url.Values) (arrival Arrival, err error) {
	ctx := r.Context()
	if s.provider == nil {
		return arrival, ErrNoProvider
	}
	token, found := s.readCookieOf(r, providerCookie)
	if !found {
		return arrival, ErrBadChallenge
	}
	var j journey
	if _, found, err = s.take(ctx, token, challengeProvider, &j); err != nil {
		return arrival, err
	}
	if !found || subtle.ConstantTimeCompare([]byte(said.Get("state")), []byte(j.State)) != 1 {
		return arrival, ErrBadChallenge
	}
	if issuer := said.Get("iss"); issuer != "" && issuer != s.provider.Issuer() { // RFC 9207
		return arrival, fmt.Errorf("%w: it comes from %q", signon.ErrUntrue, issuer)
	}
	if said.Get("code") == "" {
		return arrival, fmt.Errorf("%w: %q", signon.ErrRefused, said.Get("error"))
	}
	tried, err := s.begin(From(s.Place(r)))
	if err != nil {
		return arrival, err
	}
	defer func() { tried.ended(err) }()
	person, err := s.provider.Person(ctx, said.Get("code"), j.Nonce, j.Verifier)
	if err != nil {
		return arrival, err
	}
	var proven time.Time
	if person.Told {
		proven = s.now().Add(-person.Age)
	}
	if !j.Again.IsZero() && proven.Before(j.Again.Add(-rounding)) {
		return arrival, ErrNotAskedAgain
	}
	var bind *accountstore.Identity
	if arrival.User, arrival.Came, bind, err = s.userOf(ctx, person); err != nil {
		return arrival, err
	}
	tried.succeeded()
	// The challenge goes on in a link: in another browser it is worth nothing.
	browser := NewToken()
	if err := s.secondStep(ctx, arrival.User, pending{bind, HashToken(browser), proven}); err != nil {
		if more, is := errors.AsType[*SecondFactorError](err); is {
			more.Cookie = s.cookieOf(r, secondCookie, browser, more.ExpiresAt)
		}
		return arrival, err
	}
	if bind != nil && arrival.User.DisabledAt.IsZero() {
		if err := s.store.BindIdentity(ctx, arrival.User.ID, *bind); err != nil {
			return arrival, err
		}
		arrival.Came = "bound"
	}
	arrival.Cookie, err = s.enter(r, arrival.User, proven)
	return arrival, err
}

// userOf is whose account a person comes for, and what it is to be bound to if it is not yet.
// Once bound, only who the person is to the provider counts: addresses change, and are given
// to others.
func (s *Sessions) userOf(ctx context.Context, person signon.Person) (user accountstore.User, came string, bind *accountstore.Identity, err error) {
	who := accountstore.Identity{Issuer: person.Issuer, Subject: person.Subject}
	if user, err = s.store.IdentityUser(ctx, who); !errors.Is(err, accountstore.ErrNotFound) {
		return user, "", nil, err
	}
	email := strings.ToLower(person.Email)
	_, domain, is := strings.Cut(email, "@")
	if person.Issuer == google { // there, anybody may have an account with an address of any domain
		domain = strings.ToLower(person.Domain)
	}
	switch {
	case !person.EmailVerified || !is:
		return user, "", nil, ErrUnverified
	case len(s.terms.Domains) > 0 && !slices.Contains(s.terms.Domains, domain):
		return user, "", nil, ErrDomain
	}
	user, _, err = s.store.UserByEmail(ctx, email)
	switch {
	case err == nil:
		return user, "", &who, nil
	case !errors.Is(err, accountstore.ErrNotFound):
		return user, "", nil, err
	}
	user, invited, err := s.store.Join(ctx, who, email, nameOf(person), s.terms.Strangers)
	switch {
	case err != nil:
		return user, "", nil, err
	case invited:
		return user, "invited", nil, nil
	}
	return user, "new", nil, nil
}

// google is the issuer that says in a claim of its own whose organization an account is of
// (https://developers.google.com/identity/openid-connect/openid-connect#hd-param).
const google = "https://accounts.google.com"

// nameOf is how a person is called here at first.
func nameOf(person signon.Person) string {
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, person.Name))
	if name == "" {
		name, _, _ = strings.Cut(person.Email, "@")
	}
	runes := []rune(name)
	return string(runes[:min(len(runes), longestName)])
}
