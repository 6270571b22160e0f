package session

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/seal"
)

// sealed are sessions that can hold second factors. Their clock stands still: a code stays that of its step.
func sealed(t *testing.T) *Sessions {
	t.Helper()
	s, _ := newSessions(t, false)
	box, err := seal.New("the SECRET_KEY of this test")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s.now = func() time.Time { return now }
	return s.WithBox(box)
}

func (s *Sessions) try(address, email, password string, cookies ...*http.Cookie) error {
	r := request(cookies...)
	r.RemoteAddr = address + ":1"
	_, _, err := s.LogIn(r, email, password)
	return err
}

func slowed(err error) bool {
	_, is := errors.AsType[*ThrottledError](err)
	return is
}

// A machine that guesses, at whatever, holds up nobody else behind its address for long, and
// nobody at all in a browser that the person uses.
func TestGuessersHoldUpNobody(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	ann, _ := owner(t, s)
	known := s.KnowBrowser(request(), ann)
	const office = "192.0.2.1"
	for range 20 {
		_ = s.try(office, ann.Email, "wrong")
	}
	if err := s.try(office, ann.Email, "correct horse"); !slowed(err) {
		t.Errorf("in a browser that nobody knows, where others guess: %v", err)
	}
	for i := range 50 {
		if err := s.try(office, fmt.Sprint("user", i), "wrong"); slowed(err) {
			t.Fatalf("the address has no more tries after %d accounts", i)
		}
	}
	for i := range 1000 {
		_ = s.try(office, fmt.Sprint("user", i), "wrong")
	}
	if err := s.try(office, ann.Email, "correct horse", known); err != nil {
		t.Errorf("in a browser that is known: %v", err)
	}
	var wait *ThrottledError
	if err := s.try(office, "bob@example.com", "x"); !errors.As(err, &wait) || wait.Wait > addressEvery {
		t.Errorf("others of the address wait %v", err)
	}
}

// Many addresses guess at one account no faster than a crowd, which keeps nobody out of a
// browser that is known, and others not for good.
func TestGuessesFromEverywhereAreBounded(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	now := time.Now()
	s.throttle = NewThrottle(func() time.Time { return now })
	ann, _ := owner(t, s)
	known, judged := s.KnowBrowser(request(), ann), 0
	for i := range 400 {
		if err := s.try(fmt.Sprintf("198.51.%d.%d", i/200, i%200), ann.Email, "wrong"); !slowed(err) {
			judged++
		}
	}
	if judged != crowd {
		t.Errorf("%d addresses guessed at one account, want %d", judged, crowd)
	}
	if err := s.try("192.0.2.1", "bob@example.com", "wrong"); !errors.Is(err, ErrBadCredentials) {
		t.Errorf("another account: %v", err)
	}
	if err := s.try("192.0.2.1", ann.Email, "correct horse", known); err != nil {
		t.Errorf("in a browser that is known: %v", err)
	}
	now = now.Add(accountEvery)
	if err := s.try("192.0.2.1", ann.Email, "correct horse"); err != nil {
		t.Errorf("elsewhere, %v later: %v", accountEvery, err)
	}
}

// What makes a browser known is worth its own few tries, for a while, at one account.
func TestKnownBrowsers(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	ann, _ := owner(t, s)
	known := s.KnowBrowser(request(), ann)
	if strings.Contains(known.Value, "ann") || !known.HttpOnly || known.SameSite != http.SameSiteLaxMode {
		t.Errorf("cookie %v", known)
	}
	first := s.knownTo(request(known), ann)
	if second := s.knownTo(request(s.KnowBrowser(request(), ann)), ann); first == "" || second == "" || first == second {
		t.Errorf("browsers %q and %q", first, second)
	}
	if got := s.knownTo(request(known), accountstore.User{Email: "bob@example.com"}); got != "" {
		t.Errorf("known to bob as %q", got)
	}
	for range freeTries {
		_ = s.try("192.0.2.9", ann.Email, "wrong", known)
	}
	_ = s.try("192.0.2.9", ann.Email, "wrong", known)
	if err := s.try("192.0.2.8", ann.Email, "correct horse", known); !slowed(err) {
		t.Errorf("a stolen cookie guesses on: %v", err)
	}
	parts := strings.Split(known.Value, ".")
	for name, value := range map[string]string{
		"empty": "", "without a mark": strings.Join(parts[:3], "."), "another browser": parts[0] + ".x." + parts[2] + "." + parts[3],
		"for ever": parts[0] + "." + parts[1] + ".99999999999." + parts[3], "signed otherwise": known.Value[:len(known.Value)-1] + "x",
	} {
		if got := s.knownTo(request(&http.Cookie{Name: known.Name, Value: value}), ann); got != "" {
			t.Errorf("%s: known as %q", name, got)
		}
	}
	s.now = func() time.Time { return time.Now().Add(knownFor) }
	if got := s.knownTo(request(known), ann); got != "" {
		t.Errorf("for longer than it lasts: %q", got)
	}
}

// activated gives an account a second factor in the browser with this session: its secret, and
// what makes the browser known from then on.
func activated(t *testing.T, s *Sessions, cookie *http.Cookie) (secret string, known *http.Cookie) {
	t.Helper()
	identity, err := s.Identify(request(cookie))
	if err != nil {
		t.Fatal(err)
	}
	if secret, _, err = s.Enrol(request(cookie), identity, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if _, known, err = s.Activate(request(cookie), identity, s.codeOf(t, secret, -1)); err != nil {
		t.Fatal(err)
	}
	return secret, known
}

// codeOf is the code of so many steps from now.
func (s *Sessions) codeOf(t *testing.T, secret string, steps int) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, s.now().Add(time.Duration(steps)*stepLength))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// second begins to sign in to Ann's account, with the password.
func second(t *testing.T, s *Sessions) (challenge string) {
	t.Helper()
	_, _, err := s.LogIn(request(), "ann@example.com", "correct horse")
	needed, is := errors.AsType[*SecondFactorError](err)
	if !is {
		t.Fatalf("first step: %v", err)
	}
	return needed.Challenge
}

// What makes browsers known is put by by nobody: it ends with the password, and when a second
// factor is switched on, but in the browser where that was done, which stays signed in, too.
func TestKnownBrowsersEndWithTheEpoch(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	ann, cookie := owner(t, s)
	first := s.KnowBrowser(request(), ann)
	_, other, err := s.LogIn(request(), ann.Email, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	identity, err := s.Identify(request(cookie))
	if err != nil {
		t.Fatal(err)
	}
	only := func(what string, now *http.Cookie, before ...*http.Cookie) {
		t.Helper()
		id, err := s.Identify(request(cookie))
		if err != nil {
			t.Fatalf("%s: the own session ended: %v", what, err)
		}
		if s.knownTo(request(now), *id.User) == "" {
			t.Errorf("%s: the browser itself is not known any more", what)
		}
		for i, cookie := range before {
			if got := s.knownTo(request(cookie), *id.User); got != "" {
				t.Errorf("%s: browser %d of before is known as %q", what, i, got)
			}
		}
	}
	_, next, err := s.ChangePassword(request(cookie), identity, "correct horse", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	only("a new password", next, first)
	_, third, err := s.LogIn(request(), ann.Email, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	_, last := activated(t, s, cookie)
	only("a second factor", last, first, next)
	for name, ended := range map[string]*http.Cookie{"password": other, "second factor": third} {
		if _, err := s.Identify(request(ended)); !errors.Is(err, ErrAnonymous) {
			t.Errorf("another session outlives a new %s: %v", name, err)
		}
	}
}

// However many browsers somebody has made known, codes are guessed no faster than the bound of all
// of them; who has none of this epoch is counted with everybody else, and holds up none of them.
func TestBankedBrowsersGuessFewCodes(t *testing.T) {
	t.Parallel()
	s := sealed(t)
	now := time.Now()
	s.throttle = NewThrottle(func() time.Time { return now })
	ann, cookie := owner(t, s)
	banked := func(user accountstore.User) (all []*http.Cookie) {
		for range 4 * fewCodes {
			all = append(all, s.KnowBrowser(request(), user))
		}
		return all
	}
	before := banked(ann)
	secret, mine := activated(t, s, cookie)
	challenge := second(t, s)
	guess := func(browsers []*http.Cookie) (judged int) {
		for range freeTries - 1 {
			for _, browser := range browsers {
				if _, err := s.Verify(request(browser), challenge, "000000x"); !slowed(err) {
					judged++
				}
			}
		}
		return judged
	}
	if got := guess(before); got != freeTries {
		t.Errorf("%d codes were guessed in browsers of before, want %d", got, freeTries)
	}
	if got := guess([]*http.Cookie{mine}); got != freeTries-1 { // some, and no wait yet
		t.Errorf("strangers held up a known browser: %d guesses", got)
	}
	id, err := s.Identify(request(cookie))
	if err != nil {
		t.Fatal(err)
	}
	if got := guess(banked(*id.User)); got != fewCodes-(freeTries-1) {
		t.Errorf("%d codes were guessed in known browsers", got)
	}
	var wait *ThrottledError
	if _, err := s.Verify(request(mine), challenge, s.codeOf(t, secret, 0)); !errors.As(err, &wait) || wait.Wait > codesEvery {
		t.Errorf("the own browser meanwhile: %v", err)
	}
	now = now.Add(codesEvery)
	if _, err := s.Verify(request(mine), challenge, s.codeOf(t, secret, 0)); err != nil {
		t.Errorf("the own browser, %v later: %v", codesEvery, err)
	}
}
