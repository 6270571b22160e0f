package httpapi

import (
	"slices"
	"strings"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// Scopes of API keys. One without any may do all that its role may.
const (
	scopeRead      = "read"
	scopeTargets   = "targets:write"
	scopeIncidents = "incidents:write"
	scopeResults   = "results:write"
	scopeAdmin     = "admin" // everything
)

func scopeNames() []string {
	return []string{scopeRead, scopeTargets, scopeIncidents, scopeResults, scopeAdmin}
}

// roleOf is the least role that can use a scope.
func roleOf(scope string) accountstore.Role {
	switch scope {
	case scopeRead:
		return accountstore.RoleViewer
	case scopeAdmin:
		return accountstore.RoleOwner
	}
	return accountstore.RoleEditor
}

// scopeOf is what a key with scopes needs for a route. What any viewer may read needs
// read; what only editors see or do, the scope of its resource; and what is not said
// here, admin: a new route is closed to keys with scopes until somebody opens it.
func scopeOf(policy Policy, pattern string) string {
	method, path, _ := strings.Cut(pattern, " ")
	resource, _, _ := strings.Cut(strings.TrimPrefix(path, "/api/v1/"), "/")
	switch {
	case policy == Public:
		return ""
	case policy == Owner || ofAccounts(resource):
		return scopeAdmin
	case pattern == "POST /api/v1/targets/{id}/results":
		return scopeResults
	case policy == Viewer && (method == "GET" || asksOnly(pattern)):
		return scopeRead
	}
	switch resource {
	case "targets", "targets:batch", "targets:import", "deletions", "checks", "channels", "notification-rules", "maintenance-windows":
		return scopeTargets
	case "incidents":
		return scopeIncidents
	}
	return scopeAdmin
}

// asksOnly says whether a route writes nothing, whatever its method: its question is a document.
func asksOnly(pattern string) bool {
	return pattern == "POST /api/v1/policies:replay" || pattern == "POST /api/v1/notification-rules:match"
}

// ofAccounts says whether a resource is about who may do what.
func ofAccounts(resource string) bool {
	return slices.Contains([]string{"session", "sessions", "keys", "users", "invitations", "audit"}, resource)
}

// may says whether an identity's scopes reach a route that needs this one.
func may(identity session.Identity, scope string) bool {
	if identity.Key == nil || len(identity.Key.Scopes) == 0 {
		return true
	}
	return slices.Contains(identity.Key.Scopes, scope) || slices.Contains(identity.Key.Scopes, scopeAdmin)
}
