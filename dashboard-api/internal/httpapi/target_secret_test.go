package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// opened gives a stored secret in clear.
func (b *bench) opened(sealed uptime.Sealed) string {
	b.Helper()
	box, err := seal.New(benchKey)
	if err != nil {
		b.Fatal(err)
	}
	text, err := box.Open(sealed)
	if err != nil {
		b.Fatal(err)
	}
	return text.Reveal()
}

// secrets are those of the target that was stored last, in clear, by pointer.
func (b *bench) secrets() map[string]string {
	b.Helper()
	all := b.stored()
	s, found := all[len(all)-1].Spec, map[string]string{}
	note := func(pointer string, sealed uptime.Sealed) {
		if sealed != "" {
			found[pointer] = b.opened(sealed)
		}
	}
	if s.HTTP != nil {
		note("password", s.HTTP.Password)
		note("token", s.HTTP.Token)
		note("body_secret", s.HTTP.BodySecret)
		note("query_secret", s.HTTP.QuerySecret)
		for _, h := range s.HTTP.Headers {
			note(h.Name, h.Secret)
		}
	}
	if s.TCP != nil {
		note("send_secret", s.TCP.SendSecret)
	}
	if s.WebSocket != nil {
		for _, h := range s.WebSocket.Headers {
			note(h.Name, h.Secret)
		}
	}
	return found
}

func TestSecretsAreKeptReplacedAndRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/","http":{"username":"ann","password":"p1","body_secret":"b1","query_secret":"q=1","headers":[{"name":"X-Key","secret":"k1"},{"name":"X-Other","secret":"o1"},{"name":"X-Plain","value":"v"}]}}`)
	for _, c := range []struct{ patch, shown, want string }{
		{`{"name":"renamed"}`, `{"headers":[{"name":"X-Key","secret":"[secret]"},{"name":"X-Other","secret":"[secret]"},{"name":"X-Plain","value":"v"}],"body_secret":"[secret]","query_secret":"[secret]","username":"ann","password":"[secret]"}`,
			"map[X-Key:k1 X-Other:o1 body_secret:b1 password:p1 query_secret:q=1]"},
		{`{"http":{"username":"ann","password":"[secret]","body_secret":"b2","query_secret":"[secret]","headers":[{"name":"X-New","secret":"n1"},{"name":"x-other","secret":"[secret]"}]}}`,
			`{"headers":[{"name":"X-New","secret":"[secret]"},{"name":"x-other","secret":"[secret]"}],"body_secret":"[secret]","query_secret":"[secret]","username":"ann","password":"[secret]"}`,
			"map[X-New:n1 body_secret:b2 password:p1 query_secret:q=1 x-other:o1]"},
		{`{"http":{"username":"ann","password":null,"headers":[{"name":"X-New","value":"v"},{"name":"X-Other","secret":null}]}}`, `{"headers":[{"name":"X-New","value":"v"},{"name":"X-Other"}],"username":"ann"}`, "map[]"},
		{`{"http":{"token":"t1"}}`, `{"token":"[secret]"}`, "map[token:t1]"},
		{`{"http":{"token":"[secret]","method":"HEAD"}}`, `{"method":"HEAD","token":"[secret]"}`, "map[token:t1]"},
		{`{"http":{"username":"key","password":""}}`, `{"username":"key"}`, "map[]"}, // some take a key as the name, and no password
		{`{"http":{"token":"[SECRET]"}}`, `{"token":"[secret]"}`, "map[token:[SECRET]]"},
		{`{"http":null}`, `null`, "map[]"},
		{`{"url":"wss://example.com/","websocket":{"headers":[{"name":"Authorization","secret":"Bearer w1"}]}}`, `null`, "map[Authorization:Bearer w1]"},
		{`{"websocket":{"send":"x","headers":[{"name":"AUTHORIZATION","secret":"[secret]"}]}}`, `null`, "map[AUTHORIZATION:Bearer w1]"},
		{`{"url":"tcp://example.com:6379","websocket":null,"tcp":{"send_secret":"AUTH s1\r\n"}}`, `null`, "map[send_secret:AUTH s1\r\n]"},
		{`{"tcp":{"send_secret":"[secret]","starttls":"smtp"}}`, `null`, "map[send_secret:AUTH s1\r\n]"},
		{`{"tcp":{"send":"PING","send_secret":null}}`, `null`, "map[]"},
		{`{"url":"wss://example.com/","tcp":null,"websocket":{"send":"x","headers":[{"name":"AUTHORIZATION","secret":"Bearer w1"}]}}`, `null`, "map[AUTHORIZATION:Bearer w1]"},
	} {
		got := b.do("PATCH", "/api/v1/targets/1", c.patch, as(editorKey))
		var object map[string]json.RawMessage
		got.into(t, &object)
		if got.Code != http.StatusOK || string(object["http"]) != c.shown {
			t.Errorf("%s: %d %s, want %s", c.patch, got.Code, object["http"], c.shown)
		}
		if found := fmt.Sprint(b.secrets()); found != c.want {
			t.Errorf("%s: stored %s, want %s", c.patch, found, c.want)
		}
	}
	before := b.stored()[0].SpecVersion
	for _, patch := range []string{
		`{"websocket":{"headers":[{"name":"Other","secret":"[secret]"}]}}`,
		`{"url":"https://example.com/","websocket":null,"http":{"password":"[secret]"}}`,
		`{"url":"tcp://example.com:6379","websocket":null,"tcp":{"send_secret":"[secret]"}}`,
	} {
		if got := b.do("PATCH", "/api/v1/targets/1", patch, as(editorKey)); got.Code != 422 || got.problem(t).Code != codeNoSecret {
			t.Errorf("%s: %d %s", patch, got.Code, got.text)
		}
	}
	if got := b.do("PATCH", "/api/v1/targets/1", `{"websocket":{"send":"x","headers":[{"name":"AUTHORIZATION","secret":"[secret]"}]}}`, as(editorKey)); got.Header().Get("ETag") != fmt.Sprintf("%q", fmt.Sprint(before)) {
		t.Errorf("a secret that is kept makes a new version: %v", got.Header())
	}
}

// canaries are secrets that must be nowhere in clear, in any form.
func canaries() map[string]string {
	return map[string]string{
		"password": "canary-password-7f3a", "token": "canary-token-91bc", "body_secret": "canary-body-<5d20>", "header": "canary-header-e8f1", "message": "canary-message-0c44", "talk": "canary-talk-4be9\r\n",
		"query": "key=canary-query-c2e7", "refused": "canary-refused-33aa\n", "second": "canary-second-6b6b", "form": "canary-form-1d1d",
	}
}

// leaks names the canaries in a text, also as JSON, URLs and encoders write them.
func leaks(text string) []string {
	var found []string
	for name, canary := range canaries() {
		core := strings.Trim(canary, "<>\r\n5d20")
		for _, form := range []string{canary, core, base64.StdEncoding.EncodeToString([]byte(core))[:12], hex.EncodeToString([]byte(core)), session.HashToken(canary)} {
			if strings.Contains(text, form) {
				found = append(found, name)
			}
		}
	}
	return found
}

func TestSecretsAreNowhereInClear(t *testing.T) {
	t.Parallel()
	url := testbackend.SQLite(t)
	b := newBenchOn(t, url)
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.hub.Run(running) }()
	t.Cleanup(func() { stop(); <-ended })
	browser, _, _, err := b.hub.Subscribe("targets", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := canaries()
	quoted := func(name string) string { text, _ := json.Marshal(c[name]); return string(text) }
	web := `{"url":"https://example.com/","http":{"username":"ann","password":` + quoted("password") + `,"body_secret":` + quoted("body_secret") + `,"query_secret":` + quoted("query") + `,"headers":[{"name":"X-Key","secret":` + quoted("header") + `}]}}`
	bearer := `{"url":"https://example.org/","http":{"token":` + quoted("token") + `}}`
	socket := `{"url":"wss://example.com/","websocket":{"headers":[{"name":"Authorization","secret":` + quoted("message") + `}]}}`
	talk := `{"url":"tcp://example.com:6379","tcp":{"send_secret":` + quoted("talk") + `}}`
	key := header("Idempotency-Key", "one")
	requests := []struct {
		method, path, body string
		want               int
		options            []option
	}{
		{"POST", "/api/v1/targets", web, 201, []option{key}},
		{"POST", "/api/v1/targets", web, 201, []option{key}}, // the kept answer
		{"POST", "/api/v1/targets", strings.Replace(web, "ann", "bob", 1), 422, []option{key}},
		{"POST", "/api/v1/targets", bearer, 201, nil},
		{"POST", "/api/v1/targets", bearer, 422, nil}, // duplicate name
		{"POST", "/api/v1/targets", socket, 201, nil},
		{"POST", "/api/v1/targets", strings.Replace(socket, `"secret"`, `"sekret"`, 1), 400, nil},
		{"POST", "/api/v1/targets", talk, 201, nil},
		{"POST", "/api/v1/targets", strings.Replace(talk, `"tcp":{`, `"tcp":{"send":"x",`, 1), 422, nil},
		{"PATCH", "/api/v1/targets/2", `{"http":{"token":` + quoted("refused") + `}}`, 422, nil},
		{"PATCH", "/api/v1/targets/2", `{"http":{"token":[` + quoted("form") + `]}}`, 422, nil},
		{"PATCH", "/api/v1/targets/2", `{"http":{"token":` + quoted("form") + `,"password":` + quoted("form") + `}}`, 422, nil},
		{"PATCH", "/api/v1/targets/2", `{"http":{"token":` + quoted("form"), 400, nil},
		{"PATCH", "/api/v1/targets/2", `{"http":{"token":` + quoted("second") + `}}`, 200, nil},
		{"PATCH", "/api/v1/targets/2", `{"http":{"token":` + quoted("second") + `}}`, 412, []option{header("If-Match", `"1"`)}},
		{"GET", "/api/v1/targets/1", "", 200, nil},
		{"GET", "/api/v1/targets", "", 200, nil},
		{"GET", "/api/v1/live/snapshot", "", 200, nil},
	}
	for _, r := range requests {
		got := b.do(r.method, r.path, r.body, append(r.options, as(editorKey))...)
		if got.Code != r.want {
			t.Errorf("%s %s %.60s: %d %s, want %d", r.method, r.path, r.body, got.Code, got.text, r.want)
		}
		if found := leaks(got.text + fmt.Sprint(got.Header())); found != nil {
			t.Errorf("%s %s %.60s: answer gives away %v: %s %v", r.method, r.path, r.body, found, got.text, got.Header())
		}
	}
	want := map[string]bool{"password": true, "token": true, "body_secret": true, "query": true, "header": true, "message": true, "second": true, "talk": true}
	for _, target := range b.stored() { // they are all there, for whoever has the key
		s := target.Spec
		for name := range want {
			switch {
			case s.HTTP != nil && name == "password" && s.HTTP.Password != "":
				want[name] = b.opened(s.HTTP.Password) != c[name]
			case s.HTTP != nil && name == "body_secret" && s.HTTP.BodySecret != "":
				want[name] = b.opened(s.HTTP.BodySecret) != c[name]
			case s.HTTP != nil && name == "query" && s.HTTP.QuerySecret != "":
				want[name] = b.opened(s.HTTP.QuerySecret) != c[name]
			case s.HTTP != nil && name == "header" && len(s.HTTP.Headers) > 0:
				want[name] = b.opened(s.HTTP.Headers[0].Secret) != c[name]
			case s.HTTP != nil && name == "second" && s.HTTP.Token != "":
				want[name], want["token"] = b.opened(s.HTTP.Token) != c[name], false // it took the other one's place
			case s.TCP != nil && name == "talk":
				want[name] = b.opened(s.TCP.SendSecret) != c[name]
			case s.WebSocket != nil && name == "message":
				want[name] = b.opened(s.WebSocket.Headers[0].Secret) != c[name]
			}
		}
	}
	for name, missing := range want {
		if missing {
			t.Errorf("%s is not stored", name)
		}
	}
	heard := ""
	for deadline := time.After(hang); strings.Count(heard, `"op":"upsert"`) < 3; {
		changed := b.hub.Changed()
		if heard += string(browser.Poll()); strings.Count(heard, `"op":"upsert"`) >= 3 {
			break
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("the feed said only %s", heard)
		}
	}
	_ = b.after.Run(canceled(t))
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	b.do("PATCH", "/api/v1/targets/2", `{"http":{"token":`+quoted("token")+`}}`, as(editorKey)) // no database: this is logged
	for place, text := range map[string]string{"live feed": heard, "announcements": fmt.Sprint(b.redis.changes), "log": b.log.String(), "database": files(t, strings.TrimPrefix(url, "sqlite:"))} {
		if found := leaks(text); found != nil || len(text) < 10 {
			t.Errorf("the %s (%d bytes) gives away %v", place, len(text), found)
		}
	}
}

// files reads a database with all that lies beside it.
func files(t *testing.T, path string) string {
	t.Helper()
	all, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, name := range all {
		content, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		out.Write(content)
	}
	if !strings.Contains(out.String(), "s1.") || !strings.Contains(out.String(), "target.created") {
		t.Errorf("the database has no sealed text and no audit log: %d bytes", out.Len())
	}
	return out.String()
}

func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A hash of a request would let whoever has the database try passwords: only the key's owner can.
func TestKeptAnswersTellNothingOfTheRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body := `{"url":"https://example.com/","http":{"username":"ann","password":"1234"}}`
	if got := b.do("POST", "/api/v1/targets", body, as(editorKey), header("Idempotency-Key", "one")); got.Code != http.StatusCreated {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	var kept []string
	if err := b.db.Read().Raw("SELECT request_hash FROM idempotency_keys").Scan(&kept).Error; err != nil || len(kept) != 1 {
		t.Fatalf("%v %v", kept, err)
	}
	if kept[0] == session.HashToken("POST /api/v1/targets\n"+body) {
		t.Error("the request can be guessed")
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	var part httpPart
	if err := json.Unmarshal([]byte(`{"password":"hunter2","token":"[secret]"}`), &part); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(part)
	if text := fmt.Sprintf("%v %+v %#v %s", part, part, part, encoded); err != nil || strings.Contains(text, "hunter2") || !strings.Contains(text, "[secret]") {
		t.Error(text, err)
	}
	if part.Password.Text != secret.New("hunter2") || !part.Token.stored {
		t.Errorf("read as %+v", part)
	}
}

// Whoever edits a target must not get at its secrets by having them sent elsewhere.
func TestSecretsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/a","http":{"token":"t1"}}`)
	for patch, code := range map[string]int{
		`{"url":"https://evil.example.org/a"}`:                             http.StatusUnprocessableEntity,
		`{"url":"http://example.com/a"}`:                                   http.StatusUnprocessableEntity,
		`{"url":"https://example.com:8443/a"}`:                             http.StatusUnprocessableEntity,
		`{"url":"https://evil.example.org/a","http":{"token":"[secret]"}}`: http.StatusUnprocessableEntity,
		`{"url":"wss://evil.example.org/a"}`:                               http.StatusUnprocessableEntity,
		`{"url":"https://example.com/other"}`:                              http.StatusOK,
		`{"url":"https://EXAMPLE.com/other","http":{"token":"[secret]"}}`:  http.StatusOK,
		`{"name":"another"}`:                                               http.StatusOK,
	} {
		got := b.do("PATCH", "/api/v1/targets/1", patch, as(editorKey))
		if got.Code != code || code != http.StatusOK && !strings.Contains(got.Body.String(), codeSecretOrigin) && !strings.Contains(patch, "wss") {
			t.Errorf("%s: %d %s", patch, got.Code, got.Body)
		}
	}
	if got := b.do("PATCH", "/api/v1/targets/1", `{"url":"https://example.org/","http":{"token":"t2"}}`, as(editorKey)); got.Code != http.StatusOK {
		t.Errorf("written again: %d %s", got.Code, got.Body)
	}
	if got := b.do("PATCH", "/api/v1/targets/1", `{"url":"https://example.net/","http":null}`, as(editorKey)); got.Code != http.StatusOK {
		t.Errorf("removed: %d %s", got.Code, got.Body)
	}
}
