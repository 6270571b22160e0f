package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func newBenchWith(t *testing.T, adjust ...func(*bench, *Options)) *bench {
	t.Helper()
	return newBenchOn(t, testbackend.SQLite(t), adjust...)
}

type sessionJSON struct {
	ID        int64  `json:"id"`
	Current   bool   `json:"current"`
	Address   string `json:"address"`
	UserAgent string `json:"user_agent"`
}

func (b *bench) sessions(who option) (all []sessionJSON) {
	b.Helper()
	var page struct{ Items []sessionJSON }
	b.do("GET", "/api/v1/sessions", "", who).into(b, &page)
	return page.Items
}

func TestMySessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := b.setUp()
	got := b.do("POST", "/api/v1/session", `{"email":"ann@example.com","password":"correct horse"}`, header("User-Agent", "Phone/1"), func(r *http.Request) { r.RemoteAddr = "198.51.100.7:1" })
	phone := cookieOf(got)
	all := b.sessions(mine)
	if len(all) != 2 || all[0] != (sessionJSON{2, false, "198.51.100.7", "Phone/1"}) || !all[1].Current {
		t.Fatalf("%+v", all)
	}
	if got := b.do("DELETE", "/api/v1/sessions/4711", "", mine); got.Code != http.StatusNotFound {
		t.Errorf("no such session: %d", got.Code)
	}
	if got := b.do("DELETE", "/api/v1/sessions/2", "", mine); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if got := b.do("GET", "/api/v1/sessions", "", phone); got.Code != http.StatusUnauthorized {
		t.Errorf("an ended session: %d", got.Code)
	}
	if got := b.do("GET", "/api/v1/sessions", "", as(ownerKey)); got.Code != http.StatusConflict || got.problem(t).Code != "no_session" {
		t.Errorf("a key's sessions: %d %s", got.Code, got.text)
	}
	if got := b.sessions(mine); len(got) != 1 || !got[0].Current {
		t.Errorf("%+v", got)
	}
}

func TestPasswordAndProfile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := b.setUp()
	for _, c := range []struct{ method, path, body, codes string }{
		{"PUT", "password", `{}`, "required required"},
		{"PUT", "password", `{"current_password":"correct horse","password":"short"}`, "too_short"},
		{"PUT", "password", `{"current_password":"wrong horse","password":"battery staple"}`, "wrong_password"},
		{"PUT", "password", `{"current_password":"correct horse","password":"battery staple","role":"owner"}`, "unknown_field"},
		{"PATCH", "profile", `{"email":"eve@example.com"}`, "required"},
		{"PATCH", "profile", `{"email":"eve@example.com","current_password":"x"}`, "wrong_password"},
		{"PATCH", "profile", `{"email":"eve","name":null}`, "required invalid_email required"},
		{"PATCH", "profile", `{"name":"Ann","role":"owner"}`, "unknown_field"},
		{"PATCH", "profile", `{"id":2,"epoch":7}`, "unknown_field unknown_field"},
	} {
		var codes []string
		got := b.do(c.method, "/api/v1/session/"+c.path, c.body, mine)
		for _, m := range got.problem(t).Errors {
			codes = append(codes, m.Code)
		}
		if strings.Join(codes, " ") != c.codes || got.Code == http.StatusBadRequest != strings.Contains(c.codes, "unknown_field") {
			t.Errorf("%s %s: %d %v, want %s", c.path, c.body, got.Code, codes, c.codes)
		}
	}
	if got := b.do("PATCH", "/api/v1/session/profile", `{"name":" Anna ","email":"Anna@Example.com","current_password":"correct horse"}`, mine); got.Code != 200 || !strings.Contains(got.text, `"email":"anna@example.com","name":"Anna"`) {
		t.Errorf("profile: %d %s", got.Code, got.text)
	}
	if got := b.do("PUT", "/api/v1/session/password", `{"current_password":"correct horse","password":"battery staple"}`, mine); got.Code != http.StatusOK {
		t.Errorf("password: %d %s", got.Code, got.text)
	}
	for body, want := range map[string]int{
		`{"email":"anna@example.com","password":"correct horse"}`:  401,
		`{"email":"anna@example.com","password":"battery staple"}`: 200,
	} {
		if got := b.do("POST", "/api/v1/session", body); got.Code != want {
			t.Errorf("%s: %d", body, got.Code)
		}
	}
}
