package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

type recoveryJSON struct {
	Codes []string `json:"recovery_codes"`
}

// enrolled signs Ann up with a second factor, and gives its secret with the recovery codes.
func enrolled(b *bench) (mine option, secret string, codes []string) {
	b.Helper()
	mine = b.setUp()
	var made struct{ Secret, URL string }
	got := b.do("POST", "/api/v1/session/second-factor", `{"current_password":"correct horse"}`, mine)
	got.into(b, &made)
	if got.Code != http.StatusOK || !strings.HasPrefix(made.URL, "otpauth://totp/Probefleet:ann@example.com?") || !strings.Contains(made.URL, "secret="+made.Secret) {
		b.Fatalf("enrol: %d %s", got.Code, got.text)
	}
	var recovery recoveryJSON
	got = b.do("POST", "/api/v1/session/second-factor:confirm", fmt.Sprintf(`{"code":%q}`, codeAt(b, made.Secret, -1)), mine)
	got.into(b, &recovery)
	if got.Code != http.StatusOK || len(recovery.Codes) != 10 {
		b.Fatalf("confirm: %d %s", got.Code, got.text)
	}
	return mine, made.Secret, recovery.Codes
}

// codeAt is the code of so many steps from now.
func codeAt(b *bench, secret string, steps int) string {
	b.Helper()
	code, err := totp.GenerateCode(secret, b.signedIn.Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		b.Fatal(err)
	}
	return code
}

// challenge is the first step of signing in.
func (b *bench) challenge() string {
	b.Helper()
	var first struct {
		User   *struct{}
		Second struct{ Challenge string } `json:"second_factor"`
	}
	got := b.do("POST", "/api/v1/session", `{"email":"ann@example.com","password":"correct horse"}`)
	got.into(b, &first)
	if got.Code != http.StatusAccepted || first.User != nil || first.Second.Challenge == "" || got.Header().Get("Set-Cookie") != "" {
		b.Fatalf("first step: %d %s", got.Code, got.text)
	}
	return first.Second.Challenge
}

func (b *bench) verify(challenge, code string) reply {
	b.Helper()
	return b.do("POST", "/api/v1/session:verify", fmt.Sprintf(`{"challenge":%q,"code":%q}`, challenge, code))
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine, secret, recovery := enrolled(b)
	var stored string
	if err := b.db.Read().Raw("SELECT secret || (SELECT group_concat(code_hash) FROM recovery_codes) FROM second_factors").Scan(&stored).Error; err != nil || strings.Contains(stored, secret) || strings.Contains(stored, strings.ReplaceAll(recovery[0], "-", "")) {
		t.Errorf("stored in clear: %s, %v", stored, err)
	}
	challenge, code := b.challenge(), codeAt(b, secret, 0)
	got := b.verify(challenge, code[:3]+" "+code[3:])
	if got.Code != http.StatusOK || !strings.Contains(got.text, `"email":"ann@example.com"`) || b.do("GET", "/api/v1/targets", "", cookieOf(got)).Code != http.StatusOK {
		t.Fatalf("second step: %d %s", got.Code, got.text)
	}
	if got := b.verify(challenge, codeAt(b, secret, 1)); got.Code != http.StatusUnauthorized || got.problem(t).Code != "bad_challenge" {
		t.Errorf("a finished sign-in again: %s", got.text)
	}
	next := b.challenge()
	for name, used := range map[string]string{"the same": code, "one before": codeAt(b, secret, -1)} {
		if got := b.verify(next, used); got.problem(t).Code != "wrong_code" {
			t.Errorf("%s code again: %s", name, got.text)
		}
	}
	if got := b.verify(next, strings.ToLower(recovery[3])); got.Code != http.StatusOK {
		t.Errorf("a recovery code: %s", got.text)
	}
	if got := b.verify(b.challenge(), recovery[3]); got.problem(t).Code != "wrong_code" {
		t.Errorf("a recovery code again: %s", got.text)
	}
	if got := b.do("GET", "/api/v1/session/second-factor", "", mine); strings.TrimSpace(got.text) != `{"enabled":true,"recovery_codes_left":9}` {
		t.Errorf("state: %s", got.text)
	}
	for path, c := range map[string]struct{ body, code string }{
		"":         {`{"current_password":"correct horse"}`, "second_factor_on"},
		":confirm": {`{"code":"123456"}`, "no_second_factor"},
		":remove":  {`{"current_password":"wrong horse"}`, "wrong_password"},
	} {
		if got := b.do("POST", "/api/v1/session/second-factor"+path, c.body, mine); got.problem(t).Code != c.code {
			t.Errorf("%q: %s", path, got.text)
		}
	}
	late := b.challenge()
	if got := b.do("PUT", "/api/v1/session/password", `{"current_password":"correct horse","password":"battery staple"}`, mine); got.Code != http.StatusOK {
		t.Fatalf("%d", got.Code)
	}
	if got := b.verify(late, recovery[4]); got.problem(t).Code != "bad_challenge" {
		t.Errorf("begun with the old password: %s", got.text)
	}
	if got := b.do("POST", "/api/v1/session/second-factor:remove", `{"current_password":"battery staple"}`, mine); got.Code != http.StatusNoContent {
		t.Fatalf("remove: %d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/session", `{"email":"ann@example.com","password":"battery staple"}`); got.Code != http.StatusOK {
		t.Errorf("the password alone: %d", got.Code)
	}
}

func TestOneCodeHasOneWinner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, secret, _ := enrolled(b)
	challenges := []string{b.challenge(), b.challenge(), b.challenge(), b.challenge()}
	code := codeAt(b, secret, 0)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		codes = map[int]int{}
	)
	for _, challenge := range challenges {
		group.Go(func() {
			got := b.verify(challenge, code)
			mu.Lock()
			defer mu.Unlock()
			codes[got.Code]++
		})
	}
	group.Wait()
	if codes[http.StatusOK] != 1 || codes[http.StatusUnprocessableEntity] != 3 {
		t.Errorf("one code at once: %v", codes)
	}
}

// Guesses of the second step are counted wherever they come from.
func TestGuessingCodesIsSlowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	enrolled(b)
	challenge, codes := b.challenge(), map[int]int{}
	for i := range 12 {
		got := b.do("POST", "/api/v1/session:verify", fmt.Sprintf(`{"challenge":%q,"code":"abcdef"}`, challenge), func(r *http.Request) { r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", i) })
		codes[got.Code]++
	}
	if codes[http.StatusTooManyRequests] < 6 || codes[http.StatusUnprocessableEntity] == 0 {
		t.Errorf("guesses from everywhere were answered %v", codes)
	}
}
