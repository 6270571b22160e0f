package session

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/seal"
)

// cheap has passwords cost nothing, so that many can be tried.
func cheap(t *testing.T) *Sessions {
	t.Helper()
	s, _ := newSessions(t, false)
	box, err := seal.New("the SECRET_KEY of this test")
	if err != nil {
		t.Fatal(err)
	}
	s.hasher.encode = func(password string, salt []byte) string {
		return costPrefix() + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString([]byte(password))
	}
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
	s := cheap(t)
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
	s := cheap(t)
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
	s := cheap(t)
	ann, _ := owner(t, s)
	known := s.KnowBrowser(request(), ann)
	if strings.Contains(known.Value, "ann") || !known.HttpOnly || known.SameSite != http.SameSiteLaxMode {
		t.Errorf("cookie %v", known)
	}
	first := s.knownTo(request(known), ann.Email)
	if second := s.knownTo(request(s.KnowBrowser(request(), ann)), ann.Email); first == "" || second == "" || first == second {
		t.Errorf("browsers %q and %q", first, second)
	}
	if got := s.knownTo(request(known), "bob@example.com"); got != "" {
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
		if got := s.knownTo(request(&http.Cookie{Name: known.Name, Value: value}), ann.Email); got != "" {
			t.Errorf("%s: known as %q", name, got)
		}
	}
	s.now = func() time.Time { return time.Now().Add(knownFor) }
	if got := s.knownTo(request(known), ann.Email); got != "" {
		t.Errorf("for longer than it lasts: %q", got)
	}
}
