package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

type invitationJSON struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
	Token string `json:"token"`
	Link  string `json:"link"`
}

func (b *bench) invite(body string, who option) (made invitationJSON) {
	b.Helper()
	got := b.do("POST", "/api/v1/invitations", withPassword(body), who)
	if got.Code != http.StatusCreated {
		b.Fatalf("invite: %d %s", got.Code, got.text)
	}
	got.into(b, &made)
	return made
}

// join makes an account with a role, and signs it in.
func (b *bench) join(email, role string) (cookie option) {
	b.Helper()
	made := b.invite(fmt.Sprintf(`{"email":%q,"role":%q}`, email, role), as(ownerKey))
	got := b.do("POST", "/api/v1/invitations:accept", fmt.Sprintf(`{"token":%q,"name":"Bob","password":"correct horse"}`, made.Token))
	if got.Code != http.StatusCreated {
		b.Fatalf("accept: %d %s", got.Code, got.text)
	}
	return cookieOf(got)
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := b.setUp()
	accept := func(token, more string) reply {
		return b.do("POST", "/api/v1/invitations:accept", fmt.Sprintf(`{"token":%q,"name":"Bob","password":"correct horse"%s}`, token, more))
	}
	open := b.invite(`{"role":"editor"}`, mine)
	if open.State != "open" || open.Link != "https://pf.example/invitation#token="+open.Token {
		t.Errorf("%+v", open)
	}
	var hash string
	if err := b.db.Read().Raw("SELECT token_hash FROM invitations").Scan(&hash).Error; err != nil || hash == open.Token || len(hash) != 64 {
		t.Errorf("stored as %q, %v", hash, err)
	}
	if got := b.do("GET", "/api/v1/invitations", "", mine); strings.Contains(got.text, open.Token) || strings.Contains(got.text, hash) {
		t.Errorf("listed with its token: %s", got.text)
	}
	for more, code := range map[string]string{"": "required", `,"email":"x"`: "invalid_email", `,"email":"ann@example.com"`: "email_taken", `,"role":"owner"`: "unknown_field", `,"email":"b@example.com","id":1`: "unknown_field"} {
		if got := accept(open.Token, more); got.problem(t).Code != code {
			t.Errorf("%s: %d %s", more, got.Code, got.text)
		}
	}
	got := accept(open.Token, `,"email":"Bob@example.com"`)
	if got.Code != http.StatusCreated || !strings.Contains(got.text, `"email":"bob@example.com","name":"Bob","role":"editor"`) {
		t.Fatalf("accept: %d %s", got.Code, got.text)
	}
	bob := cookieOf(got)
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/"}`, bob); got.Code != http.StatusCreated {
		t.Errorf("an editor's write: %d", got.Code)
	}
	if got := b.do("GET", "/api/v1/users", "", bob); got.Code != http.StatusForbidden {
		t.Errorf("an editor lists users: %d", got.Code)
	}
	if got := accept(open.Token, `,"email":"eve@example.com"`); got.problem(t).Code != "bad_invitation" {
		t.Errorf("used twice: %d", got.Code)
	}
	named := b.invite(`{"role":"viewer","email":"Cy@example.com"}`, mine)
	if got := accept(named.Token, `,"email":"eve@example.com"`); got.problem(t).Code != "other_address" {
		t.Errorf("another address: %s", got.text)
	}
	if got := b.do("DELETE", fmt.Sprintf("/api/v1/invitations/%d", named.ID), "", mine); got.Code != http.StatusNoContent {
		t.Errorf("revoke: %d", got.Code)
	}
	if got := accept(named.Token, ""); got.problem(t).Code != "bad_invitation" {
		t.Errorf("revoked: %s", got.text)
	}
	late := b.invite(`{"role":"viewer","email":"dee@example.com","expires_s":3600}`, mine)
	if err := b.db.Write().Exec("UPDATE invitations SET expires_at_ms = ? WHERE id = ?", time.Now().UnixMilli(), late.ID).Error; err != nil {
		t.Fatal(err)
	}
	if got := accept(late.Token, ""); got.problem(t).Code != "bad_invitation" {
		t.Errorf("expired: %s", got.text)
	}
	for body, code := range map[string]string{`{}`: "required", `{"role":"root"}`: "unknown_role", `{"role":"viewer","expires_s":1}`: "invalid_range", `{"role":"viewer","token":"x"}`: "unknown_field"} {
		if got := b.do("POST", "/api/v1/invitations", withPassword(body), mine); got.problem(t).Code != code {
			t.Errorf("%s: %s", body, got.text)
		}
	}
}

func TestAnInvitationHasOneWinner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.invite(`{"role":"owner"}`, as(ownerKey))
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		codes = map[int]int{}
	)
	for i := range 20 {
		group.Go(func() {
			got := b.do("POST", "/api/v1/invitations:accept", fmt.Sprintf(`{"token":%q,"email":"u%d@example.com","name":"U","password":"correct horse"}`, made.Token, i),
				func(r *http.Request) { r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", i) }) // throttling must not decide
			mu.Lock()
			defer mu.Unlock()
			codes[got.Code]++
		})
	}
	group.Wait()
	var users int64
	if err := b.db.Read().Raw("SELECT count(*) FROM users").Scan(&users).Error; err != nil || users != 1 || codes[201] != 1 || codes[201]+codes[403]+codes[503] != 20 {
		t.Errorf("%d users, %v, %v", users, codes, err)
	}
}

// Promise: roles decide what each member may do
func TestRolesAndRemoval(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, withSockets)
	server, mine := b.serve(), b.setUp()
	for name, c := range map[string]struct{ method, body string }{"role": {"PATCH", `{"role":"viewer"}`}, "disabled": {"PATCH", `{"disabled":true}`}, "removed": {"DELETE", ""}} {
		bob := b.join("bob-"+name+"@example.com", "editor")
		var me struct{ User struct{ ID int64 } }
		b.do("GET", "/api/v1/session", "", bob).into(t, &me)
		ends, _ := b.open(server, bob)
		if got := b.do(c.method, fmt.Sprintf("/api/v1/users/%d", me.User.ID), c.body, mine); got.Code >= 300 {
			t.Fatalf("%s: %d %s", name, got.Code, got.text)
		}
		if got := b.do("GET", "/api/v1/targets", "", bob); got.Code != http.StatusUnauthorized {
			t.Errorf("%s: the session lives on: %d", name, got.Code)
		}
		if code := ends.ended(t, hang); code != closedRevoked {
			t.Errorf("%s: the socket ended with %d", name, code)
		}
	}
	for _, c := range []struct{ method, path, body, code string }{
		{"PATCH", "1", `{"role":"editor"}`, "last_owner"},
		{"PATCH", "1", `{"disabled":true}`, "last_owner"},
		{"PATCH", "1", `{"disabled":null}`, "required"},
		{"PATCH", "1", `{"disabled":false,"role":"owner"}`, "invalid_type"},
		{"PATCH", "1", `{}`, "required"},
		{"PATCH", "4711", `{"disabled":true}`, "not_found"},
		{"DELETE", "1", "", "last_owner"},
		{"PATCH", "4711", `{"role":"editor"}`, "not_found"},
		{"DELETE", "4711", "", "not_found"},
		{"PATCH", "1", `{"role":"god"}`, "unknown_role"},
		{"PATCH", "1", `{"role":"owner","email":"x@example.com"}`, "unknown_field"},
	} {
		if got := b.do(c.method, "/api/v1/users/"+c.path, c.body, mine); got.problem(t).Code != c.code {
			t.Errorf("%s %s %s: %s", c.method, c.path, c.body, got.text)
		}
	}
	if got := b.do("PATCH", "/api/v1/users/1", `{"role":"owner"}`, mine); got.Code != 200 || !strings.Contains(got.text, `"role":"owner"`) {
		t.Errorf("the same role: %d %s", got.Code, got.text)
	}
	var listed struct {
		Items []struct {
			Email        string
			LastSeenAt   *time.Time `json:"last_seen_at"`
			SecondFactor *bool      `json:"second_factor"`
		}
	}
	b.do("GET", "/api/v1/users", "", mine).into(t, &listed)
	if all := listed.Items; len(all) != 3 || all[0].Email != "ann@example.com" || all[0].LastSeenAt == nil || time.Since(*all[0].LastSeenAt) > hang ||
		all[1].LastSeenAt != nil || all[1].SecondFactor == nil || *all[1].SecondFactor {
		t.Errorf("%+v", listed.Items)
	}
}

// Who is disabled comes in by no way, has no key that counts, and hears of it only who has shown
// to be the person; all of it is as before when the account is enabled again.
func TestDisabledPeople(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{}))
	mine := b.setUp()
	bob := b.member("bob@example.com", accountstore.RoleOwner)
	i.Person("s-bob", "bob@example.com", true)
	w, p := b.browser().logIn(bob.Email), newPhone()
	w.register(p)
	if to := w.arrive(i.asks(w.depart(), "s-bob")); to != "/" {
		t.Fatalf("bind: %s", to)
	}
	cookie := b.logIn(bob.Email)
	key := b.key(`{"name":"bob's","role":"owner"}`, cookie)
	child := b.key(`{"name":"of that","role":"viewer"}`, as(key.Key))
	b.exec("UPDATE invitations SET accepted_at_ms = 1")
	byKey, by := b.invite(`{"email":"x@example.com","role":"owner"}`, as(key.Key)), b.invite(`{"email":"y@example.com","role":"owner"}`, cookie)
	others := b.invite(`{"email":"z@example.com","role":"viewer"}`, mine)
	change := func(body, who string) {
		t.Helper()
		if got := b.do("PATCH", "/api/v1/users/"+who, body, mine); got.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", body, got.Code, got.text)
		}
	}
	change(`{"disabled":true}`, "2")
	change(`{"disabled":true}`, "2") // again: nothing
	if got := b.do("GET", "/api/v1/users", "", mine); !strings.Contains(got.text, `"disabled_at":"20`) || strings.Count(got.text, `"disabled_at":null`) != 1 {
		t.Errorf("listed: %s", got.text)
	}
	for name, who := range map[string]option{"session": cookie, "key": as(key.Key), "key of the key": as(child.Key)} {
		if got := b.do("GET", "/api/v1/targets", "", who); got.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
	if w.who() != "" {
		t.Error("the browser is still in")
	}
	logIn := func(password string) reply {
		return b.do("POST", "/api/v1/session", `{"email":"bob@example.com","password":"`+password+`"}`)
	}
	for password, want := range map[string]string{"correct horse": "account_disabled", "wrong horse": "bad_credentials"} {
		if got := logIn(password); got.problem(t).Code != want || got.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", password, got.Code, got.text)
		}
	}
	forged := *p
	forged.key.Key = newKey().Key
	for want, p := range map[string]*phone{"account_disabled": p, "bad_passkey": &forged} {
		w := b.browser()
		if got := w.finish(p.signs(t, w.ask())); got.problem(t).Code != want || w.who() != "" {
			t.Errorf("passkey, %s: %d %s", want, got.Code, got.text)
		}
	}
	if to := w.arrive(i.asks(w.depart(), "s-bob")); to != "/login?problem=account_disabled" || w.who() != "" {
		t.Errorf("provider: %s", to)
	}
	for made, want := range map[invitationJSON]string{byKey: "bad_invitation", by: "bad_invitation", others: ""} {
		got := b.do("POST", "/api/v1/invitations:accept", fmt.Sprintf(`{"token":%q,"name":"Bob","password":"correct horse"}`, made.Token))
		if want == "" && got.Code != http.StatusCreated || want != "" && got.problem(t).Code != want {
			t.Errorf("invitation %d: %d %s, want %q", made.ID, got.Code, got.text, want)
		}
	}
	// Nobody else is an owner who can come in.
	for method, body := range map[string]string{"PATCH": `{"role":"viewer"}`, "DELETE": ""} {
		if got := b.do(method, "/api/v1/users/1", body, mine); got.problem(t).Code != "last_owner" {
			t.Errorf("%s: %d %s", method, got.Code, got.text)
		}
	}
	change(`{"disabled":false}`, "2")
	if got := b.do("GET", "/api/v1/targets", "", cookie); got.Code != http.StatusUnauthorized {
		t.Errorf("a session of before: %d", got.Code)
	}
	if got := b.do("GET", "/api/v1/targets", "", as(child.Key)); got.Code != http.StatusOK {
		t.Errorf("a key, after it: %d", got.Code)
	}
	if got := logIn("correct horse"); got.Code != http.StatusOK {
		t.Errorf("the password, after it: %d %s", got.Code, got.text)
	}
	if text := b.actions(); strings.Count(text, "user:1 user.disabled user:2 (bob@example.com)") == 0 || strings.Count(text, "user:1 user.enabled user:2 (bob@example.com)") != 1 {
		t.Errorf("audit log:\n%s", text)
	}
}

// The password alone is not enough to hear of it, where a code is to follow; nor is an account
// bound to a person meanwhile.
func TestDisabledPeopleWithASecondFactor(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	b := newBenchWith(t, i.with(session.Terms{}))
	_, secret, _ := enrolled(b)
	b.member("bob@example.com", accountstore.RoleOwner)
	before := b.challenge()
	if got := b.do("PATCH", "/api/v1/users/1", `{"disabled":true}`, as(ownerKey)); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if got := b.verify(before, codeAt(b, secret, 0)); got.problem(t).Code != "bad_challenge" {
		t.Errorf("begun before: %d %s", got.Code, got.text)
	}
	challenge := b.challenge()
	for _, c := range []struct{ code, want string }{{"abcdef", "wrong_code"}, {codeAt(b, secret, 0), "account_disabled"}} {
		if got := b.verify(challenge, c.code); got.problem(t).Code != c.want {
			t.Errorf("%d %s, want %s", got.Code, got.text, c.want)
		}
	}
	b.exec("DELETE FROM second_factors")
	i.Person("s-ann", "ann@example.com", true)
	w := b.browser()
	if to := w.arrive(i.asks(w.depart(), "s-ann")); to != "/login?problem=account_disabled" || strings.Contains(b.actions(), "identity.bound") {
		t.Errorf("%s:\n%s", to, b.actions())
	}
}

// A role, and a profile, is not written over by who has read an older one.
func TestPeopleHaveVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := b.setUp()
	bob := fmt.Sprintf("/api/v1/users/%d", b.member("bob@example.com", accountstore.RoleViewer).ID)
	for _, c := range []struct{ path, body, match, tag string }{
		{bob, `{"role":"editor"}`, `"1"`, `"2"`},
		{bob, `{"role":"owner"}`, `"1"`, ""},
		{bob, `{"disabled":true}`, `"1"`, ""},
		{bob, `{"disabled":true}`, `W/"2"`, ""},
		{bob, `{"disabled":true}`, `"2"`, `"3"`},
		{bob, `{"disabled":false}`, ``, `"4"`},
		{"/api/v1/session/profile", `{"name":"Antonia"}`, `"1"`, `"2"`},
		{"/api/v1/session/profile", `{"name":"Mallory"}`, `"1"`, ""},
		{"/api/v1/session/profile", `{"name":"Anna"}`, ``, `"3"`},
	} {
		got := b.do("PATCH", c.path, c.body, mine, header("If-Match", c.match))
		if c.tag == "" {
			if got.Code != http.StatusPreconditionFailed || got.problem(t).Code != codeVersionMismatch {
				t.Errorf("%s if %s: %d %s", c.body, c.match, got.Code, got.text)
			}
		} else if got.Code != http.StatusOK || got.Header().Get("ETag") != c.tag || !strings.Contains(got.text, `"version":`+strings.Trim(c.tag, `"`)) {
			t.Errorf("%s if %s: %d %s %s", c.body, c.match, got.Code, got.Header().Get("ETag"), got.text)
		}
	}
	for path, want := range map[string]string{"/api/v1/users": `"version":4`, "/api/v1/session": `"name":"Anna","role":"owner","version":3`} {
		if got := b.do("GET", path, "", mine); !strings.Contains(got.text, want) {
			t.Errorf("%s is not in %s", want, got.text)
		}
	}
	if got := b.do("DELETE", bob, "", mine, header("If-Match", `"3"`)); got.Code != http.StatusPreconditionFailed || got.problem(t).Code != codeVersionMismatch {
		t.Errorf("removed as somebody else had left it: %d %s", got.Code, got.text)
	}
	if got := b.do("DELETE", bob, "", mine, header("If-Match", `"4"`)); got.Code != http.StatusNoContent {
		t.Errorf("not removed: %d %s", got.Code, got.text)
	}
}
