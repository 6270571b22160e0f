package statuspage

import (
	"net/http"
	"strings"
	"time"
)

// stranger is a request of which no more is known than its language. Of a page that is not for those
// who ask, nothing is said, nor is its language.
func stranger(r *http.Request) request { return request{lang: languageOf(r, "en")} }

// refuse says why there is no other answer: as a page to those who read pages, in a line to programs.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, q request, status int, word string) {
	h := w.Header()
	secure(h, formPolicy)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Language", q.lang)
	h.Add("Vary", "Accept, Accept-Language")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, say(q.lang, word), status)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(p.execute("refused.html", q.lang, time.UTC, struct {
		shell
		Word, Base string
	}{shellOf(q.lang, q.page.Terms.Theme), word, q.base}))
}

// notFound is the same for a page that is not there and one that is not published.
func (p *Pages) notFound(w http.ResponseWriter, r *http.Request, q request) {
	p.refuse(w, r, q, http.StatusNotFound, "not_found")
}

func (p *Pages) unavailable(w http.ResponseWriter, r *http.Request, q request) {
	w.Header().Set("Retry-After", "5")
	p.refuse(w, r, q, http.StatusServiceUnavailable, "unreadable")
}

func (p *Pages) notAllowed(w http.ResponseWriter, r *http.Request, q request, allow string) {
	w.Header().Set("Allow", allow)
	p.refuse(w, r, q, http.StatusMethodNotAllowed, "not_allowed")
}
