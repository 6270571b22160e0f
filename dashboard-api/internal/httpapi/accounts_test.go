package httpapi

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/accountstore"
)

func (b *bench) setUp() (cookie option) {
	b.Helper()
	got := b.do("POST", "/api/v1/setup", fmt.Sprintf(`{"token":%q,"email":"ann@example.com","name":"Ann","password":"correct horse"}`, b.setup))
	if got.Code != http.StatusCreated {
		b.Fatalf("set-up: %d %s", got.Code, got.text)
	}
	return cookieOf(got)
}

func cookieOf(got reply) option {
	pair, _, _ := strings.Cut(got.Header().Get("Set-Cookie"), ";")
	return header("Cookie", pair)
}

func TestSessionLife(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cookie := b.setUp()
	const user = `{"user":{"id":1,"email":"ann@example.com","name":"Ann","role":"owner","version":1},"role":"owner","setup_needed":false}`
	if got := b.do("GET", "/api/v1/session", "", cookie); got.Code != 200 || strings.TrimSpace(got.text) != user {
		t.Errorf("session: %d %s", got.Code, got.text)
	}
	if got := b.do("GET", "/api/v1/session", "", as(viewerKey)); got.Code != 200 || strings.TrimSpace(got.text) != `{"user":null,"role":"viewer","setup_needed":false}` {
		t.Errorf("session of a key: %d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/"}`, cookie); got.Code != http.StatusCreated {
		t.Errorf("an owner's write: %d %s", got.Code, got.text)
	}
	for body, want := range map[string]int{
		`{"email":"ann@example.com","password":"wrong"}`:                      401,
		`{"email":"nobody@example.com","password":"wrong"}`:                   401,
		`{"email":"ann@example.com","password":""}`:                           422,
		`{"email":"ann@example.com"}`:                                         422,
		`{"email":"ann@example.com","password":"correct horse","role":"own"}`: 400,
	} {
		if got := b.do("POST", "/api/v1/session", body); got.Code != want || got.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %s", body, got.Code, got.text)
		}
	}
	got := b.do("POST", "/api/v1/session", `{"email":"Ann@Example.com","password":"correct horse"}`)
	if got.Code != 200 || strings.TrimSpace(got.text) != user || !strings.Contains(got.Header().Get("Set-Cookie"), "HttpOnly") {
		t.Fatalf("log in: %d %s", got.Code, got.text)
	}
	second := cookieOf(got)
	got = b.do("DELETE", "/api/v1/session", "", second)
	if got.Code != http.StatusNoContent || !strings.Contains(got.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("log out: %d %v", got.Code, got.Header())
	}
	if got := b.do("GET", "/api/v1/targets", "", second); got.Code != http.StatusUnauthorized || *got.problem(t).SetupNeeded {
		t.Errorf("a session after its end: %d %s", got.Code, got.text)
	}
	if got := b.do("GET", "/api/v1/targets", "", cookie); got.Code != 200 {
		t.Errorf("the other session ended too: %d", got.Code)
	}
	if err := b.db.Write().Exec("UPDATE users SET role = 'viewer'").Error; err != nil {
		t.Fatal(err)
	}
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://b.example/"}`, cookie); got.Code != http.StatusForbidden {
		t.Errorf("a lost role still works: %d", got.Code)
	}
	if err := b.db.Write().Exec("DELETE FROM users").Error; err != nil {
		t.Fatal(err)
	}
	if got := b.do("GET", "/api/v1/targets", "", cookie); got.Code != http.StatusUnauthorized {
		t.Errorf("a deleted user still works: %d", got.Code)
	}
}

func TestSetupMistakesAndRace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := fmt.Sprintf(`{"token":%q,"email":"ann@example.com","name":"Ann","password":"correct horse"}`, b.setup)
	for body, want := range map[string]string{
		`{}`: "required required required required",
		`{"token":"x","email":"ann","name":"Ann","password":"short"}`:                                  "invalid_email too_short",
		`{"token":"x","email":"Ann <ann@example.com>","name":"\u0007","password":"correct horse"}`:     "invalid_email invalid_text",
		`{"token":"x","email":"ann@example.com","name":"Ann","password":"correct horse","role":"own"}`: "unknown_field",
	} {
		var codes []string
		for _, m := range b.do("POST", "/api/v1/setup", body).problem(t).Errors {
			codes = append(codes, m.Code)
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	if got := b.do("POST", "/api/v1/setup", strings.Replace(good, b.setup, "wrong", 1)); got.Code != http.StatusForbidden || got.problem(t).Code != "bad_token" {
		t.Errorf("wrong token: %d %s", got.Code, got.text)
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		codes = map[int]int{}
	)
	for range 100 {
		group.Go(func() {
			got := b.do("POST", "/api/v1/setup", good)
			mu.Lock()
			defer mu.Unlock()
			codes[got.Code]++
		})
	}
	group.Wait()
	if codes[http.StatusCreated] != 1 || codes[201]+codes[409]+codes[429]+codes[503] != 100 {
		t.Errorf("100 set-ups at once: %v", codes)
	}
	var owners int64
	if err := b.db.Read().Raw("SELECT count(*) FROM users").Scan(&owners).Error; err != nil || owners != 1 {
		t.Errorf("%d accounts (%v)", owners, err)
	}
	if got := b.do("POST", "/api/v1/setup", good); got.Code != http.StatusConflict || got.problem(t).Code != "setup_done" {
		t.Errorf("after the set-up: %d %s", got.Code, got.text)
	}
}

func TestGuessingIsSlowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.setUp()
	codes := map[int]int{}
	var last reply
	for range 12 {
		last = b.do("POST", "/api/v1/session", `{"email":"ann@example.com","password":"wrong horse"}`)
		codes[last.Code]++
		if last.Code == http.StatusTooManyRequests {
			break
		}
	}
	if codes[429] != 1 || last.Header().Get("Retry-After") == "" || last.problem(t).Code != "too_many_attempts" {
		t.Errorf("guesses were answered %v", codes)
	}
	other := b.do("POST", "/api/v1/session", `{"email":"ann@example.com","password":"correct horse"}`, func(r *http.Request) { r.RemoteAddr = "198.51.100.7:1" })
	if other.Code != http.StatusOK {
		t.Errorf("the account is locked for its owner elsewhere: %d %s", other.Code, other.text)
	}
}

// Who may write is who may when the body is there, however long that takes to come.
func TestWhoIsRevokedWhileTheBodyComes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(b *bench)
		want string
	}{
		"nothing":    {func(*bench) {}, "201 Created"},
		"disabled":   {func(b *bench) { b.do("PATCH", "/api/v1/users/2", `{"disabled":true}`, as(ownerKey)) }, "401 Unauthorized"},
		"removed":    {func(b *bench) { b.do("DELETE", "/api/v1/users/2", "", as(ownerKey)) }, "401 Unauthorized"},
		"less of it": {func(b *bench) { b.exec("UPDATE users SET role = 'viewer' WHERE id = 2") }, "403 Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.setUp()
			b.member("bob@example.com", accountstore.RoleOwner)
			server, cookie := b.serve(), b.logIn("bob@example.com")
			carrier := httptest.NewRequest(http.MethodGet, "/", nil)
			cookie(carrier)
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			const body = `{"email":"me@example.com","role":"owner","current_password":"correct horse"}`
			_, _ = fmt.Fprintf(conn, "POST /api/v1/invitations HTTP/1.1\r\nHost: x\r\nCookie: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", carrier.Header.Get("Cookie"), len(body))
			answers := bufio.NewReader(conn)
			first, err := answers.ReadString('\n') // the server has judged who is asking, and wants the body
			if err != nil || !strings.Contains(first, "100 Continue") {
				t.Fatalf("%q %v", first, err)
			}
			c.end(b)
			_, _ = fmt.Fprint(conn, body)
			rest, err := answers.ReadString('\n')
			for err == nil && !strings.HasPrefix(rest, "HTTP/1.1 ") {
				rest, err = answers.ReadString('\n')
			}
			if err != nil || !strings.Contains(rest, c.want) {
				t.Errorf("%q %v, want %s", rest, err, c.want)
			}
			var made int64
			if err := b.db.Read().Raw("SELECT count(*) FROM invitations WHERE email = 'me@example.com' AND revoked_at_ms IS NULL").Scan(&made).Error; err != nil || (made == 1) != (name == "nothing") {
				t.Errorf("%d invitations, %v", made, err)
			}
		})
	}
}
