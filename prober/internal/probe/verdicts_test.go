package probe

import (
	"net/http"
	"strings"
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
			if o := checked(t.Context(), e, checkOf("http://example.com/")); o.Status != uptime.StatusDown || b.visits != 1 {
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

// A host sets no cookies for others that only share a public suffix with it.
func TestCookiesStayWithTheirSite(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	mux := http.NewServeMux()
	var port string
	mux.HandleFunc("/there", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			w.WriteHeader(http.StatusForbidden)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=1; Domain=co.uk; Path=/")
		http.Redirect(w, r, "http://other.co.uk:"+port+"/there", http.StatusFound)
	})
	url := servePlain(t, mux)
	port = url[strings.LastIndexByte(url, ':')+1:]
	check := checkOf("http://one.co.uk:" + port)
	check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Cookies: true}}.Text()
	e := New(options(l, func(o *Options) { o.Resolver = names{"one.co.uk": {"127.0.0.1"}, "other.co.uk": {"127.0.0.1"}} }))
	verify(t, e.Look(t.Context(), check), nil, 200)
}

// An answer without a body has no coding to undo.
func TestEncodedNothing(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, coding := range []string{"gzip", "deflate", "br", "zstd", "gzip, zstd"} {
		url := servePlain(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", coding) }))
		for _, method := range []string{"HEAD", "GET"} {
			spec := uptime.Spec{HTTP: &uptime.HTTPSpec{Method: method}, Assertions: []uptime.Assertion{{Source: "body_size", Op: "equals", Value: "0"}}}
			o := lookAs(t, l, url, spec)
			if verify(t, o, nil, 200); t.Failed() {
				t.Log(method, coding)
			}
		}
	}
}
