package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
)

type keyJSON struct {
	ID     int64    `json:"id"`
	Prefix string   `json:"prefix"`
	Role   string   `json:"role"`
	Scopes []string `json:"scopes"`
	Key    string   `json:"key"`
}

func (b *bench) key(body string, who option) (made keyJSON) {
	b.Helper()
	got := b.do("POST", "/api/v1/keys", withPassword(body), who)
	if got.Code != http.StatusCreated {
		b.Fatalf("make a key of %s: %d %s", body, got.Code, got.text)
	}
	got.into(b, &made)
	return made
}

// status is what a key is answered when it wants to write.
func (b *bench) writes(key string) int {
	b.Helper()
	return b.do("POST", "/api/v1/channels", `{}`, as(key)).Code // 422: it may, and says nothing
}

func TestKeysDoNoMoreThanTheirMaker(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, withSockets)
	server, ann := b.serve(), b.setUp()
	bob := b.join("bob@example.com", "editor")
	for body, code := range map[string]string{
		`{"name":"x","role":"owner"}`:                           "beyond_your_role",
		`{"name":"x","scopes":["admin"]}`:                       "beyond_your_role",
		`{"name":"x","scopes":["write"]}`:                       "unknown_scope",
		`{"name":"x","scopes":[]}`:                              "required",
		`{"name":"x"}`:                                          "required",
		`{"name":"x","role":"viewer","scopes":["read"]}`:        "role_or_scopes",
		`{"name":"x","role":"viewer","expires_s":1}`:            "invalid_range",
		`{"name":"","role":"viewer"}`:                           "required",
		`{"name":"x","role":"viewer","user_id":1,"key":"pf_x"}`: "unknown_field",
		`{"name":"x","role":"viewer","scopes":"read"}`:          "invalid_type",
	} {
		if got := b.do("POST", "/api/v1/keys", withPassword(body), bob); got.problem(t).Code != code {
			t.Errorf("%s: %s", body, got.text)
		}
	}
	made := b.key(`{"name":"deploy","role":"editor"}`, bob)
	if !strings.HasPrefix(made.Key, made.Prefix) || !strings.HasPrefix(made.Key, "pf_") || made.Role != "editor" {
		t.Errorf("%+v", made)
	}
	if got := b.do("GET", "/api/v1/keys", "", bob); strings.Contains(got.text, made.Key) || strings.Contains(got.text, "pf_owner") || !strings.Contains(got.text, `"name":"deploy"`) {
		t.Errorf("listed: %s", got.text)
	}
	if got := b.do("POST", "/api/v1/keys", `{"name":"x","role":"viewer"}`, as(made.Key)); got.Code != http.StatusConflict {
		t.Errorf("an editor's key made a key: %d", got.Code)
	}
	if got := b.writes(made.Key); got != http.StatusUnprocessableEntity {
		t.Errorf("an editor's key: %d", got)
	}
	if got := b.do("DELETE", "/api/v1/keys/1", "", bob); got.Code != http.StatusNotFound {
		t.Errorf("somebody else's key: %d", got.Code)
	}
	noCookie := func(r *http.Request) { r.Header.Del("Cookie") }
	ends, _ := b.open(server, noCookie, as(made.Key))
	role := func(role string) {
		t.Helper()
		if got := b.do("PATCH", "/api/v1/users/2", fmt.Sprintf(`{"role":%q}`, role), ann); got.Code != http.StatusOK {
			t.Fatalf("%d %s", got.Code, got.text)
		}
	}
	role("viewer")
	if got := b.writes(made.Key); got != http.StatusForbidden {
		t.Errorf("a key does more than its maker may now: %d", got)
	}
	role("owner")
	if got := b.writes(made.Key); got != http.StatusUnprocessableEntity {
		t.Errorf("a key of who may again: %d", got)
	}
	if got := b.do("GET", "/api/v1/users", "", as(made.Key)); got.Code != http.StatusForbidden {
		t.Errorf("a key rose with its maker: %d", got.Code)
	}
	if got := b.do("DELETE", "/api/v1/users/2", "", ann); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if got := b.writes(made.Key); got != http.StatusUnauthorized {
		t.Errorf("a key outlives its maker: %d", got)
	}
	if code := ends.ended(t, hang); code != closedRevoked {
		t.Errorf("the key's socket ended with %d", code)
	}
}

func TestKeysOfKeys(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, withSockets)
	server := b.serve()
	parent := b.key(`{"name":"parent","scopes":["admin"]}`, as(ownerKey))
	if got := b.do("POST", "/api/v1/keys", `{"name":"x","role":"viewer"}`, as(parent.Key)); got.Code != http.StatusConflict || got.problem(t).Code != "made_by_a_key" {
		t.Errorf("a key of a key makes keys: %s", got.text)
	}
	ends, _ := b.open(server, as(parent.Key))
	if got := b.do("DELETE", fmt.Sprintf("/api/v1/keys/%d", parent.ID), "", as(ownerKey)); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if code := ends.ended(t, hang); code != closedRevoked {
		t.Errorf("a revoked key's socket ended with %d", code)
	}
	if got := b.do("GET", "/api/v1/targets", "", as(parent.Key)); got.Code != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d", got.Code)
	}
	child := b.key(`{"name":"child","role":"viewer"}`, as(ownerKey))
	if err := b.db.Write().Exec("UPDATE api_keys SET revoked_at_ms = 1 WHERE name = ?", ownerKey).Error; err != nil {
		t.Fatal(err)
	}
	if got := b.do("GET", "/api/v1/targets", "", as(child.Key)); got.Code != http.StatusUnauthorized {
		t.Errorf("a key outlives the one that made it: %d", got.Code)
	}
}

// Every route for a key of each scope: it passes where the route's scope is its own, and nowhere else.
func TestScopesOfEveryRoute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	keys := map[string]string{}
	for _, scope := range scopeNames() {
		keys[scope] = b.key(fmt.Sprintf(`{"name":%q,"scopes":[%q]}`, scope, scope), as(ownerKey)).Key
	}
	for _, pattern := range b.router.patterns() {
		policy := b.router.policies[pattern]
		if policy == Public {
			continue
		}
		want := scopeOf(policy, pattern)
		if !policy.allows(roleOf(want)) {
			t.Errorf("%s: the role of %s may not use it", pattern, want)
		}
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.Replace(path, "{id}", "4711", 1)
		for scope, key := range keys {
			got := b.do(method, path, `{}`, as(key))
			if passes := scope == want || scope == scopeAdmin; passes == (got.Code == http.StatusForbidden) || got.Code == http.StatusUnauthorized {
				t.Errorf("%s, which needs %s, with %s: %d", pattern, want, scope, got.Code)
			}
		}
	}
	for pattern, want := range map[string]string{
		"GET /api/v1/targets": scopeRead, "GET /api/v1/targets/{id}/heartbeat": scopeTargets, "GET /api/v1/live": scopeRead,
		"POST /api/v1/policies:replay": scopeRead, "POST /api/v1/notification-rules:match": scopeRead, "POST /api/v1/notification-rules": scopeTargets,
		"POST /api/v1/targets": scopeTargets, "POST /api/v1/targets/{id}/results": scopeResults, "POST /api/v1/incidents/{id}/notes": scopeIncidents,
		"POST /api/v1/keys": scopeAdmin, "GET /api/v1/keys": scopeAdmin, "DELETE /api/v1/session": scopeAdmin, "PUT /api/v1/something-new": scopeAdmin,
	} {
		if got := scopeOf(b.router.policies[pattern], pattern); got != want {
			t.Errorf("%s needs %s, want %s", pattern, got, want)
		}
	}
	if roleOf("unknown") == accountstore.RoleOwner {
		t.Error("an unknown scope is an owner's")
	}
}

// A new password ends what the old one has let in: keys with those that they made, their sockets,
// and invitations; nobody else's.
func TestANewPasswordEndsKeysAndInvitations(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, withSockets)
	server, mine := b.serve(), b.setUp()
	bob := b.join("bob@example.com", "owner")
	key := b.key(`{"name":"deploy","role":"owner"}`, mine)
	child := b.key(`{"name":"of that","role":"viewer"}`, as(key.Key))
	gone, expired := b.key(`{"name":"gone","role":"viewer"}`, mine), b.key(`{"name":"expired","role":"viewer"}`, mine)
	theirs := b.key(`{"name":"bob's","role":"owner"}`, bob)
	if got := b.do("DELETE", fmt.Sprintf("/api/v1/keys/%d", gone.ID), "", mine); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	b.exec("UPDATE api_keys SET expires_at_ms = 1 WHERE id = ?", expired.ID)
	ended := map[string]invitationJSON{"a person": b.invite(`{"role":"owner","email":"x@example.com"}`, mine), "a key": b.invite(`{"role":"owner","email":"y@example.com"}`, as(key.Key))}
	lives := b.invite(`{"role":"viewer","email":"z@example.com"}`, as(theirs.Key))
	noCookie := func(r *http.Request) { r.Header.Del("Cookie") }
	ends, _ := b.open(server, noCookie, as(key.Key))
	got := b.do("PUT", "/api/v1/session/password", `{"current_password":"correct horse","password":"battery staple"}`, mine)
	if got.Code != http.StatusOK || strings.TrimSpace(got.text) != `{"keys_ended":2,"invitations_withdrawn":2}` || !strings.HasPrefix(got.Header().Get("Set-Cookie"), "pf_known=") {
		t.Fatalf("%d %s %v", got.Code, got.text, got.Header())
	}
	for name, c := range map[string]struct {
		key  string
		want int
	}{"a key": {key.Key, 401}, "a key of a key": {child.Key, 401}, "somebody else's": {theirs.Key, 200}, "the installation's": {ownerKey, 200}} {
		if got := b.do("GET", "/api/v1/targets", "", as(c.key)); got.Code != c.want {
			t.Errorf("%s: %d, want %d", name, got.Code, c.want)
		}
	}
	if code := ends.ended(t, hang); code != closedRevoked {
		t.Errorf("the key's socket ended with %d", code)
	}
	accept := func(made invitationJSON) reply {
		return b.do("POST", "/api/v1/invitations:accept", fmt.Sprintf(`{"token":%q,"name":"Eve","password":"correct horse"}`, made.Token))
	}
	for by, made := range ended {
		if got := accept(made); got.problem(t).Code != "bad_invitation" {
			t.Errorf("an invitation by %s: %d %s", by, got.Code, got.text)
		}
	}
	if got := accept(lives); got.Code != http.StatusCreated {
		t.Errorf("somebody else's invitation: %d %s", got.Code, got.text)
	}
	if text := b.actions(); !strings.Contains(text, "user:1 password.changed user:1 (keys ended: 2, invitations withdrawn: 2)") {
		t.Errorf("audit log:\n%s", text)
	}
}

// A session that was left open makes nothing that outlives it: keys and invitations need the
// password again, or a sign-in just now of who has none. Keys are not asked.
func TestMakingWaysInNeedsThePassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := b.setUp()
	for path, body := range map[string]string{"keys": `{"name":"deploy","role":"viewer"`, "invitations": `{"role":"viewer"`} {
		ask := func(more string, who option) reply { return b.do("POST", "/api/v1/"+path, body+more+"}", who) }
		for more, want := range map[string]string{"": "required", `,"current_password":""`: "required", `,"current_password":"wrong horse"`: "wrong_password"} {
			if got := ask(more, mine); got.Code != http.StatusUnprocessableEntity || got.problem(t).Code != want || got.problem(t).Errors[0].Pointer != "/current_password" {
				t.Errorf("%s with %s: %d %s", path, more, got.Code, got.text)
			}
		}
		if got := ask(`,"current_password":"correct horse"`, mine); got.Code != http.StatusCreated {
			t.Errorf("%s with the password: %d %s", path, got.Code, got.text)
		}
		if got := ask("", as(ownerKey)); got.Code != http.StatusCreated {
			t.Errorf("%s by a key: %d %s", path, got.Code, got.text)
		}
		b.exec("UPDATE users SET password_hash = '' WHERE id = 1")
		if got := ask("", mine); got.Code != http.StatusCreated {
			t.Errorf("%s without a password, just signed in: %d %s", path, got.Code, got.text)
		}
		b.exec("UPDATE sessions SET proven_at_ms = 1")
		if got := ask("", mine); got.problem(t).Code != "sign_in_again" {
			t.Errorf("%s without a password, long after signing in: %d %s", path, got.Code, got.text)
		}
		mine = again(b)
	}
}

// again gives Ann her password back, and signs her in.
func again(b *bench) option {
	b.Helper()
	hash, err := hasher().Hash(b.Context(), "correct horse")
	if err != nil {
		b.Fatal(err)
	}
	b.exec("UPDATE users SET password_hash = ? WHERE id = 1", hash)
	return b.logIn("ann@example.com")
}

// No invitation lasts longer than the key that made it.
func TestInvitationsOfKeysThatExpire(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	brief := b.key(`{"name":"brief","role":"owner","expires_s":600}`, as(ownerKey))
	var made struct {
		ExpiresAt time.Time `json:"expires_at"`
	}
	b.do("POST", "/api/v1/invitations", `{"role":"viewer"}`, as(brief.Key)).into(t, &made)
	if lasts := time.Until(made.ExpiresAt); lasts > 10*time.Minute || lasts < 9*time.Minute {
		t.Errorf("it lasts %v", lasts)
	}
}
