package session

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// hang is how long something may take that takes no time: until then it is waited for.
const hang = 2 * time.Minute

func TestMain(m *testing.M) { testbackend.Main(m) }

func newSessions(t *testing.T, trustProxy bool) (*Sessions, *accountstore.Store) {
	t.Helper()
	store := accountstore.New(databasetest.Open(t, testbackend.SQLite(t)))
	return New(store, trustProxy, slog.New(slog.DiscardHandler)).WithHasher(NewHasherAt(Cost{MemoryKiB: 8, Passes: 1})), store
}

func request(cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	for _, cookie := range cookies {
		r.AddCookie(cookie)
	}
	return r
}

func owner(t *testing.T, s *Sessions) (accountstore.User, *http.Cookie) {
	t.Helper()
	token, err := s.Prepare(t.Context())
	if err != nil || token == "" {
		t.Fatalf("prepare: %q %v", token, err)
	}
	user, cookie, err := s.SetUp(request(), token, "Ann@example.com", "Ann", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	return user, cookie
}

// Promise: only one person can use the set-up link
func TestSetUpHasOneWinner(t *testing.T) {
	t.Parallel()
	s, _ := newSessions(t, false)
	token, err := s.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu      sync.Mutex
		winners int
		group   sync.WaitGroup
	)
	for i := range 100 {
		group.Go(func() {
			r := request()
			r.RemoteAddr = "192.0.2." + string(rune('0'+i%4)) + ":1" // several addresses, so that throttling does not decide
			_, _, err := s.SetUp(r, token, "ann@example.com", "Ann", "correct horse")
			var slow *ThrottledError
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				winners++
			case !errors.Is(err, accountstore.ErrSetupDone) && !errors.As(err, &slow) && !errors.Is(err, ErrBusy):
				t.Errorf("loser got %v", err)
			}
		})
	}
	group.Wait()
	if winners != 1 {
		t.Fatalf("%d owners were made", winners)
	}
	if token, err := s.Prepare(t.Context()); token != "" || err != nil {
		t.Fatalf("a new set-up token after the set-up: %q %v", token, err)
	}
}

func TestLogInLogOut(t *testing.T) {
	t.Parallel()
	s, store := newSessions(t, false)
	user, first := owner(t, s)
	if id, err := s.Identify(request(first)); err != nil || id.User.ID != user.ID || id.Role != accountstore.RoleOwner {
		t.Fatalf("after set-up: %+v %v", id, err)
	}
	if _, _, err := s.LogIn(request(), "ann@example.com", "wrong horse"); !errors.Is(err, ErrBadCredentials) {
		t.Fatalf("wrong password: %v", err)
	}
	if _, _, err := s.LogIn(request(), "nobody@example.com", "correct horse"); !errors.Is(err, ErrBadCredentials) {
		t.Fatalf("unknown user: %v", err)
	}
	_, second, err := s.LogIn(request(first), " ANN@example.com ", "correct horse")
	if err != nil || second.Value == first.Value {
		t.Fatalf("log in: %v", err)
	}
	if _, err := s.Identify(request(first)); !errors.Is(err, ErrAnonymous) {
		t.Fatalf("the session before the login lives on: %v", err)
	}
	if _, _, err := store.SessionUser(t.Context(), second.Value, time.Now()); err == nil {
		t.Fatal("the token is stored in clear")
	}
	if err := s.LogOut(request(second)); err != nil {
		t.Fatal(err)
	}
	if err := s.StillAllowed(t.Context(), request(second)); !errors.Is(err, ErrAnonymous) {
		t.Fatalf("a socket outlives its session: %v", err)
	}
}

func TestKeysIdentifyAndEnd(t *testing.T) {
	t.Parallel()
	s, _ := newSessions(t, false)
	key := NewKey()
	for range 2 { // twice: a restart
		if err := s.EnsureKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	r := request()
	r.Header.Set("Authorization", "bearer "+key)
	if id, err := s.Identify(r); err != nil || id.Role != accountstore.RoleOwner || id.User != nil {
		t.Fatalf("%+v %v", id, err)
	}
	for _, header := range []string{"Bearer " + key + "x", "Bearer ", "Basic " + key, key} {
		r.Header.Set("Authorization", header)
		if _, err := s.Identify(r); !errors.Is(err, ErrAnonymous) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

func TestOutageIsNotAnonymous(t *testing.T) {
	t.Parallel()
	s, _ := newSessions(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := request(&http.Cookie{Name: sessionCookie, Value: "x"}).WithContext(ctx)
	if _, err := s.Identify(r); err == nil || errors.Is(err, ErrAnonymous) {
		t.Fatalf("got %v", err)
	}
	if err := s.StillAllowed(ctx, r); err != nil {
		t.Fatalf("an outage closed a socket: %v", err)
	}
}

func TestCookieBehindTLS(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		trust         bool
		forwarded     string
		wantName      string
		wantClient    string
		wantForwarded string
	}{
		{"plain", false, "", sessionCookie, "192.0.2.1", ""},
		{"header without trust", false, "https", sessionCookie, "192.0.2.1", "203.0.113.9"},
		{"behind a proxy with TLS", true, "https", "__Host-" + sessionCookie, "203.0.113.9", "6.6.6.6, 203.0.113.9"},
		{"IPv6 client", true, "http", sessionCookie, "2001:db8:1:2::/64", "2001:db8:1:2:3:4:5:6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newSessions(t, c.trust)
			r := request()
			r.Header.Set("X-Forwarded-Proto", c.forwarded)
			r.Header.Set("X-Forwarded-For", c.wantForwarded)
			if c.wantForwarded == "" {
				r.Header.Del("X-Forwarded-For")
			}
			cookie := s.cookie(r, "token", time.Now().Add(time.Hour))
			if cookie.Name != c.wantName || cookie.Secure != (c.wantName == "__Host-"+sessionCookie) || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
				t.Errorf("cookie %+v", cookie)
			}
			if got := s.ClientAddress(r); got != c.wantClient {
				t.Errorf("client %q, want %q", got, c.wantClient)
			}
		})
	}
}

func TestUnknownUsersCostTheSame(t *testing.T) {
	t.Parallel()
	hasher := NewHasher()
	stored, err := hasher.Hash(t.Context(), "correct horse")
	if err != nil || !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%q %v", stored, err)
	}
	salt, err := hasher.cost.saltOf(stored)
	if key := argon2.IDKey([]byte("correct horse"), salt, 2, 19456, 1, 32); err != nil || !strings.HasSuffix(stored, "$"+base64.RawStdEncoding.EncodeToString(key)) {
		t.Fatalf("%q says another cost than it was made at (%v)", stored, err)
	}
	hashed := 0
	hasher.encode = func(password string, salt []byte) string {
		hashed++
		return owasp().encode(password, salt)
	}
	for _, stored := range []string{stored, ""} {
		hashed = 0
		if ok, err := hasher.Check(t.Context(), stored, "wrong horse"); ok || err != nil || hashed != 1 {
			t.Fatalf("%q: %v %v, the password was hashed %d times", stored, ok, err, hashed)
		}
	}
	if ok, err := hasher.Check(t.Context(), stored, "correct horse"); !ok || err != nil {
		t.Fatalf("right password: %v %v", ok, err)
	}
}

// A sign-in costs one hash, whatever there is of the account: nobody learns by the time it takes.
func TestEverySignInCostsOneHash(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	ann, _ := owner(t, s)
	store := s.store.(*accountstore.Store)
	for _, email := range []string{"bare@example.com", "away@example.com"} {
		if _, err := store.Invite(t.Context(), accountstore.User{}, email, email, accountstore.RoleViewer, "user:1", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := store.Join(t.Context(), accountstore.Identity{Issuer: "https://id.example", Subject: "1"}, "bare@example.com", "Bare", ""); err != nil {
		t.Fatal(err)
	}
	hash, err := s.hasher.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	away, err := store.AcceptInvitation(t.Context(), "away@example.com", "", "Away", hash)
	if err == nil {
		_, err = store.Disable(t.Context(), away.ID, 0, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	hashed, encode := 0, s.hasher.encode
	s.hasher.encode = func(password string, salt []byte) string {
		hashed++
		return encode(password, salt)
	}
	known := s.KnowBrowser(request(), ann)
	for _, email := range []string{ann.Email, "nobody@example.com", "bare@example.com", away.Email} {
		for _, password := range []string{"correct horse", "wrong"} {
			for name, cookies := range map[string][]*http.Cookie{"a stranger": nil, "a known browser": {known}} {
				hashed = 0
				err := s.try("192.0.2.1", email, password, cookies...)
				if hashed != 1 {
					t.Errorf("%s with %q, from %s: %d hashes (%v)", email, password, name, hashed, err)
				}
			}
		}
	}
}

// While a password is being checked, however long, tries at all accounts are counted and let through.
func TestAHashHoldsUpNoCounting(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	ann, _ := owner(t, s)
	hashing, goOn, encode := make(chan struct{}), make(chan struct{}), s.hasher.encode
	s.hasher.encode = func(password string, salt []byte) string {
		close(hashing)
		<-goOn
		return encode(password, salt)
	}
	signed := make(chan error, 1)
	go func() { signed <- s.try("192.0.2.1", ann.Email, "correct horse") }()
	<-hashing
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for i := range 4 * shardCount { // of the same account and address, and of others in every shard
			for _, account := range []string{ann.Email, fmt.Sprint("user", i)} {
				s.throttle.Begin(From("192.0.2.1"), Everywhere(account), At(account, "192.0.2.1"))
			}
		}
	}()
	select {
	case <-counted:
	case <-time.After(hang):
		t.Error("a password that is being checked holds up who tries elsewhere")
	}
	close(goOn)
	if err := <-signed; err != nil {
		t.Error(err)
	}
}

// One key or session is one holder, whatever else a request says.
func TestHolder(t *testing.T) {
	t.Parallel()
	s, _ := newSessions(t, false)
	holder := func(authorization string, cookies ...*http.Cookie) string {
		r := request(cookies...)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		return s.Holder(r)
	}
	mine, other, junk := &http.Cookie{Name: sessionCookie, Value: "a"}, &http.Cookie{Name: sessionCookie, Value: "b"}, &http.Cookie{Name: "junk", Value: "1"}
	for i, c := range []struct {
		a, b string
		same bool
	}{
		{holder("", mine), holder("", junk, mine), true},
		{holder("", mine), holder("", other), false},
		{holder("Bearer k", mine), holder("bearer  k ", junk), true},
		{holder("Bearer a"), holder("", mine), false},
		{holder("Bearer k"), holder("Bearer l"), false},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%d: %q and %q", i, c.a, c.b)
		}
	}
}
