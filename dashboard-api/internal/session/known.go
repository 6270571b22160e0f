package session

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
)

// A browser in which somebody has signed in to an account is known to it: what it tries there
// is counted by itself. So nobody else's guesses, from whatever addresses, keep people out of
// browsers that they use; and the cookie is worth a few tries to who steals it.
const (
	knownCookie = "pf_known"
	knownFor    = 180 * 24 * time.Hour
)

// KnowBrowser has a browser be known to the account that it has signed in to; nil without a
// key to sign that with.
func (s *Sessions) KnowBrowser(r *http.Request, user accountstore.User) *http.Cookie {
	if s.box == nil {
		return nil
	}
	expires := s.now().Add(knownFor)
	value := s.accountMark(user.Email) + "." + NewToken() + "." + strconv.FormatInt(expires.Unix(), 10)
	return s.cookieOf(r, knownCookie, value+"."+s.knownMark(value), expires)
}

// knownBrowser names a browser that is known to some account, and says to which; "": it is not known.
func (s *Sessions) knownBrowser(r *http.Request) (browser, mark string) {
	text, found := s.readCookieOf(r, knownCookie)
	cut := strings.LastIndexByte(text, '.')
	if s.box == nil || !found || cut < 0 || subtle.ConstantTimeCompare([]byte(text[cut+1:]), []byte(s.knownMark(text[:cut]))) != 1 {
		return "", ""
	}
	parts := strings.Split(text[:cut], ".")
	if len(parts) != 3 {
		return "", ""
	}
	if until, err := strconv.ParseInt(parts[2], 10, 64); err != nil || s.now().Unix() >= until {
		return "", ""
	}
	return "browser " + parts[1], parts[0]
}

// knownTo names a browser that is known to the account with this address; "": it is not.
func (s *Sessions) knownTo(r *http.Request, email string) string {
	browser, mark := s.knownBrowser(r)
	if browser == "" || subtle.ConstantTimeCompare([]byte(mark), []byte(s.accountMark(email))) != 1 {
		return ""
	}
	return browser
}

func (s *Sessions) knownMark(value string) string {
	return s.box.Fingerprint("known browser\n" + value)
}
func (s *Sessions) accountMark(email string) string { return s.box.Fingerprint("account\n" + email) }

// Place is what is counted that has no account yet: by a known browser, else by the address.
func (s *Sessions) Place(r *http.Request) string {
	if browser, _ := s.knownBrowser(r); browser != "" {
		return browser
	}
	return s.ClientAddress(r)
}

// bounds are what a try at an account is counted by, of the person with this address.
func (s *Sessions) bounds(r *http.Request, account, email string) []Bound {
	if browser := s.knownTo(r, email); browser != "" {
		return []Bound{At(account, browser)}
	}
	address := s.ClientAddress(r)
	return []Bound{From(address), Everywhere(account), At(account, address)}
}

// begin asks for a try; succeeded takes it back.
func (s *Sessions) begin(bounds ...Bound) (succeeded func(), err error) {
	if wait := s.throttle.Begin(bounds...); wait > 0 {
		return nil, &ThrottledError{wait}
	}
	return func() { s.throttle.Succeed(bounds...) }, nil
}
