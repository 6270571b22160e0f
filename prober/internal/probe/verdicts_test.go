package probe

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/probefleet/probefleet/internal/uptime"
)

// A host that answers 429 is not looked at again, also when it does not say until when.
func TestBusyHostIsNotLookedAtAgain(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"", "0", "soon"} {
		synctest.Test(t, func(t *testing.T) {
			b := &busy{status: 429, wait: wait}
			e := newEngine(options(nil), with(b))
			if o := e.Check(t.Context(), checkOf("http://example.com/")); o.Status != uptime.StatusDown || b.visits != 1 {
				t.Errorf("Retry-After %q: %v after %d visits", wait, o.Status, b.visits)
			}
		})
	}
}

// Browsers write a blank in a query as %20, wherever it comes from.
func TestBlanksInAQueryAreEscaped(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/there", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") != "a b ü" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/there?q=a b ü")
		w.WriteHeader(http.StatusFound)
	})
	verify(t, New(options(l)).Look(t.Context(), checkOf(servePlain(t, mux))), nil, 200)
}

// A cookie goes back as it came.
func TestQuotedCookiesStayQuoted(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/there", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != `a="1"; b=2` {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(r.Header.Get("Cookie")))
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Set-Cookie"] = []string{`a="1"`, "b=2"}
		http.Redirect(w, r, "/there", http.StatusFound)
	})
	verify(t, lookAs(t, l, servePlain(t, mux), uptime.Spec{HTTP: &uptime.HTTPSpec{Cookies: true}}), nil, 200)
}
