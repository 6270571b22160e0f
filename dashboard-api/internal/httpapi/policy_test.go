package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// policies is every route and who may use it, written down a second time: a route
// that is added or loosened must be added or loosened here too.
var policies = map[string]Policy{
	"GET /api/v1/targets":                              Viewer,
	"POST /api/v1/targets":                             Editor,
	"GET /api/v1/targets/{id}":                         Viewer,
	"PATCH /api/v1/targets/{id}":                       Editor,
	"DELETE /api/v1/targets/{id}":                      Editor,
	"GET /api/v1/service-discovery/prometheus":         Viewer,
	"GET /api/v1/targets:figures":                      Viewer,
	"POST /api/v1/targets:batch":                       Editor,
	"GET /api/v1/targets:export":                       Viewer,
	"POST /api/v1/targets:import":                      Editor,
	"GET /api/v1/deletions":                            Editor,
	"GET /api/v1/deletions/{id}":                       Editor,
	"GET /api/v1/regions":                              Viewer,
	"DELETE /api/v1/regions/{region}":                  Owner,
	"DELETE /api/v1/regions/{region}/probers/{prober}": Owner,
	"GET /api/v1/targets/{id}/results":                 Viewer,
	"GET /api/v1/targets/{id}/series":                  Viewer,
	"POST /api/v1/targets/{id}/results":                Editor,
	"GET /api/v1/targets/{id}/heartbeat":               Editor,
	"POST /api/v1/targets/{id}/heartbeat/token":        Editor,
	"GET /api/v1/heartbeats/{token}":                   Public,
	"POST /api/v1/heartbeats/{token}":                  Public,
	"GET /api/v1/heartbeats/{token}/{signal}":          Public,
	"POST /api/v1/heartbeats/{token}/{signal}":         Public,
	"GET /api/v1/targets/{id}/evidence":                Viewer,
	"GET /api/v1/assertions/rules":                     Viewer,
	"GET /api/v1/targets/{id}/uptime":                  Viewer,
	"GET /api/v1/results/latest":                       Viewer,
	"GET /api/v1/ledger":                               Viewer,
	"GET /api/v1/retention":                            Viewer,
	"GET /api/v1/reports/{month}":                      Viewer,
	"POST /api/v1/policies:replay":                     Viewer,
	"POST /api/v1/checks":                              Editor,
	"GET /api/v1/checks":                               Viewer,
	"GET /api/v1/checks/{id}":                          Viewer,
	"GET /api/v1/live/overview":                        Viewer,
	"GET /api/v1/live/snapshot":                        Viewer,
	"GET /api/v1/live":                                 Viewer,
	"GET /api/v1/live/events":                          Viewer,
	"GET /api/v1/fleet":                                Viewer,
	"GET /api/v1/dead-letters":                         Viewer,
	"POST /api/v1/dead-letters:replay":                 Owner,
	"GET /api/v1/blind-windows":                        Viewer,
	"GET /api/v1/incidents":                            Viewer,
	"GET /api/v1/incidents/{id}":                       Viewer,
	"GET /api/v1/incidents/{id}/changes":               Viewer,
	"POST /api/v1/incidents/{id}:acknowledge":          Editor,
	"POST /api/v1/incidents/{id}/notes":                Editor,
	"GET /api/v1/channels":                             Viewer,
	"POST /api/v1/channels":                            Editor,
	"GET /api/v1/channels/{id}":                        Viewer,
	"PATCH /api/v1/channels/{id}":                      Editor,
	"DELETE /api/v1/channels/{id}":                     Editor,
	"POST /api/v1/channels/{id}:test":                  Editor,
	"GET /api/v1/channels/{id}/deliveries":             Editor,
	"GET /api/v1/maintenance-windows":                  Viewer,
	"POST /api/v1/maintenance-windows":                 Editor,
	"GET /api/v1/maintenance-windows/{id}":             Viewer,
	"PATCH /api/v1/maintenance-windows/{id}":           Editor,
	"DELETE /api/v1/maintenance-windows/{id}":          Editor,
	"GET /api/v1/notification-rules":                   Viewer,
	"POST /api/v1/notification-rules":                  Editor,
	"POST /api/v1/notification-rules:match":            Viewer,
	"GET /api/v1/notification-rules/{id}":              Viewer,
	"PATCH /api/v1/notification-rules/{id}":            Editor,
	"DELETE /api/v1/notification-rules/{id}":           Editor,
	"POST /api/v1/setup":                               Public,
	"POST /api/v1/session":                             Public,
	"GET /api/v1/session":                              Public,
	"DELETE /api/v1/session":                           Viewer,
	"GET /api/v1/sessions":                             Viewer,
	"DELETE /api/v1/sessions":                          Viewer,
	"DELETE /api/v1/sessions/{id}":                     Viewer,
	"PUT /api/v1/session/password":                     Viewer,
	"PATCH /api/v1/session/profile":                    Viewer,
	"GET /api/v1/users":                                Owner,
	"PATCH /api/v1/users/{id}":                         Owner,
	"DELETE /api/v1/users/{id}":                        Owner,
	"GET /api/v1/invitations":                          Owner,
	"POST /api/v1/invitations":                         Owner,
	"DELETE /api/v1/invitations/{id}":                  Owner,
	"POST /api/v1/invitations:accept":                  Public,
	"GET /api/v1/keys":                                 Viewer,
	"POST /api/v1/keys":                                Viewer,
	"DELETE /api/v1/keys/{id}":                         Viewer,
	"GET /api/v1/audit":                                Owner,
	"POST /api/v1/session:verify":                      Public,
	"GET /api/v1/session/second-factor":                Viewer,
	"POST /api/v1/session/second-factor":               Viewer,
	"POST /api/v1/session/second-factor:confirm":       Viewer,
	"POST /api/v1/session/second-factor:remove":        Viewer,
	"GET /api/v1/session/ways":                         Public,
	"POST /api/v1/session/passkey:begin":               Public,
	"POST /api/v1/session/passkey:finish":              Public,
	"POST /api/v1/session/provider":                    Public,
	"GET /api/v1/session/provider/callback":            Public,
	"GET /api/v1/session/passkeys":                     Viewer,
	"POST /api/v1/session/passkeys":                    Viewer,
	"POST /api/v1/session/passkeys:finish":             Viewer,
	"PATCH /api/v1/session/passkeys/{id}":              Viewer,
	"POST /api/v1/session/passkeys/{id}:remove":        Viewer,
	"GET /api/openapi.json":                            Public,
	"GET /api/asyncapi.json":                           Public,
	"GET /api/v1/targets/{id}/export":                  Viewer,
	"GET /api/v1/results/current":                      Viewer,
	"GET /api/v1/targets/{id}/matrix":                  Viewer,
	"GET /api/v1/targets/{id}/failures":                Viewer,
	"GET /api/v1/targets/{id}/histogram":               Viewer,
	"GET /api/v1/targets/{id}/known":                   Viewer,
	"GET /api/v1/targets/{id}/deliveries":              Viewer,
	"GET /api/v1/targets/{id}/revisions":               Viewer,

	"GET /api/v1/status-pages":                                  Viewer,
	"POST /api/v1/status-pages":                                 Editor,
	"GET /api/v1/status-pages/{id}":                             Viewer,
	"PATCH /api/v1/status-pages/{id}":                           Editor,
	"DELETE /api/v1/status-pages/{id}":                          Editor,
	"GET /api/v1/status-pages/{id}/copy":                        Viewer,
	"GET /api/v1/status-pages/{id}/known":                       Viewer,
	"GET /api/v1/status-pages/{id}/subscribers":                 Editor,
	"DELETE /api/v1/status-pages/{id}/subscribers/{subscriber}": Editor,
	"GET /api/v1/status-pages/{id}/posts":                       Viewer,
	"POST /api/v1/status-pages/{id}/posts":                      Editor,
	"GET /api/v1/status-pages/{id}/posts/{post}":                Viewer,
	"PATCH /api/v1/status-pages/{id}/posts/{post}":              Editor,
	"POST /api/v1/status-pages/{id}/posts/{post}/updates":       Editor,
	"DELETE /api/v1/status-pages/{id}/posts/{post}":             Editor,

	"POST /api/v1/regions/{region}/probers/{prober}:drain":  Owner,
	"POST /api/v1/regions/{region}/probers/{prober}:resume": Owner,
}

func TestEveryRouteForEveryIdentity(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	patterns := b.router.patterns()
	if len(patterns) != len(policies) {
		t.Errorf("%d routes, %d in this test", len(patterns), len(policies))
	}
	identities := map[string]accountstore.Role{"": "", "pf_nobody": "", revokedKey: "", viewerKey: accountstore.RoleViewer, editorKey: accountstore.RoleEditor, ownerKey: accountstore.RoleOwner}
	for _, pattern := range patterns {
		policy, listed := policies[pattern]
		if !listed || b.router.policies[pattern] != policy {
			t.Errorf("route %q has policy %v, this test says %v", pattern, b.router.policies[pattern], policy)
			continue
		}
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.Replace(path, "{id}", "4711", 1)
		for key, role := range identities {
			got := b.do(method, path, `{}`, as(key))
			want := map[bool]int{true: http.StatusForbidden, false: http.StatusUnauthorized}[role != ""]
			switch refused := got.Code == http.StatusUnauthorized || got.Code == http.StatusForbidden; {
			case policy == Public:
				if refused && pattern != "GET /api/v1/session" {
					t.Errorf("%s as %q: %d", pattern, key, got.Code)
				}
			case policy.allows(role) && refused:
				t.Errorf("%s as %q was refused: %d", pattern, key, got.Code)
			case !policy.allows(role) && got.Code != want:
				t.Errorf("%s as %q: %d, want %d", pattern, key, got.Code, want)
			}
			if got.Code >= 500 {
				t.Errorf("%s as %q: %d %s", pattern, key, got.Code, got.text)
			}
		}
	}
}

func TestRouteWithoutPolicyDoesNotStart(t *testing.T) {
	t.Parallel()
	open := func(_ Policy, _ string, next http.Handler) http.Handler { return next }
	handle := func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
	for name, register := range map[string]func(*router){
		"forgotten in the table": func(r *router) { add(r, operation{method: "GET", path: "/api/v1/secret", id: "secret"}, handle) },
		"raw":                    func(r *router) { raw(r, operation{method: "GET", path: "/api/v1/secret"}, http.NotFoundHandler()) },
		"past the table":         func(r *router) { huma.Get(r.api, "/api/v1/secret", handle) },
	} {
		r := newRouter(config("test"), open, func(_ context.Context, err error) error { return err })
		register(r)
		err := r.finish()
		if err == nil || !strings.Contains(err.Error(), "GET /api/v1/secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRolesOfPolicies(t *testing.T) {
	t.Parallel()
	for _, role := range []accountstore.Role{"", "root", "OWNER"} {
		for _, policy := range []Policy{undeclared, Viewer, Editor, Owner, Policy(99)} {
			if policy.allows(role) {
				t.Errorf("%v allows %q", policy, role)
			}
		}
	}
	if undeclared.allows(accountstore.RoleOwner) || Policy(99).allows(accountstore.RoleOwner) {
		t.Error("an unknown policy allows an owner")
	}
}

func TestRevocationHoldsForTheNextRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got := b.do("GET", "/api/v1/targets", "", as(viewerKey)); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if err := b.db.Write().Exec("UPDATE api_keys SET revoked_at_ms = 1 WHERE name = ?", viewerKey).Error; err != nil {
		t.Fatal(err)
	}
	if got := b.do("GET", "/api/v1/targets", "", as(viewerKey)); got.Code != http.StatusUnauthorized {
		t.Fatalf("a revoked key still works: %d", got.Code)
	}
}

func TestForeignWritesAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, options := range map[string][]option{
		"cross-site fetch":  {header("Sec-Fetch-Site", "cross-site")},
		"same-site sibling": {header("Sec-Fetch-Site", "same-site")},
		"foreign origin":    {header("Origin", "https://evil.example")},
		"null origin":       {header("Origin", "null")},
	} {
		got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/"}`, append(options, as(editorKey))...)
		if p := got.problem(t); got.Code != http.StatusForbidden || p.Code != "cross_origin" {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		for method, path := range map[string]string{"POST": "/api/v1/targets", "PATCH": "/api/v1/targets/1", "PUT": "/api/v1/session/password"} {
			got := b.do(method, path, `{"url":"https://example.com/"}`, as(editorKey), header("Content-Type", media))
			if got.Code != http.StatusUnsupportedMediaType {
				t.Errorf("%s of %q: %d", method, media, got.Code)
			}
		}
	}
	if n := len(b.stored()); n != 0 {
		t.Errorf("%d targets were stored", n)
	}
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/"}`, as(editorKey), header("Sec-Fetch-Site", "same-origin")); got.Code != http.StatusCreated {
		t.Errorf("own page: %d %s", got.Code, got.text)
	}
}
