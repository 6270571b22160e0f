package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// phone is an authenticator with one passkey.
type phone struct {
	virtualwebauthn.Authenticator
	key   virtualwebauthn.Credential
	party virtualwebauthn.RelyingParty
}

// newKey makes a key as authenticators write them: the library leaves out leading zeros of a
// coordinate, which one key in 128 has.
func newKey() virtualwebauthn.Credential {
	const length = 77 // of a COSE key on P-256
	for {
		if key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(key.Key.AttestationData()) == length {
			return key
		}
	}
}

func newPhone() *phone {
	return &phone{virtualwebauthn.NewAuthenticator(), newKey(), virtualwebauthn.RelyingParty{ID: "pf.example", Name: "Probefleet", Origin: "https://pf.example"}}
}

type ceremonyJSON struct {
	Options   json.RawMessage
	Challenge string
}

// makes is what the phone makes of a begun registration, ready to be sent.
func (p *phone) makes(t testing.TB, begun reply) string {
	t.Helper()
	if begun.Code != http.StatusOK {
		t.Fatalf("begin: %d %s", begun.Code, begun.text)
	}
	var ceremony ceremonyJSON
	begun.into(t, &ceremony)
	options, err := virtualwebauthn.ParseAttestationOptions(string(ceremony.Options))
	if err != nil {
		t.Fatal(err)
	}
	p.Options.UserHandle = []byte(options.UserID)
	return fmt.Sprintf(`{"challenge":%q,"name":" Phone ","credential":%s}`, ceremony.Challenge, virtualwebauthn.CreateAttestationResponse(p.party, p.Authenticator, p.key, *options))
}

// signs is what the phone answers to a sign-in that was begun.
func (p *phone) signs(t testing.TB, begun reply) string {
	t.Helper()
	if begun.Code != http.StatusOK {
		t.Fatalf("begin: %d %s", begun.Code, begun.text)
	}
	var ceremony ceremonyJSON
	begun.into(t, &ceremony)
	options, err := virtualwebauthn.ParseAssertionOptions(string(ceremony.Options))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"credential":%s}`, virtualwebauthn.CreateAssertionResponse(p.party, p.Authenticator, p.key, *options))
}

const current = `{"current_password":"correct horse"}`

func (w *browser) register(p *phone) int64 {
	w.Helper()
	got := w.do("POST", "/api/v1/session/passkeys:finish", p.makes(w, w.do("POST", "/api/v1/session/passkeys", current)))
	if got.Code != http.StatusCreated {
		w.Fatalf("register: %d %s", got.Code, got.text)
	}
	var made struct{ ID int64 }
	got.into(w, &made)
	return made.ID
}

func (w *browser) ask() reply {
	w.Helper()
	return w.do("POST", "/api/v1/session/passkey:begin", `{}`)
}

func (w *browser) finish(signed string) reply {
	w.Helper()
	return w.do("POST", "/api/v1/session/passkey:finish", signed)
}

func TestPasskeyAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	enrolled(b) // so that a password alone is not enough
	b.exec("UPDATE second_factors SET confirmed_at_ms = NULL")
	mine := b.browser().logIn("ann@example.com")
	b.exec("UPDATE second_factors SET confirmed_at_ms = 1")
	p := newPhone()
	p.key.Counter = 7
	begun := mine.do("POST", "/api/v1/session/passkeys", current)
	for _, want := range []string{`"id":"pf.example"`, `"residentKey":"required"`, `"userVerification":"required"`, `"attestation":"none"`, `"timeout":300000`} {
		if !strings.Contains(begun.text, want) {
			t.Errorf("registration without %s: %s", want, begun.text)
		}
	}
	made := p.makes(t, begun)
	if len(p.Options.UserHandle) < 40 || strings.Contains(string(p.Options.UserHandle), "ann") {
		t.Errorf("the authenticator knows the user by %q", p.Options.UserHandle)
	}
	got := mine.do("POST", "/api/v1/session/passkeys:finish", made)
	if got.Code != http.StatusCreated || !strings.Contains(got.text, `"id":1,"name":"Phone"`) || !strings.Contains(got.text, `"last_used_at":null,"blocked_at":null`) {
		t.Fatalf("register: %d %s", got.Code, got.text)
	}

	other := b.browser()
	asked := other.ask()
	if !strings.Contains(asked.text, `"rpId":"pf.example"`) || !strings.Contains(asked.text, `"userVerification":"required"`) || strings.Contains(asked.text, "allowCredentials") {
		t.Errorf("the sign-in says more than it should, or less: %s", asked.text)
	}
	if cookie := asked.Header().Get("Set-Cookie"); !strings.HasPrefix(cookie, "pf_passkey=") || !strings.Contains(cookie, "HttpOnly; SameSite=Lax") {
		t.Errorf("cookie %q", cookie)
	}
	p.key.Counter++
	signed := p.signs(t, asked)
	if got := other.finish(signed); got.Code != http.StatusOK || other.who() != "ann@example.com" {
		t.Fatalf("sign in: %d %s", got.Code, got.text)
	}
	if got := b.browser().finish(signed); got.Code != http.StatusUnauthorized || got.problem(t).Code != "bad_challenge" {
		t.Errorf("from a browser that asked nothing: %d %s", got.Code, got.text)
	}
	if got := other.finish(signed); got.Code != http.StatusUnauthorized || got.problem(t).Code != "bad_challenge" {
		t.Errorf("replayed: %d %s", got.Code, got.text)
	}
	if got := other.do("PATCH", "/api/v1/session/passkeys/1", `{"name":"Old phone"}`); got.Code != http.StatusOK || !strings.Contains(got.text, `"Old phone"`) || strings.Contains(got.text, `"last_used_at":null`) {
		t.Errorf("rename: %d %s", got.Code, got.text)
	}
	if got := other.do("POST", "/api/v1/session/passkeys/1:remove", `{"current_password":"wrong horse"}`); got.problem(t).Code != "wrong_password" {
		t.Errorf("remove without the password: %d %s", got.Code, got.text)
	}
	if got := other.do("POST", "/api/v1/session/passkeys/1:remove", current); got.Code != http.StatusNoContent {
		t.Errorf("remove: %d %s", got.Code, got.text)
	}
	p.key.Counter++
	last := b.browser()
	if got := last.finish(p.signs(t, last.ask())); got.problem(t).Code != "bad_passkey" {
		t.Errorf("a removed passkey: %d %s", got.Code, got.text)
	}
	for _, want := range []string{"user:1 beginPasskey", "user:1 passkey.added passkey:1 (Phone)", "user:1 session.created user:1 (with a passkey)", "user:1 passkey.renamed passkey:1 (Old phone)", "user:1 passkey.removed passkey:1"} {
		if !strings.Contains(b.actions(), want) {
			t.Errorf("no %q in\n%s", want, b.actions())
		}
	}
}

// Whatever is wrong with a sign-in has one answer, whosoever it is about.
func TestPasskeysThatSignNobodyIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	b.member("bob@example.com", accountstore.RoleViewer)
	ann, bob := newPhone(), newPhone()
	b.browser().logIn("ann@example.com").register(ann)
	b.browser().logIn("bob@example.com").register(bob)
	for name, c := range map[string]struct {
		spoil func(p *phone)
		after string // statement, between begin and finish
		code  string
	}{
		"nothing":                  {func(*phone) {}, "", ""},
		"another origin":           {func(p *phone) { p.party.Origin = "https://pf.example.evil.example" }, "", "bad_passkey"},
		"no TLS":                   {func(p *phone) { p.party.Origin = "http://pf.example" }, "", "bad_passkey"},
		"another port":             {func(p *phone) { p.party.Origin = "https://pf.example:8443" }, "", "bad_passkey"},
		"a name below":             {func(p *phone) { p.party.Origin = "https://evil.pf.example" }, "", "bad_passkey"},
		"another relying party":    {func(p *phone) { p.party.ID = "evil.example" }, "", "bad_passkey"},
		"nobody has shown himself": {func(p *phone) { p.Options.UserNotVerified = true }, "", "bad_passkey"},
		"nobody was there":         {func(p *phone) { p.Options.UserNotPresent = true }, "", "bad_passkey"},
		"no user":                  {func(p *phone) { p.Options.UserHandle = nil }, "", "bad_passkey"},
		"as another user":          {func(p *phone) { p.Options.UserHandle = bob.Options.UserHandle }, "", "bad_passkey"},
		"another user's key":       {func(p *phone) { p.key.ID = bob.key.ID }, "", "bad_passkey"},
		"another user's key, as that user": {func(p *phone) {
			p.key.ID, p.Options.UserHandle = bob.key.ID, bob.Options.UserHandle
		}, "", "bad_passkey"},
		"unknown key":     {func(p *phone) { p.key = newKey() }, "", "bad_passkey"},
		"other signature": {func(p *phone) { p.key.Key = newKey().Key }, "", "bad_passkey"},
		"backup flag":     {func(p *phone) { p.Options.BackupEligible = true }, "", "bad_passkey"},
		"too late":        {func(*phone) {}, "UPDATE challenges SET expires_at_ms = 1", "bad_challenge"},
	} {
		w, p := b.browser(), *ann
		c.spoil(&p)
		signed := p.signs(t, w.ask())
		if c.after != "" {
			b.exec(c.after)
		}
		w.client.Transport = from(t, name)
		got := w.finish(signed)
		switch {
		case c.code == "":
			if got.Code != http.StatusOK || w.who() != "ann@example.com" {
				t.Errorf("%s: %d %s", name, got.Code, got.text)
			}
		case got.Code != http.StatusUnauthorized || got.problem(t).Code != c.code || w.who() != "":
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
	w := b.browser()
	w.client.Transport = from(t, "removed")
	asked := w.ask()
	if got := b.do("DELETE", "/api/v1/users/2", "", as(ownerKey)); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if got := w.finish(bob.signs(t, asked)); got.problem(t).Code != "bad_passkey" {
		t.Errorf("of a user who was removed meanwhile: %d %s", got.Code, got.text)
	}
	for body, want := range map[string]string{
		`{}`:                 "required",
		`{"credential":{}}`:  "bad_passkey",
		`{"credential":[1]}`: "bad_passkey",
		`{"credential":{"id":"x"},"email":"a@b.c"}`:  "unknown_field",
		`{"credential":{"id":"AAAA","rawId":"AAAA"}`: "malformed_json",
	} {
		w := b.browser()
		w.client.Transport = from(t, body)
		w.ask()
		if got := w.finish(body); got.problem(t).Code != want {
			t.Errorf("%s: %d %s", body, got.Code, got.text)
		}
	}
}

// Two authenticators that hold one key count apart: the key counts no more, whoever is the copy.
func TestPasskeyWhoseCountGoesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	mine, p := b.browser().logIn("ann@example.com"), newPhone()
	p.key.Counter = 10
	mine.register(p)
	p.key.Counter = 11
	var (
		group  sync.WaitGroup
		mu     sync.Mutex
		codes  = map[int]int{}
		signed [4]string
		all    [4]*browser
	)
	for i := range signed {
		all[i] = b.browser()
		signed[i] = p.signs(t, all[i].ask())
	}
	for i := range signed {
		group.Go(func() {
			got := all[i].finish(signed[i])
			mu.Lock()
			defer mu.Unlock()
			codes[got.Code]++
			if got.Code != http.StatusOK && got.problem(t).Code != "passkey_blocked" {
				t.Errorf("%d %s", got.Code, got.text)
			}
		})
	}
	group.Wait()
	if codes[http.StatusOK] != 1 || codes[http.StatusUnauthorized] != 3 {
		t.Errorf("one count four times: %v", codes)
	}
	p.key.Counter = 50
	if w := b.browser(); w.finish(p.signs(t, w.ask())).problem(t).Code != "passkey_blocked" {
		t.Error("a blocked passkey signs in")
	}
	if got := mine.do("GET", "/api/v1/session/passkeys", ""); strings.Contains(got.text, `"blocked_at":null`) {
		t.Errorf("nobody is told: %s", got.text)
	}
	if text := b.actions(); strings.Count(text, " passkey.blocked passkey:1 (its count went back, there may be a copy; of user:1)") != 1 {
		t.Errorf("audit log:\n%s", text)
	}
}

func TestRegisteringPasskeys(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	b.member("bob@example.com", accountstore.RoleViewer)
	mine, again, bob := b.browser().logIn("ann@example.com"), b.browser().logIn("ann@example.com"), b.browser().logIn("bob@example.com")
	if got := mine.do("POST", "/api/v1/session/passkeys", `{"current_password":"wrong horse"}`); got.problem(t).Code != "wrong_password" {
		t.Errorf("wrong password: %d %s", got.Code, got.text)
	}
	if got := mine.do("POST", "/api/v1/session/passkeys", `{}`); got.problem(t).Code != "required" {
		t.Errorf("no password: %d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/session/passkeys", current, as(ownerKey)); got.problem(t).Code != "no_session" {
		t.Errorf("a key's passkey: %d %s", got.Code, got.text)
	}
	for name, c := range map[string]struct {
		spoil func(p *phone)
		by    *browser
		after string
		code  string
	}{
		"another session":          {nil, again, "", "registration_over"},
		"another user":             {nil, bob, "", "registration_over"},
		"too late":                 {nil, mine, "UPDATE challenges SET expires_at_ms = 1", "registration_over"},
		"another origin":           {func(p *phone) { p.party.Origin = "https://evil.example" }, mine, "", "bad_passkey"},
		"another relying party":    {func(p *phone) { p.party.ID = "evil.example" }, mine, "", "bad_passkey"},
		"nobody has shown himself": {func(p *phone) { p.Options.UserNotVerified = true }, mine, "", "bad_passkey"},
		"another epoch":            {nil, mine, "UPDATE users SET epoch = epoch + 1; UPDATE sessions SET epoch = epoch + 1", "registration_over"},
	} {
		p := newPhone()
		if c.spoil != nil {
			c.spoil(p)
		}
		made := p.makes(t, mine.do("POST", "/api/v1/session/passkeys", current))
		if c.after != "" {
			b.exec(c.after)
		}
		if got := c.by.do("POST", "/api/v1/session/passkeys:finish", made); got.problem(t).Code != c.code {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
		if got := mine.do("POST", "/api/v1/session/passkeys:finish", made); got.problem(t).Code != "registration_over" {
			t.Errorf("%s, again: %d %s", name, got.Code, got.text)
		}
	}
	p := newPhone()
	mine.register(p)
	begun := mine.do("POST", "/api/v1/session/passkeys", current)
	if id := base64.RawURLEncoding.EncodeToString(p.key.ID); !strings.Contains(begun.text, id) {
		t.Errorf("the passkey that is there is not excluded: %s", begun.text)
	}
	if got := mine.do("POST", "/api/v1/session/passkeys:finish", p.makes(t, begun)); got.problem(t).Code != "passkey_known" {
		t.Errorf("twice: %d %s", got.Code, got.text)
	}
	for range accountstore.MaxPasskeys - 1 {
		mine.register(newPhone())
	}
	if got := mine.do("POST", "/api/v1/session/passkeys", current); got.problem(t).Code != "too_many_passkeys" {
		t.Errorf("too many: %d %s", got.Code, got.text)
	}
	if got := bob.do("PATCH", "/api/v1/session/passkeys/1", `{"name":"x"}`); got.Code != http.StatusNotFound {
		t.Errorf("another's: %d %s", got.Code, got.text)
	}
	if got := bob.do("POST", "/api/v1/session/passkeys/1:remove", current); got.Code != http.StatusNotFound {
		t.Errorf("another's: %d %s", got.Code, got.text)
	}
}

// Who has no password signs in again instead, and keeps a way in.
func TestLastWayIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	mine, first, second := b.browser().logIn("ann@example.com"), newPhone(), newPhone()
	mine.register(first)
	b.exec("UPDATE users SET password_hash = ''")
	if got := b.browser().do("POST", "/api/v1/session", `{"email":"ann@example.com","password":"correct horse"}`); got.problem(t).Code != "bad_credentials" {
		t.Errorf("there is no password: %d %s", got.Code, got.text)
	}
	if got := mine.do("GET", "/api/v1/session", ""); !strings.Contains(got.text, `"passwordless":true`) {
		t.Errorf("nobody is told: %s", got.text)
	}
	remove := func(id int64, want string) {
		t.Helper()
		got := mine.do("POST", fmt.Sprintf("/api/v1/session/passkeys/%d:remove", id), `{}`)
		if want == "" && got.Code != http.StatusNoContent || want != "" && got.problem(t).Code != want {
			t.Errorf("remove %d: %d %s, want %s", id, got.Code, got.text, want)
		}
	}
	remove(1, "last_way_in")
	mine.register(second)
	b.exec("UPDATE passkeys SET blocked_at_ms = 1 WHERE id = 2")
	remove(1, "last_way_in")
	b.exec("UPDATE passkeys SET blocked_at_ms = NULL")
	b.exec("UPDATE sessions SET proven_at_ms = ?", time.Now().Add(-11*time.Minute).UnixMilli())
	remove(1, "sign_in_again")
	if got := mine.do("PUT", "/api/v1/session/password", `{"password":"battery staple"}`); got.Code != http.StatusForbidden || got.problem(t).Code != "sign_in_again" {
		t.Errorf("a password, long after signing in: %d %s", got.Code, got.text)
	}
	mine = b.browser()
	if got := mine.finish(second.signs(t, mine.ask())); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	remove(1, "")
	remove(2, "last_way_in")
	if got := mine.do("PUT", "/api/v1/session/password", `{"password":"battery staple"}`); got.Code != http.StatusOK {
		t.Errorf("a first password: %d %s", got.Code, got.text)
	}
	if got := mine.do("POST", "/api/v1/session/passkeys/2:remove", `{"current_password":"battery staple"}`); got.Code != http.StatusNoContent {
		t.Errorf("with a password: %d %s", got.Code, got.text)
	}
}

func TestPasskeysAreSlowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	b.member("bob@example.com", accountstore.RoleViewer)
	ann, bob := newPhone(), newPhone()
	mine := b.browser().logIn("ann@example.com")
	mine.register(ann)
	b.browser().logIn("bob@example.com").register(bob)
	w, forged, codes := b.browser(), *ann, map[int]int{}
	forged.key.Key = newKey().Key
	for range 12 {
		codes[w.finish(forged.signs(t, w.ask())).Code]++
	}
	if codes[http.StatusTooManyRequests] < 6 || codes[http.StatusUnauthorized] < 5 {
		t.Errorf("guesses were answered %v", codes)
	}
	if other := b.browser(); other.finish(bob.signs(t, other.ask())).Code != http.StatusOK {
		t.Error("who guesses at one account keeps others of the address out")
	}
	clear(codes)
	for range 40 {
		codes[b.browser().ask().Code]++
	}
	if codes[http.StatusTooManyRequests] < 20 {
		t.Errorf("sign-ins were begun without an end: %v", codes)
	}
	if got := mine.finish(ann.signs(t, mine.ask())); got.Code != http.StatusOK {
		t.Errorf("in a browser that is known: %d %s", got.Code, got.text)
	}
}

// The public URL says where passkeys belong, not what a request names.
func TestWherePasskeysAre(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://pf.example":       "pf.example https://pf.example",
		"https://PF.example:443":   "pf.example https://pf.example",
		"https://pf.example:8443":  "pf.example https://pf.example:8443",
		"http://localhost:8080":    "localhost http://localhost:8080",
		"http://pf.localhost":      "pf.localhost http://pf.localhost",
		"http://pf.example":        "",
		"https://192.0.2.1":        "",
		"https://[2001:db8::1]:80": "",
	} {
		b := newBenchWith(t, func(_ *bench, o *Options) { o.Sessions.WithPasskeys(url) })
		b.setUp()
		id, origin, there := strings.Cut(want, " ")
		if got := b.do("GET", "/api/v1/session/ways", ""); !strings.Contains(got.text, fmt.Sprintf(`"passkeys":%v`, there)) {
			t.Errorf("%s: %s", url, got.text)
		}
		mine := b.browser().logIn("ann@example.com")
		begun := mine.do("POST", "/api/v1/session/passkeys", current)
		if !there {
			if begun.problem(t).Code != "no_passkeys" || mine.ask().problem(t).Code != "no_passkeys" {
				t.Errorf("%s: %d %s", url, begun.Code, begun.text)
			}
			continue
		}
		p := newPhone()
		p.party.ID, p.party.Origin = id, origin
		if got := mine.do("POST", "/api/v1/session/passkeys:finish", p.makes(t, begun)); got.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", url, got.Code, got.text)
		}
	}
}
