package session

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/signon"
	"github.com/probefleet/probefleet/internal/accountstore"
)

// A browser in which somebody has signed in to an account is known to it: what it tries there
// is counted by itself. So nobody else's guesses, from whatever addresses, keep people out of
// browsers that they use; and the cookie is worth a few tries to who steals it, until a new
// password, role or second factor begins another epoch of the account: none is put by for then.
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
	value := s.accountMark(user) + "." + NewToken() + "." + strconv.FormatInt(expires.Unix(), 10)
	return s.cookieOf(r, knownCookie, value+"."+s.knownMark(value), expires)
}

// knowAgain has the browser be known in the epoch that it has just begun.
func (s *Sessions) knowAgain(r *http.Request, user accountstore.User) *http.Cookie {
	user.Epoch++
	return s.KnowBrowser(r, user)
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

// knownTo names a browser that is known to the account of a user, in its epoch; "": it is not.
func (s *Sessions) knownTo(r *http.Request, user accountstore.User) string {
	browser, mark := s.knownBrowser(r)
	if browser == "" || subtle.ConstantTimeCompare([]byte(mark), []byte(s.accountMark(user))) != 1 {
		return ""
	}
	return browser
}

// perhapsKnown is the user with this address, for browsers that are known to some account: only
// then is anything looked up before a try is counted. Zero: none, or nobody has the address.
func (s *Sessions) perhapsKnown(r *http.Request, email string) (accountstore.User, error) {
	if browser, _ := s.knownBrowser(r); browser == "" {
		return accountstore.User{}, nil
	}
	user, _, err := s.store.UserByEmail(r.Context(), email)
	if errors.Is(err, accountstore.ErrNotFound) {
		err = nil
	}
	return user, err
}

func (s *Sessions) knownMark(value string) string {
	return s.box.Fingerprint("known browser\n" + value)
}
func (s *Sessions) accountMark(user accountstore.User) string {
	return s.box.Fingerprint("account\n" + user.Email + "\n" + strconv.FormatInt(user.Epoch, 10))
}

// Place is what is counted that has no account yet: by a known browser, else by the address.
func (s *Sessions) Place(r *http.Request) string {
	if browser, _ := s.knownBrowser(r); browser != "" {
		return browser
	}
	return s.ClientAddress(r)
}

// bounds are what a try at an account of this user is counted by.
func (s *Sessions) bounds(r *http.Request, account string, user accountstore.User) []Bound {
	if browser := s.knownTo(r, user); browser != "" {
		return []Bound{At(account, browser)}
	}
	address := s.ClientAddress(r)
	return []Bound{From(address), Everywhere(account), At(account, address)}
}

// attempt is a try that was let through.
type attempt struct {
	throttle *Throttle
	bounds   []Bound
	right    bool
}

// begin asks for a try. It counts as wrong, unless it succeeds or was never judged.
func (s *Sessions) begin(bounds ...Bound) (*attempt, error) {
	if wait := s.throttle.Begin(bounds...); wait > 0 {
		return nil, &ThrottledError{wait}
	}
	return &attempt{throttle: s.throttle, bounds: bounds}, nil
}

// succeeded takes the try back.
func (a *attempt) succeeded() {
	a.right = true
	a.throttle.Succeed(a.bounds...)
}

// ended says what came of the try, when all is done: with an error that is no verdict it was not
// judged, and nobody pays for it.
func (a *attempt) ended(err error) {
	if err != nil && !a.right && !verdict(err) {
		a.throttle.Return(a.bounds...)
	}
}

// verdict says whether a try was wrong. Whatever else goes wrong, a database that does not answer
// or too many passwords at once, says nothing of it.
func verdict(err error) bool {
	if _, blocked := errors.AsType[*BlockedPasskeyError](err); blocked {
		return true
	}
	return slices.ContainsFunc([]error{
		ErrBadCredentials, ErrWrongPassword, ErrWrongCode, ErrBadPasskey,
		accountstore.ErrBadToken, accountstore.ErrBadInvitation, accountstore.ErrOtherAddress, accountstore.ErrNoAddress, accountstore.ErrEmailTaken,
		signon.ErrRefused, signon.ErrUntrue, ErrUnverified, ErrDomain, ErrNotAskedAgain, accountstore.ErrUnknownPerson, accountstore.ErrOtherIdentity,
	}, func(wrong error) bool { return errors.Is(err, wrong) })
}
