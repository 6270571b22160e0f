//go:build browser

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/probefleet/probefleet/internal/testissuer"
)

// providerForPages starts a provider of single sign-on that asks people who they are, and gives what the
// API at an address needs of it. Ann may come in by it, and Bob may not.
func providerForPages(t *testing.T, url string) []string {
	pages := http.NewServeMux()
	issuer := testissuer.Start(t, url+"/api/v1/session/provider/callback", func(provider http.Handler) http.Handler {
		pages.Handle("/", provider)
		return pages
	})
	issuer.Person("ann", "ann@example.com", true)
	issuer.Person("bob", "bob@elsewhere.example", true)
	pages.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	pages.HandleFunc("GET /login/username", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><title>Example Ltd</title><form method="post"><label>Who are you? <input name="name"></label><button>Go on</button></form>`)
	})
	pages.HandleFunc("POST /login/username", func(w http.ResponseWriter, r *http.Request) {
		to, err := issuer.SignIn(r.FormValue("name"), r.URL.Query().Get("authRequestID"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
	return []string{
		"API_OIDC_ISSUER=" + issuer.URL(), "API_OIDC_CLIENT_ID=" + testissuer.ClientID, "API_OIDC_CLIENT_SECRET=" + testissuer.ClientSecret,
		"API_OIDC_LABEL=Example Ltd", "API_OIDC_DOMAINS=example.com", "API_OIDC_NEW_ROLE=editor", "API_OIDC_ALLOW_CIDRS=127.0.0.0/8",
	}
}
