package session

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// maxUserAgent is how much is kept of what a browser calls itself.
const maxUserAgent = 300

// sessionCookie is how the cookie of a session is called, without its prefix.
const sessionCookie = "pf_session"

// Secure says whether the browser reached us over TLS.
func (s *Sessions) Secure(r *http.Request) bool {
	return r.TLS != nil || s.proxied && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// cookieName is how a cookie is called: the prefix binds it to this host and to TLS, so it
// is used wherever there is TLS.
func (s *Sessions) cookieName(r *http.Request, name string) string {
	if s.Secure(r) {
		return "__Host-" + name
	}
	return name
}

func (s *Sessions) readCookie(r *http.Request) (token string, found bool) {
	return s.readCookieOf(r, sessionCookie)
}

func (s *Sessions) readCookieOf(r *http.Request, name string) (token string, found bool) {
	cookie, err := r.Cookie(s.cookieName(r, name))
	if err != nil || cookie.Value == "" {
		return "", false
	}
	return cookie.Value, true
}

func (s *Sessions) cookie(r *http.Request, token string, expires time.Time) *http.Cookie {
	return s.cookieOf(r, sessionCookie, token, expires)
}

// cookieOf binds something to the browser. Lax: it comes along when another site, such as a
// provider, leads the browser back to us, and with nothing else that another site does.
func (s *Sessions) cookieOf(r *http.Request, name, token string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(r, name), Value: token, Path: "/", Expires: expires,
		HttpOnly: true, Secure: s.Secure(r), SameSite: http.SameSiteLaxMode,
	}
}

// EndCookie tells the browser to forget its session.
func (s *Sessions) EndCookie(r *http.Request) *http.Cookie {
	cookie := s.cookie(r, "", time.Unix(1, 0))
	cookie.MaxAge = -1
	return cookie
}

// client is what a session shows of where it began.
func (s *Sessions) client(r *http.Request) accountstore.Client {
	agent := []rune(strings.ToValidUTF8(r.UserAgent(), "?"))
	return accountstore.Client{Address: s.Address(r), UserAgent: string(agent[:min(len(agent), maxUserAgent)])}
}

// Address is the one a request comes from.
func (s *Sessions) Address(r *http.Request) string {
	text := r.RemoteAddr
	if forwarded := r.Header.Values("X-Forwarded-For"); s.proxied && len(forwarded) > 0 {
		last := forwarded[len(forwarded)-1] // only what our proxy appended is true
		text = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		port, err := netip.ParseAddrPort(text)
		if err != nil {
			return text
		}
		addr = port.Addr()
	}
	return addr.Unmap().WithZone("").String()
}

// ClientAddress is what tries are counted by: the address, or the /64 of an IPv6
// one, since that is what one customer has.
func (s *Sessions) ClientAddress(r *http.Request) string {
	text := s.Address(r)
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is6() {
		prefix, _ := addr.Prefix(64)
		return prefix.String()
	}
	return text
}
