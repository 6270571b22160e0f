package httpapi

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/testissuer"
)

func TestSingleSignOn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{Domains: []string{"example.com"}}))
	b.setUp()
	if got := b.do("GET", "/api/v1/session/ways", ""); strings.TrimSpace(got.text) != `{"passkeys":true,"provider":{"label":"Example Ltd"}}` {
		t.Errorf("ways: %s", got.text)
	}
	i.Person("s-ann", "Ann@Example.com", true)
	w := b.browser()
	to := w.depart()
	for name, want := range map[string]string{"response_type": "code", "code_challenge_method": "S256", "scope": "openid email profile"} {
		if to.Query().Get(name) != want {
			t.Errorf("%s is %q", name, to.Query().Get(name))
		}
	}
	back := i.asks(to, "s-ann")
	if got := b.browser().arrive(back); got != "/login?problem=bad_challenge" {
		t.Errorf("in another browser: %s", got)
	}
	if got := w.arrive(back); got != "/" || w.who() != "ann@example.com" {
		t.Fatalf("%s as %q: %s", got, w.who(), b.log)
	}
	if got := w.arrive(back); got != "/login?problem=bad_challenge" {
		t.Errorf("again: %s", got)
	}
	again := b.browser()
	replayed := again.depart().Query()
	back.Set("state", replayed.Get("state"))
	if got := again.arrive(back); got != "/login?problem=provider_refused" || again.who() != "" {
		t.Errorf("a used code: %s", got)
	}
	stolen := b.browser()
	fresh := i.asks(b.browser().depart(), "s-ann") // somebody else's code, that nobody has used
	fresh.Set("state", stolen.depart().Query().Get("state"))
	if got := stolen.arrive(fresh); got != "/login?problem=provider_refused" {
		t.Errorf("a code that another browser asked for: %s", got)
	}

	i.Person("s-ann", "ann@elsewhere.example", false) // bound: the address counts no more
	if w := b.browser(); w.arrive(i.asks(w.depart(), "s-ann")) != "/" || w.who() != "ann@example.com" {
		t.Errorf("with another address: %s", b.log)
	}
	i.Person("s-eve", "ann@example.com", true)
	if got := b.browser(); got.arrive(i.asks(got.depart(), "s-eve")) == "/" {
		t.Error("somebody else with that address comes in")
	}
	text := b.actions()
	for want, times := range map[string]int{"user:1 identity.bound user:1 (ann@example.com as owner, by Example Ltd)": 1, "user:1 session.created user:1 (with Example Ltd)": 2} {
		if strings.Count(text, want) != times {
			t.Errorf("%q is not there %d times:\n%s", want, times, text)
		}
	}
}

// Who comes for the first time, and what the login page is told of who may not.
func TestWhoComesBySingleSignOn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	invited := newBenchWith(t, i.with(session.Terms{Domains: []string{"example.com"}}))
	open := newBenchWith(t, i.with(session.Terms{Domains: []string{"example.com"}, Strangers: accountstore.RoleViewer}))
	for _, b := range []*bench{invited, open} {
		b.setUp()
	}
	invite := func(body string) {
		t.Helper()
		if got := invited.do("POST", "/api/v1/invitations", body, as(ownerKey)); got.Code != http.StatusCreated {
			t.Fatalf("%d %s", got.Code, got.text)
		}
	}
	invite(`{"email":"eve@example.com","role":"editor"}`)
	if got := invited.do("POST", "/api/v1/invitations", `{"role":"owner"}`, as(ownerKey)); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.text, "/email") {
		t.Errorf("an invitation for whoever has it: %d %s", got.Code, got.text)
	}
	invite(`{"email":"late@example.com","role":"owner"}`)
	invited.exec("UPDATE invitations SET expires_at_ms = 1 WHERE email = 'late@example.com'")
	i.Person("eve", "eve@example.com", true)
	i.Person("eve2", "eve@example.com", true)
	i.Person("mallory", "eve@example.com", false)
	i.Person("late", "late@example.com", true)
	i.Person("ann2", "ann@example.com", false)
	i.Person("far", "far@example.org", true)
	i.Person("near", "x@example.com@example.org", true)
	i.Person("none", "", true)
	for n, c := range []struct {
		b       *bench
		subject string
		to      string
	}{
		{invited, "mallory", "/login?problem=email_not_verified"},
		{invited, "ann2", "/login?problem=email_not_verified"},
		{invited, "none", "/login?problem=email_not_verified"},
		{invited, "far", "/login?problem=domain_not_allowed"},
		{invited, "near", "/login?problem=domain_not_allowed"},
		{invited, "late", "/login?problem=unknown_person"},
		{invited, "eve", "/"},
		{invited, "eve", "/"},
		{invited, "eve2", "/login?problem=other_identity"},
		{open, "mallory", "/login?problem=email_not_verified"},
		{open, "far", "/login?problem=domain_not_allowed"},
		{open, "late", "/"},
	} {
		w := c.b.browser()
		w.client.Transport = from(t, fmt.Sprint("person", n))
		if got := w.arrive(i.asks(w.depart(), c.subject)); got != c.to || (w.who() != "") != (c.to == "/") {
			t.Errorf("%s: %s as %q, want %s", c.subject, got, w.who(), c.to)
		}
	}
	for b, want := range map[*bench]string{
		invited: "user:2 invitation.accepted user:2 (eve@example.com as editor, by Example Ltd)",
		open:    "user:2 user.created user:2 (late@example.com as viewer, by Example Ltd)",
	} {
		if text := b.actions(); strings.Count(text, want) != 1 {
			t.Errorf("audit log without %q:\n%s", want, text)
		}
		var name string
		if err := b.db.Read().Raw("SELECT name FROM users WHERE id = 2 AND password_hash = ''").Scan(&name).Error; err != nil || name != "Eve Doe" {
			t.Errorf("called %q, %v", name, err)
		}
	}
}

// A token that is not exactly what was asked for signs nobody in.
func TestTokensThatAreNotBelieved(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{}))
	b.setUp()
	i.Person("s-ann", "ann@example.com", true)
	foreign, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const untrue = "/login?problem=provider_untrue"
	for name, c := range map[string]struct {
		forge func(answer, claims jsonMap)
		key   any
		ask   func(url.Values) // spoils what the provider is asked
		back  func(url.Values) // and what the browser brings back
		to    string
	}{
		"nothing":               {forge: func(jsonMap, jsonMap) {}, to: "/"},
		"in the token":          {forge: func(_, c jsonMap) { c["email"], c["email_verified"] = "ann@example.com", "true" }, to: "/"},
		"another audience":      {forge: func(_, c jsonMap) { c["aud"] = "other" }, to: untrue},
		"also another audience": {forge: func(_, c jsonMap) { c["aud"] = []string{"other", "probefleet"}; delete(c, "azp") }, to: untrue},
		"another party":         {forge: func(_, c jsonMap) { c["azp"] = "other" }, to: untrue},
		"expired":               {forge: func(_, c jsonMap) { c["exp"] = 1 }, to: untrue},
		"another issuer":        {forge: func(_, c jsonMap) { c["iss"] = "https://evil.example" }, to: untrue},
		"nobody":                {forge: func(_, c jsonMap) { delete(c, "sub") }, to: untrue},
		"somebody else":         {forge: func(_, c jsonMap) { c["sub"] = "s-eve" }, to: untrue}, // than the user info is of
		"no nonce":              {forge: func(_, c jsonMap) { delete(c, "nonce") }, to: untrue},
		"another access token":  {forge: func(_, c jsonMap) { c["at_hash"] = "AAAA" }, to: untrue},
		"another key":           {forge: func(jsonMap, jsonMap) {}, key: foreign, to: untrue},
		"no token":              {forge: func(a, _ jsonMap) { a["id_token"] = 1 }, to: untrue},
		"no signature": {forge: func(a, _ jsonMap) {
			a["id_token"] = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzLWFubiJ9."
		}, to: untrue},
		"another nonce":          {ask: func(q url.Values) { q.Set("nonce", "guessed") }, to: untrue},
		"another state":          {back: func(q url.Values) { q.Set("state", "guessed") }, to: "/login?problem=bad_challenge"},
		"no state":               {back: func(q url.Values) { q.Del("state") }, to: "/login?problem=bad_challenge"},
		"another code":           {back: func(q url.Values) { q.Set("code", "guessed") }, to: "/login?problem=provider_refused"},
		"refused":                {back: func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }, to: "/login?problem=provider_refused"},
		"from another provider":  {back: func(q url.Values) { q.Set("iss", "https://evil.example") }, to: untrue},
		"another code challenge": {ask: func(q url.Values) { q.Set("code_challenge", "guessed") }, to: "/login?problem=provider_refused"},
	} {
		i.mu.Lock()
		i.forge, i.key = c.forge, c.key
		i.mu.Unlock()
		w := b.browser()
		w.client.Transport = from(t, name)
		to := w.depart()
		if query := to.Query(); c.ask != nil {
			c.ask(query)
			to.RawQuery = query.Encode()
		}
		back := i.asks(to, "s-ann")
		if c.back != nil {
			c.back(back)
		}
		if got := w.arrive(back); got != c.to || (w.who() != "") != (c.to == "/") {
			t.Errorf("%s: %s, want %s", name, got, c.to)
		}
	}
	if strings.Contains(b.log.String(), testissuer.ClientSecret) {
		t.Error("the client's secret is in the log")
	}
}

func TestSingleSignOnAndSecondFactor(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{}))
	_, key, _ := enrolled(b)
	i.Person("s-ann", "ann@example.com", true)
	w := b.browser()
	challenge, is := strings.CutPrefix(w.arrive(i.asks(w.depart(), "s-ann")), "/login#challenge=")
	if !is || w.who() != "" {
		t.Fatalf("signed in as %q without the second step", w.who())
	}
	// Who does not know the code leaves nothing behind: neither a way in, nor one that is taken.
	i.Person("stranger", "ann@example.com", true)
	if to := b.browser().arrive(i.asks(b.browser().depart(), "stranger")); to == "/" {
		t.Fatal("a stranger is in")
	}
	if text := b.actions(); strings.Contains(text, "identity.bound") {
		t.Errorf("bound without the second step:\n%s", text)
	}
	// In another browser the link is worth nothing, whatever code is said there, and stays good here.
	other, body := b.browser(), fmt.Sprintf(`{"challenge":%q,"code":%q}`, challenge, codeAt(b, key, 0))
	other.arrive(i.asks(other.depart(), "s-ann")) // which has a link of its own
	for name, w := range map[string]*browser{"without a cookie": b.browser(), "with another's": other} {
		if got := w.do("POST", "/api/v1/session:verify", body); got.Code != http.StatusUnauthorized || got.problem(t).Code != "bad_challenge" || w.who() != "" {
			t.Errorf("the link in a browser %s: %d %s", name, got.Code, got.text)
		}
	}
	if got := w.do("POST", "/api/v1/session:verify", body); got.Code != http.StatusOK || w.who() != "ann@example.com" {
		t.Errorf("second step: %d %s", got.Code, got.text)
	}
	if text := b.actions(); strings.Count(text, "identity.bound") != 1 {
		t.Errorf("bound with the second step:\n%s", text)
	}
	late := b.browser()
	if to := late.arrive(i.asks(late.depart(), "stranger")); to != "/login?problem=other_identity" && !strings.HasPrefix(to, "/login#challenge=") {
		t.Errorf("the stranger, later: %s", to)
	}
}

// Who was removed does not come back by an invitation that was left over, nor in with an address
// that an invitation did not name.
func TestInvitationsAndSingleSignOn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{}))
	b.setUp()
	i.Person("alice", "alice@example.com", true)
	for range 2 { // the first was lost
		b.invite(`{"email":"alice@example.com","role":"owner"}`, as(ownerKey))
	}
	w := b.browser()
	if to := w.arrive(i.asks(w.depart(), "alice")); to != "/" {
		t.Fatalf("invited: %s", to)
	}
	b.invite(`{"email":"alice@example.com","role":"owner"}`, as(ownerKey)) // by mistake, while she is here
	if got := b.do("DELETE", "/api/v1/users/2", "", as(ownerKey)); got.Code != http.StatusNoContent {
		t.Fatalf("remove: %d %s", got.Code, got.text)
	}
	w = b.browser()
	if to := w.arrive(i.asks(w.depart(), "alice")); to != "/login?problem=unknown_person" {
		t.Errorf("removed: %s", to)
	}
	b.exec("INSERT INTO invitations (token_hash, email, role, created_by, created_at_ms, expires_at_ms) VALUES ('" + session.HashToken("open") + "', '', 'viewer', 'test', 1, 99999999999999)")
	if got := b.do("POST", "/api/v1/invitations:accept", `{"token":"open","email":"boss@example.com","name":"M","password":"correct horse"}`); got.Code == http.StatusCreated {
		t.Errorf("an address that nobody named: %d %s", got.Code, got.text)
	}
}

// Nobody takes the address of a person who has yet to come.
func TestAddressesAreHeldWhereTheySayWho(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	change := `{"email":"boss@example.com","current_password":"correct horse"}`
	for name, b := range map[string]*bench{"with": newBenchWith(t, i.with(session.Terms{})), "without": newBench(t)} {
		b.setUp()
		editor := b.join("mallory@example.com", "editor")
		got := b.do("PATCH", "/api/v1/session/profile", change, editor)
		if held := got.Code == http.StatusConflict && strings.Contains(got.text, "address_held"); held != (name == "with") || !held && got.Code != http.StatusOK {
			t.Errorf("%s single sign-on: %d %s", name, got.Code, got.text)
		}
		if got := b.do("PATCH", "/api/v1/session/profile", `{"name":"Mallory"}`, editor); got.Code != http.StatusOK {
			t.Errorf("a name: %d %s", got.Code, got.text)
		}
	}
}

func TestProviderThatIsNotThere(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.Person("s-ann", "ann@example.com", true)
	for name, c := range map[string]struct {
		change func(*signon.Options)
		code   string
	}{
		"private":      {func(o *signon.Options) { o.Guard = guard.New(nil) }, "provider_unavailable"},
		"another port": {func(o *signon.Options) { o.Issuer = "http://127.0.0.1:1" }, "provider_unavailable"},
		"another path": {func(o *signon.Options) { o.Issuer += "/tenant" }, "provider_unavailable"},
		"another name": {func(o *signon.Options) { o.Issuer += "/" }, "provider_untrue"},
		"not over TLS": {func(o *signon.Options) { o.Issuer = strings.Replace(o.Issuer, "http://", "https://", 1) }, "provider_unavailable"},
	} {
		b := newBenchWith(t, i.with(session.Terms{}, c.change))
		b.setUp()
		w := b.browser()
		if got := w.do("POST", "/api/v1/session/provider", `{}`); got.Code < 500 || got.problem(t).Code != c.code {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
	b := newBenchWith(t, i.with(session.Terms{}, func(o *signon.Options) { o.ClientSecret = secret.New("other") }))
	b.setUp()
	w := b.browser()
	if got := w.arrive(i.asks(w.depart(), "s-ann")); got != "/login?problem=provider_refused" {
		t.Errorf("wrong secret: %s", got)
	}
	b = newBenchWith(t, i.with(session.Terms{}))
	b.setUp()
	w = b.browser()
	back := i.asks(w.depart(), "s-ann")
	i.Close()
	if got := w.arrive(back); got != "/login?problem=provider_unavailable" || w.who() != "" {
		t.Errorf("away since the browser left: %s", got)
	}
	if got := newBench(t).do("POST", "/api/v1/session/provider", `{}`); got.Code != http.StatusConflict || got.problem(t).Code != "no_provider" {
		t.Errorf("none is set: %d %s", got.Code, got.text)
	}
}

// Who has no password says it again by being asked anew at the provider. That counts if the
// provider says when it asked, and not otherwise.
func TestSayingItAgainAtTheProvider(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{Strangers: accountstore.RoleViewer, Domains: []string{"example.com"}}))
	b.setUp()
	i.Person("s-eve", "eve@example.com", true)
	const hourAgo, soon = -3600, 30
	told := func(seconds float64) func(_, claims jsonMap) {
		return func(_, c jsonMap) { c["auth_time"] = c["iat"].(float64) + seconds }
	}
	for name, c := range map[string]struct {
		again bool
		forge func(answer, claims jsonMap)
		to    string
		fresh bool
	}{
		"just now":                   {false, nil, "/", true},
		"an hour ago":                {false, told(hourAgo), "/", false},
		"nobody knows":               {false, func(_, c jsonMap) { delete(c, "auth_time") }, "/", false},
		"since 1970":                 {false, func(_, c jsonMap) { c["auth_time"] = 0 }, "/", false},
		"asked again":                {true, nil, "/", true},
		"asked again, by its clock":  {true, told(soon), "/", true},
		"not asked again":            {true, told(hourAgo), "/login?problem=not_asked_again", false},
		"asked a minute before":      {true, told(-60), "/login?problem=not_asked_again", false},
		"asked again, nobody knows":  {true, func(_, c jsonMap) { delete(c, "auth_time") }, "/login?problem=not_asked_again", false},
		"asked again, says no time":  {true, func(_, c jsonMap) { c["auth_time"] = "now" }, "/login?problem=not_asked_again", false},
		"just now, with a point":     {false, func(_, c jsonMap) { c["auth_time"] = c["iat"].(float64) - 0.5 }, "/", true},
		"asked again, said unsigned": {true, func(a, c jsonMap) { delete(c, "auth_time"); a["auth_time"] = c["iat"] }, "/login?problem=not_asked_again", false},
	} {
		i.mu.Lock()
		i.forge = c.forge
		i.mu.Unlock()
		w := b.browser()
		got := w.do("POST", "/api/v1/session/provider", fmt.Sprintf(`{"again":%t}`, c.again))
		var out struct{ URL string }
		got.into(t, &out)
		to, err := url.Parse(out.URL)
		if err != nil || to.Query().Has("prompt") != c.again || c.again && (to.Query().Get("prompt") != "login" || to.Query().Get("max_age") != "0") {
			t.Errorf("%s: sent to %s, %v", name, out.URL, err)
		}
		if to := w.arrive(i.asks(to, "s-eve")); to != c.to {
			t.Errorf("%s: %s", name, to)
			continue
		}
		if c.to != "/" {
			if w.who() != "" {
				t.Errorf("%s: signed in as %s", name, w.who())
			}
			continue
		}
		got = w.do("POST", "/api/v1/session/passkeys", `{}`)
		if fresh := got.Code == http.StatusOK; fresh != c.fresh || !fresh && got.problem(t).Code != "sign_in_again" {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
}
