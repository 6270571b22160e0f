package session

import (
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Names of the cookie. The __Host- one binds it to this host and to TLS, so it is
// used wherever there is TLS.
const (
	secureCookie = "__Host-pf_session"
	plainCookie  = "pf_session"
)

// Secure says whether the browser reached us over TLS.
func (s *Sessions) Secure(r *http.Request) bool {
	return r.TLS != nil || s.proxied && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (s *Sessions) cookieName(r *http.Request) string {
	if s.Secure(r) {
		return secureCookie
	}
	return plainCookie
}

func (s *Sessions) readCookie(r *http.Request) (token string, found bool) {
	cookie, err := r.Cookie(s.cookieName(r))
	if err != nil || cookie.Value == "" {
		return "", false
	}
	return cookie.Value, true
}

func (s *Sessions) cookie(r *http.Request, token string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(r), Value: token, Path: "/", Expires: expires,
		HttpOnly: true, Secure: s.Secure(r), SameSite: http.SameSiteLaxMode,
	}
}

// EndCookie tells the browser to forget its session.
func (s *Sessions) EndCookie(r *http.Request) *http.Cookie {
	cookie := s.cookie(r, "", time.Unix(1, 0))
	cookie.MaxAge = -1
	return cookie
}

// clientAddress is what tries are counted by: the address, or the /64 of an IPv6
// one, since that is what one customer has.
func (s *Sessions) clientAddress(r *http.Request) string {
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
	if addr = addr.Unmap().WithZone(""); addr.Is6() {
		prefix, _ := addr.Prefix(64)
		return prefix.String()
	}
	return addr.String()
}
