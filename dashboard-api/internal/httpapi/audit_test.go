package httpapi

import (
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
	if exempt != 5 {
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
