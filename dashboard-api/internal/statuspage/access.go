package statuspage

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
)

const (
	signedFor = 7 * 24 * time.Hour
	maxForm   = 4 << 10
)

// admit lets those through who may see a page, and answers the others.
func (p *Pages) admit(w http.ResponseWriter, r *http.Request, q request) bool {
	t, addr := q.page.Terms, reader(r, p.TrustProxy)
	if !allowed(t.Allow, addr) {
		p.refuse(w, r, stranger(r), http.StatusForbidden, "not_for_you")
		return false
	}
	if t.PasswordHash == "" || p.signed(r, q) {
		return true
	}
	if q.rest != "" {
		p.refuse(w, r, request{lang: q.lang}, http.StatusUnauthorized, "password_title")
		return false
	}
	problem := ""
	if r.Method == http.MethodPost {
		if p.tryPassword(w, r, q, throttled(addr)) {
			return false
		}
		problem = "password_wrong"
	}
	p.askPassword(w, q, http.StatusUnauthorized, problem)
	return false
}

// throttled is what tries, and live connections, are counted by.
func throttled(addr netip.Addr) string {
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return addr.String()
}

// tryPassword answers but for a wrong one.
func (p *Pages) tryPassword(w http.ResponseWriter, r *http.Request, q request, address string) (answered bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	password := r.PostFormValue("password")
	account := "page:" + strconv.FormatInt(q.page.ID, 10)
	bounds := []session.Bound{session.From(address), session.Everywhere(account), session.At(account, address)}
	if wait := p.throttle.Begin(bounds...); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		p.askPassword(w, q, http.StatusTooManyRequests, "too_often")
		return true
	}
	right, err := p.hasher.Check(r.Context(), q.page.Terms.PasswordHash, password)
	if err != nil {
		p.throttle.Return(bounds...)
		p.unavailable(w, r, request{lang: q.lang})
		return true
	}
	if !right {
		return false
	}
	p.throttle.Succeed(bounds...)
	expires := p.Now().Add(signedFor)
	secureNow := p.Secure(r)
	http.SetCookie(w, &http.Cookie{
		Name: p.cookieName(q), Value: p.signature(q, expires.Unix()), Path: "/", Expires: expires, HttpOnly: true, Secure: secureNow, SameSite: http.SameSiteLaxMode,
	})
	secure(w.Header(), nothing)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, r.URL.RequestURI(), http.StatusSeeOther) // in the same language
	return true
}

func (p *Pages) cookieName(q request) string { return "pf_page_" + strconv.FormatInt(q.page.ID, 10) }

// signature is worth something until it expires, or the password is another one.
func (p *Pages) signature(q request, expires int64) string {
	return fmt.Sprintf("%d.%s", expires, p.Fingerprint(fmt.Sprintf("status page %d until %d\n%s", q.page.ID, expires, q.page.Terms.PasswordHash)))
}

func (p *Pages) signed(r *http.Request, q request) bool {
	cookie, err := r.Cookie(p.cookieName(q))
	if err != nil {
		return false
	}
	text, _, _ := strings.Cut(cookie.Value, ".")
	expires, err := strconv.ParseInt(text, 10, 64)
	return err == nil && p.Now().Unix() < expires && same(cookie.Value, p.signature(q, expires))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
