package httpapi

import (
	flags "flag" // the package has a function of that name
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

var update = flags.Bool("update", false, "write docs/routes.md instead of comparing it")

const routesDoc = "../../../docs/routes.md"

// identity is somebody who asks. What becomes of it is worked out a second time here: a role
// that is empty is refused with 401; without scopes the role decides alone.
type identity struct {
	name   string
	role   accountstore.Role
	scopes []string
	ask    func(t *testing.T) option // afresh for each request: some end the session they come with
}

// cast makes one of every kind of identity that there is.
func cast(b *bench) []identity {
	b.Helper()
	store := b.options.Accounts.(*accountstore.Store)
	users := map[accountstore.Role]accountstore.User{}
	signedIn := func(role accountstore.Role, spoil string) func(t *testing.T) option {
		return func(t *testing.T) option {
			t.Helper()
			token := session.NewToken()
			err := store.CreateSession(t.Context(), session.HashToken(token), users[role], accountstore.Client{}, time.Now().Add(time.Hour))
			if err == nil && spoil != "" {
				err = b.db.Write().Exec("UPDATE sessions SET "+spoil+" WHERE token_hash = ?", session.HashToken(token)).Error
			}
			if err != nil {
				t.Fatal(err)
			}
			return header("Cookie", "pf_session="+token)
		}
	}
	keyed := func(key string) func(t *testing.T) option { return func(*testing.T) option { return as(key) } }
	all := []identity{{"nobody", "", nil, keyed("")}}
	for _, role := range []accountstore.Role{accountstore.RoleViewer, accountstore.RoleEditor, accountstore.RoleOwner} {
		if _, err := store.Invite(b.Context(), accountstore.User{}, string(role), "", role, b.actorOf(ownerKey), time.Now().Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
		user, err := store.AcceptInvitation(b.Context(), string(role), string(role)+"@example.com", "x", "no hash")
		if err != nil {
			b.Fatal(err)
		}
		users[role] = user
		all = append(all, identity{string(role), role, nil, signedIn(role, "")})
	}
	for key, role := range map[string]accountstore.Role{viewerKey: accountstore.RoleViewer, editorKey: accountstore.RoleEditor, ownerKey: accountstore.RoleOwner} {
		all = append(all, identity{"key: " + string(role), role, nil, keyed(key)})
	}
	for _, scope := range scopeNames() {
		made := b.key(fmt.Sprintf(`{"name":%q,"scopes":[%q]}`, scope, scope), as(ownerKey))
		all = append(all, identity{"key: " + scope, accountstore.Role(made.Role), []string{scope}, keyed(made.Key)})
	}
	expired := b.key(`{"name":"expired","role":"owner"}`, as(ownerKey))
	if err := b.db.Write().Exec("UPDATE api_keys SET expires_at_ms = ? WHERE id = ?", b.signedIn.UnixMilli(), expired.ID).Error; err != nil {
		b.Fatal(err)
	}
	const away accountstore.Role = "away"
	if _, err := store.Invite(b.Context(), accountstore.User{}, "away", "", accountstore.RoleOwner, b.actorOf(ownerKey), time.Now().Add(time.Hour)); err != nil {
		b.Fatal(err)
	}
	gone, err := store.AcceptInvitation(b.Context(), "away", "away@example.com", "x", "no hash")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := store.CreateKey(b.Context(), accountstore.User{}, accountstore.APIKey{Name: "away", Role: accountstore.RoleOwner, UserID: gone.ID}, session.HashToken("pf_away")); err != nil {
		b.Fatal(err)
	}
	if users[away], err = store.Disable(b.Context(), gone.ID, 0, true); err != nil {
		b.Fatal(err)
	}
	return append(all,
		identity{"session of somebody disabled", "", nil, signedIn(away, "")},
		identity{"key of somebody disabled", "", nil, keyed("pf_away")},
		identity{"revoked key", "", nil, keyed(revokedKey)},
		identity{"expired key", "", nil, keyed(expired.Key)},
		identity{"unknown key", "", nil, keyed("pf_nobody")},
		identity{"expired session", "", nil, signedIn(accountstore.RoleOwner, "expires_at_ms = 1")},
		identity{"idle session", "", nil, signedIn(accountstore.RoleOwner, "last_seen_at_ms = 1")},
		identity{"session of before", "", nil, signedIn(accountstore.RoleOwner, "epoch = epoch - 1")},
	)
}

// verdict is the answer that a route owes an identity, by the second list of policies and the
// scopes as the table says them: the status, or 0 for letting it in.
func (i identity) verdict(policy Policy, scope string) int {
	switch {
	case policy == Public:
		return 0
	case i.role == "":
		return http.StatusUnauthorized
	case !policy.allows(i.role):
		return http.StatusForbidden
	case i.scopes != nil && i.scopes[0] != scope && i.scopes[0] != scopeAdmin:
		return http.StatusForbidden
	}
	return 0
}

// anothers asks for what is somebody else's, as people of every role, and gives what they were
// answered by route: there is no such thing, but for the keys, which owners look after.
func anothers(b *bench) map[string]string {
	b.Helper()
	store := b.options.Accounts.(*accountstore.Store)
	bob := b.member("bob@example.com", accountstore.RoleEditor)
	passkey, err := store.AddPasskey(b.Context(), bob, accountstore.Passkey{CredentialID: "bob's", Name: "Phone", Credential: "{}"})
	if err != nil {
		b.Fatal(err)
	}
	theirs := b.logIn(bob.Email)
	signedIn := b.sessions(theirs)[0].ID
	personal := map[string]func() int64{
		"DELETE /api/v1/keys/{id}":                  func() int64 { return b.key(`{"name":"bob's","role":"viewer"}`, theirs).ID },
		"DELETE /api/v1/sessions/{id}":              func() int64 { return signedIn },
		"PATCH /api/v1/session/passkeys/{id}":       func() int64 { return passkey.ID },
		"POST /api/v1/session/passkeys/{id}:remove": func() int64 { return passkey.ID },
	}
	answers := map[string]string{}
	for _, pattern := range b.router.patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		if !strings.Contains(path, "{") || !strings.Contains(path, "/session") && !strings.Contains(path, "/keys") {
			continue
		}
		id, listed := personal[pattern]
		if !listed {
			b.Errorf("%s is about somebody's things: ask for somebody else's", pattern)
			continue
		}
		answers[pattern] = "404"
		for _, role := range []accountstore.Role{accountstore.RoleViewer, accountstore.RoleEditor, accountstore.RoleOwner} {
			email := strings.ToLower(strings.NewReplacer(" ", "-", "/", "-", "{", "", "}", "", ":", "-").Replace(pattern)) + "-" + string(role) + "@example.com"
			b.member(email, role)
			body := withPassword(`{}`)
			if method == "PATCH" {
				body = `{"name":"mine"}`
			}
			want := http.StatusNotFound
			if role == accountstore.RoleOwner && strings.Contains(path, "/keys") {
				want, answers[pattern] = http.StatusNoContent, "404; an owner: done"
			}
			got := b.do(method, strings.Replace(path, "{id}", fmt.Sprint(id()), 1), body, b.logIn(email))
			if got.Code != want {
				b.Errorf("%s for somebody else's, as %s: %d %s, want %d", pattern, role, got.Code, got.text, want)
			}
		}
	}
	left, err := store.Passkeys(b.Context(), bob.ID)
	if err != nil || len(left) != 1 || left[0].Name != "Phone" || len(b.sessions(theirs)) != 1 {
		b.Errorf("what is somebody else's has changed: %+v, %v", left, err)
	}
	return answers
}

// Every route is asked by every identity there is. What they were answered is docs/routes.md.
func TestRoutesDocIsCurrent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	elses := anothers(b)
	everybody := cast(b)
	lines := map[string]string{}
	for _, pattern := range b.router.patterns() {
		scope := scopeOf(policies[pattern], pattern)
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{id}", "4711", "{post}", "4711", "{region}", "nowhere", "{prober}", "nobody", "{month}", "2026-01").Replace(path)
		columns := map[string][]string{}
		for _, who := range everybody {
			got := b.do(method, path, `{}`, who.ask(t))
			answer := 0
			if (got.Code == http.StatusUnauthorized || got.Code == http.StatusForbidden) && pattern != "GET /api/v1/session" { // which says that nobody is signed in
				answer = got.Code
			}
			if want := who.verdict(policies[pattern], scope); answer != want || got.Code >= 500 {
				t.Errorf("%s as %s: %d %s, want %d", pattern, who.name, got.Code, got.text, want)
			}
			if answer == 0 {
				switch {
				case who.role == "":
					columns["public"] = append(columns["public"], who.name)
				case who.scopes != nil:
					columns["scopes"] = append(columns["scopes"], who.scopes[0])
				case !strings.HasPrefix(who.name, "key: "):
					columns["roles"] = append(columns["roles"], who.name)
				}
			}
		}
		who, scopes := strings.Join(columns["roles"], ", "), strings.Join(columns["scopes"], ", ")
		if len(columns["public"]) > 0 {
			who, scopes = "anyone", "any"
		}
		lines[pattern] = fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", pattern, b.router.ids[pattern], who, scopes, elses[pattern])
	}
	var doc strings.Builder
	doc.WriteString("# Routes, and who may use them\n\nGenerated by `make generate`: every route was asked by every identity. Who is not named was refused, with 401 if nobody we know, else with 403.\n" +
		"A key without scopes may what its role may. Always refused with 401, where not anyone may: revoked, expired and unknown keys, sessions that expired, were idle for 12 hours,\n" +
		"or are of before a new password or role, and all of people who are disabled. Handlers ask for more where it is about somebody: keys, sessions and profiles are one's own, and need a session where they are about a person: people of\n" +
		"every role asked for another's, and were answered what the last column says.\n\n" +
		"| route | operation | roles | key with the scope | another's |\n|---|---|---|---|---|\n")
	for _, pattern := range b.router.patterns() {
		doc.WriteString(lines[pattern])
	}
	if *update {
		if err := os.WriteFile(routesDoc, []byte(doc.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(routesDoc)
	if err != nil || string(have) != doc.String() {
		t.Errorf("docs/routes.md is not current (%v): run `make generate`", err)
	}
}

// takesNoDocument is for writes that take any text, or nothing.
func takesNoDocument(path string) bool {
	return strings.HasPrefix(path, heartbeatPrefix) || strings.HasSuffix(path, "/token") || strings.Contains(path, "/{prober}:")
}

// oneOfEach makes the first of everything that writes are about, by who is signed in.
func oneOfEach(b *bench, mine *browser) {
	b.Helper()
	for _, made := range [][2]string{
		{"targets", `{"url":"https://example.com/"}`},
		{"channels", `{"name":"Ops","webhook":{"url":"https://hook.example/","secret":"a signing key of tests"}}`},
		{"notification-rules", `{"name":"All","channel_ids":[1]}`},
		{"maintenance-windows", `{"name":"We move","everything":true,"starts_at":"2030-01-01T10:00:00","duration_s":3600}`},
		{"status-pages", `{"slug":"main","title":"Acme"}`},
		{"status-pages/1/posts", `{"title":"We move","text":"Soon."}`},
	} {
		if got := mine.do("POST", "/api/v1/"+made[0], made[1]); got.Code != http.StatusCreated {
			b.Fatalf("%s: %d %s", made[0], got.Code, got.text)
		}
	}
	mine.register(newPhone())
	b.openIncident(incidentstore.Opening{TargetID: 1, FirstSlot: testNow, At: testNow, Severity: incidentstore.Down})
}

// No route that takes a document takes a member it does not know, whatever that is called, also about
// what is there.
func TestNoRouteTakesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	mine := b.browser().logIn("ann@example.com")
	oneOfEach(b, mine)
	asked := 0
	for _, pattern := range b.router.patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		if method == "GET" || method == "DELETE" || takesNoDocument(path) {
			continue
		}
		path = strings.NewReplacer("{id}", "1", "{post}", "1").Replace(path)
		for _, member := range []string{"created_by", "is_admin", "user_id", "password_hash", "Role"} {
			got := mine.do(method, path, fmt.Sprintf(`{%q:1}`, member))
			asked++
			if p := got.problem(t); got.Code != http.StatusBadRequest || p.Code != codeUnknownField {
				t.Errorf("%s with %s: %d %s", pattern, member, got.Code, got.text)
			}
		}
	}
	if asked < 150 {
		t.Errorf("only %d were asked", asked)
	}
}
