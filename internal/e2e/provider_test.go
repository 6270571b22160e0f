//go:build browser

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/probefleet/probefleet/internal/testissuer"
)

// peopleComeInByTheirProvider signs people on in a real browser with a real provider: the first
// time, to be where they wanted to go, and again to do what needs a fresh sign-in; or not at all.
func peopleComeInByTheirProvider(t *testing.T) {
	s := newSystem(t, "--regions", "eu")
	pages := http.NewServeMux()
	issuer := testissuer.Start(t, s.url+"/api/v1/session/provider/callback", func(provider http.Handler) http.Handler {
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
	s.env = append(s.env, "API_OIDC_ISSUER="+issuer.URL(), "API_OIDC_CLIENT_ID="+testissuer.ClientID, "API_OIDC_CLIENT_SECRET="+testissuer.ClientSecret,
		"API_OIDC_LABEL=Example Ltd", "API_OIDC_DOMAINS=example.com", "API_OIDC_NEW_ROLE=editor", "API_OIDC_ALLOW_CIDRS=127.0.0.0/8")
	s.start()
	s.browse("e2e/provider.test.mjs")
}
