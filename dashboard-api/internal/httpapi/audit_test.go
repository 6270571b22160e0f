package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// Every route that writes leaves exactly one entry when it is answered as done, whatever its
// handler does, and none when it is not; what only reads leaves none.
func TestEveryWriteIsAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	status := http.StatusOK
	a := &api{Options: b.options, metrics: newMetrics(prometheus.NewRegistry())}
	r := newRouter(config("test"), func(p Policy, pattern string, _ http.Handler) http.Handler {
		return a.guard(p, pattern, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status != http.StatusOK { // which is said by saying nothing
				w.WriteHeader(status)
			}
		}))
	}, a.toProblem)
	a.routes(r)
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	b.handler = withRequestID(r)
	entries := func() []accountstore.AuditEntry {
		t.Helper()
		all, err := a.Audit.AuditLog(t.Context(), accountstore.AuditQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.db.Write().Exec("DELETE FROM audit_log").Error; err != nil {
			t.Fatal(err)
		}
		return all
	}
	exempt := 0
	for _, pattern := range r.patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.Replace(path, "{id}", "4711", 1)
		status = http.StatusConflict
		b.do(method, path, "", as(ownerKey))
		if got := entries(); len(got) != 0 {
			t.Errorf("%s was refused and left %+v", pattern, got)
		}
		status = http.StatusOK
		b.do(method, path, "", as(ownerKey), header("X-Request-Id", "me"))
		got := entries()
		switch {
		case method == "GET" || unaudited(pattern):
			if len(got) != 0 {
				t.Errorf("%s reads and left %+v", pattern, got)
			}
			if method != "GET" {
				exempt++
			}
		case len(got) != 1 || got[0].Operation != r.ids[pattern] || got[0].Operation == "" || got[0].Object != strings.TrimPrefix(path, "/api/v1/") || got[0].Address != "192.0.2.1" || got[0].RequestID != "me":
			t.Errorf("%s left %+v", pattern, got)
		case r.policies[pattern] != Public && !strings.HasPrefix(got[0].Actor, "key:"):
			t.Errorf("%s was done by %q", pattern, got[0].Actor)
		}
	}
	if exempt != 6 {
		t.Errorf("%d exempt routes", exempt)
	}
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := b.setUp()
	b.create(`{"url":"https://example.com/"}`)
	for range 2 { // the second is answered from memory
		b.do("POST", "/api/v1/targets", `{"url":"https://b.example/"}`, mine, header("Idempotency-Key", "k"))
	}
	b.do("PUT", "/api/v1/session/password", `{"current_password":"correct horse","password":"battery staple"}`, mine)
	actions := func(query string) string {
		t.Helper()
		var page struct {
			Items []struct{ Actor, Action, Operation string }
		}
		got := b.do("GET", "/api/v1/audit?"+query, "", mine)
		got.into(t, &page)
		if strings.Contains(got.text, "horse") || strings.Contains(got.text, "staple") {
			t.Errorf("a password is in it: %s", got.text)
		}
		var all []string
		for _, e := range page.Items {
			all = append(all, e.Action)
		}
		return strings.Join(all, " ")
	}
	for query, want := range map[string]string{
		"":                          "password.changed target.created target.created setup",
		"actor=user:1":              "password.changed target.created setup",
		"action=target.created":     "target.created target.created",
		"action=changePassword":     "password.changed",
		"object=target:1":           "target.created",
		"limit=1":                   "password.changed",
		"from=2100-01-01T00:00:00Z": "",
		"to=" + time.Now().UTC().Add(-time.Hour).Format(time.RFC3339): "",
	} {
		if got := actions(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	var first struct {
		Next string `json:"next_cursor"`
	}
	b.do("GET", "/api/v1/audit?limit=3", "", mine).into(t, &first)
	if got := actions("limit=3&cursor=" + first.Next); got != "setup" {
		t.Errorf("second page: %s", got)
	}
}

// An account that was made is in the log, also when its person could not be signed in after it; one
// that was not made is not.
func TestAccountsOfWhoIsNotSignedInAreAudited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	setUp := fmt.Sprintf(`{"token":%q,"email":"ann@example.com","name":"Ann","password":"correct horse"}`, b.setup)
	bob := b.invite(`{"email":"bob@example.com","role":"editor"}`, as(ownerKey))
	accept := fmt.Sprintf(`{"token":%q,"name":"Bob","password":"correct horse"}`, bob.Token)
	before := b.actions()
	b.exec("CREATE TRIGGER broken BEFORE INSERT ON sessions BEGIN SELECT RAISE(FAIL, 'disk'); END")
	for _, c := range []struct{ path, body, logged string }{
		{"setup", strings.Replace(setUp, b.setup, "wrong", 1), ""},
		{"setup", setUp, "user:1 setup user:1 (first owner)\n"},
		{"setup", setUp, ""}, // done by now
		{"invitations:accept", strings.Replace(accept, bob.Token, "wrong", 1), ""},
		{"invitations:accept", accept, "user:2 invitation.accepted user:2 (bob@example.com as editor)\n"},
		{"invitations:accept", accept, ""},
	} {
		got := b.do("POST", "/api/v1/"+c.path, c.body)
		if broken := got.Code == http.StatusInternalServerError; got.Code < 400 || broken != (c.logged != "") {
			t.Errorf("%s: %d %s", c.path, got.Code, got.text)
		}
		if after := b.actions(); after != before+c.logged {
			t.Errorf("%s left\n%s, want\n%s", c.path, strings.TrimPrefix(after, before), c.logged)
		}
		before += c.logged
	}
	b.exec("DROP TRIGGER broken")
	for _, email := range []string{"ann@example.com", "bob@example.com"} {
		b.logIn(email)
	}
}

// What was deleted is called in the log what it was called then.
func TestDeletionsSayWhatWasDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	mine, p := b.browser().logIn("ann@example.com"), newPhone()
	mine.register(p)
	made := func(path, body string) string {
		t.Helper()
		got := mine.do("POST", "/api/v1/"+path, body)
		var out struct{ ID int64 }
		got.into(t, &out)
		if got.Code >= 300 || out.ID == 0 {
			t.Fatalf("%s: %d %s", path, got.Code, got.text)
		}
		return fmt.Sprint(path, "/", out.ID)
	}
	remove := func(path, want string) {
		t.Helper()
		if got := mine.do("DELETE", "/api/v1/"+path, ""); got.Code >= 300 {
			t.Errorf("%s: %d %s", path, got.Code, got.text)
		}
		if text := b.actions(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	target := made("targets", `{"name":"Shop","url":"https://example.com/"}`)
	if got := mine.do("PATCH", "/api/v1/"+target, `{"name":"Old shop"}`); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	remove(target, "target.deleted target:1 (Old shop)")
	remove(made("channels", `{"name":"Ops","webhook":{"url":"https://hook.example/","secret":"a signing key of tests"}}`), "channel.deleted channel:1 (Ops (webhook))")
	rule := fmt.Sprintf(`{"name":"All","channel_ids":[%s]}`, strings.TrimPrefix(made("channels", `{"name":"Ops","webhook":{"url":"https://hook.example/","secret":"a signing key of tests"}}`), "channels/"))
	remove(made("notification-rules", rule), "notification-rule.deleted notification-rule:1 (All)")
	page := made("status-pages", `{"slug":"main","title":"Acme"}`)
	remove(made(page+"/posts", `{"title":"We move","text":"Soon."}`), "status-post.deleted status-page:1/post:1 (We move)")
	remove(page, "status-page.deleted status-page:1 (main)")
	remove(made("keys", withPassword(`{"name":"deploy","role":"viewer"}`)), "key.revoked key:5 (deploy)")
	remove(made("invitations", withPassword(`{"email":"bob@example.com","role":"viewer"}`)), "invitation.revoked invitation:1 (bob@example.com as viewer)")
	if got := mine.do("POST", "/api/v1/session/passkeys/1:remove", current); got.Code != http.StatusNoContent || !strings.Contains(b.actions(), "passkey.removed passkey:1 (Phone)") {
		t.Errorf("passkey: %d\n%s", got.Code, b.actions())
	}
	remove(made("maintenance-windows", `{"name":"Move","everything":true,"starts_at":"2026-04-01T00:00:00","duration_s":60}`), "maintenance-window.removed maintenance-window:1 (Move)")
	remove("sessions/1", "session.ended session:1 (192.0.2.1)")
}
