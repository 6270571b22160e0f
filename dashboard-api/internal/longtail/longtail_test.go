package longtail

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	if code, ran := MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	http.DefaultTransport = closed{}
	os.Exit(m.Run())
}

// closed is this process's own way out: Check must not use it.
type closed struct{}

func (closed) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("this process asked " + r.URL.Host)
}

// heard is what a provider was asked.
type heard struct {
	host, path, sent string
	header           http.Header
}

// provider stands for all services: it knows them by the path they are asked on.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	all    []heard
	answer func(w http.ResponseWriter, r *http.Request) bool // nil or false: the usual one
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.all = append(p.all, heard{r.Host, r.URL.RequestURI(), string(body), r.Header})
		p.mu.Unlock()
		if p.answer != nil && p.answer(w, r) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, usual(r))
	}))
	t.Cleanup(p.Close)
	return p
}

// usual is what services answer when all is well.
func usual(r *http.Request) string {
	switch {
	case strings.HasSuffix(r.URL.Path, "/login") && r.Method == http.MethodGet:
		return `{"flows":[{"type":"m.login.password"}]}`
	case strings.HasSuffix(r.URL.Path, "/login"):
		return `{"access_token":"given","user_id":"@pf:matrix.example"}`
	case strings.HasSuffix(r.URL.Path, "/joined_rooms"):
		return `{"joined_rooms":["!ops:matrix.example"]}`
	case strings.Contains(r.URL.Path, "/join/"):
		return `{"room_id":"!ops:matrix.example"}`
	case strings.Contains(r.URL.Path, "/send/m.room.message"):
		return `{"event_id":"$1"}`
	case strings.HasPrefix(r.URL.Path, "/v2/pushes"):
		return `{"active":true,"type":"note","title":"Down: shop","body":"Why: 503"}`
	case r.URL.Path == "/push":
		return `{"code":200,"message":"success"}`
	}
	return `{"code":0,"errcode":0,"errmsg":"ok","result":"success","timestamp":1}`
}

func (p *provider) heard() []heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]heard(nil), p.all...)
}

// addresses are one of each service, with the host that it asks.
var addresses = map[string][2]string{
	"bark":       {"bark://:device-key@bark.example/", "bark.example"},
	"googlechat": {"googlechat://chat.googleapis.com/v1/spaces/ABC/messages?key=secret-key&token=secret-token", "chat.googleapis.com"},
	"ifttt":      {"ifttt://secret-hook/?events=down", "maker.ifttt.com"},
	"join":       {"join://shoutrrr:secret-key@join/?devices=phone", "joinjoaomgcd.appspot.com"},
	"lark":       {"lark://open.larksuite.com/secret-token", "open.larksuite.com"},
	"matrix":     {"matrix://pf:password@matrix.example/?rooms=!ops:matrix.example", "matrix.example"},
	"notifiarr":  {"notifiarr://secret-key?channel=123456789012345678", "notifiarr.com"},
	"pushbullet": {"pushbullet://o.0123456789012345678901234567890a/device", "api.pushbullet.com"},
	"rocketchat": {"rocketchat://chat.example/secret-a/secret-b", "chat.example"},
	"signal":     {"signal://signal.example:8080/+1234567890/+0987654321", "signal.example:8080"},
	"wecom":      {"wecom://secret-key", "qyapi.weixin.qq.com"},
	"zulip":      {"zulip://bot@zulip.example:secret-key@zulip.example/?stream=ops", "zulip.example"},
}

func (p *provider) sender(hosts ...string) *Sender {
	s := &Sender{Command: []string{os.Args[0], Argument}, Endpoints: map[string]string{}}
	for _, host := range hosts {
		s.Endpoints[host] = p.URL
	}
	return s
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// Each service tells what it was given, and nothing leaves but by the way that is judged: where
// loopback is not open the server hears nothing, whatever client a service dials with.
func TestEveryServiceTells(t *testing.T) {
	t.Parallel()
	for _, name := range Services() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, host := addresses[name][0], addresses[name][1]
			if err := Check(address); err != nil {
				t.Fatal(err)
			}
			p := newProvider(t)
			s := p.sender(host)
			order := Order{Address: address, Title: "Down: shop", Text: "Why: 503"}
			done, err := s.Send(t.Context(), order)
			if err != nil || done.Trouble == "" || len(p.heard()) != 0 || len(done.Exchanges) == 0 || !done.Exchanges[0].Blocked {
				t.Errorf("loopback is closed: %+v, %v, heard %+v", done, err, p.heard())
			}
			s.Allow = loopback
			done, err = s.Send(t.Context(), order)
			if err != nil || done.Trouble != "" {
				t.Fatalf("%+v, %v", done, err)
			}
			all := p.heard()
			if len(all) == 0 || len(all) != len(done.Exchanges) {
				t.Fatalf("heard %+v, noted %+v", all, done.Exchanges)
			}
			last := all[len(all)-1]
			if text := last.path + unescaped(last.sent); !strings.Contains(text, "503") || !strings.Contains(text, "shop") {
				t.Errorf("told %s", text)
			}
		})
	}
}

// unescaped makes a form or a document comparable.
func unescaped(text string) string { return strings.NewReplacer("%3A", ":", "+", " ").Replace(text) }

// What goes wrong is said: a refusal with its status, a redirect that is not followed, a part of
// the library that fails, a process that has no time.
func TestTroubles(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	zulip := Order{Address: addresses["zulip"][0], Title: "t", Text: "x"}
	s := p.sender("zulip.example")
	s.Allow = loopback
	p.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "slowly", http.StatusTooManyRequests)
		return true
	}
	done, err := s.Send(t.Context(), zulip)
	if err != nil || done.Trouble == "" || len(done.Exchanges) != 1 || done.Exchanges[0].Status != 429 || done.Exchanges[0].RetryAfter != "7" || !strings.Contains(done.Exchanges[0].Answer, "slowly") {
		t.Errorf("refused: %+v, %v", done, err)
	}
	elsewhere := newProvider(t)
	p.answer = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		return true
	}
	if done, err = s.Send(t.Context(), zulip); err != nil || done.Trouble == "" || len(elsewhere.heard()) != 0 || done.Exchanges[0].Status != 307 {
		t.Errorf("redirected: %+v, %v", done, err)
	}
	p.Close() // zulip's service fails with a panic when there is no answer
	if done, err = s.Send(t.Context(), zulip); err != nil || done.Trouble == "" || len(done.Exchanges) != 1 || done.Exchanges[0].Trouble == "" {
		t.Errorf("refused connection: %+v, %v", done, err)
	}
	s.Command = []string{"/bin/false"}
	if _, err := s.Send(t.Context(), zulip); err == nil {
		t.Error("a process that fails")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "x", "smtp://user:pass@host/", "mattermost://host/token", "logger://", "generic://host", "zulip://host", "matrix://:p@host/?bogus=1", "%zz://", "slack://hook:a-b-c@webhook"} {
		if Check(address) == nil {
			t.Errorf("%q is an address", address)
		}
	}
	for name := range services() {
		if _, written := addresses[name]; !written {
			t.Errorf("%s is not tried", name)
		}
	}
	if Scheme("matrix://x") != "matrix" || Scheme("smtp://x") != "" {
		t.Error("schemes")
	}
}

// A process has nothing of this one's surroundings, where secrets are.
func TestNothingIsInherited(t *testing.T) {
	t.Setenv("SECRET_KEY", "canary")
	t.Setenv("SSL_CERT_DIR", "/certs")
	s := &Sender{Command: []string{"/bin/sh", "-c", `printf '{"Trouble":"%s"}' "$(env | sort | tr '\n' ' ')"`}}
	done, err := s.Send(t.Context(), Order{})
	if err != nil || strings.Contains(done.Trouble, "canary") || !strings.Contains(done.Trouble, "SSL_CERT_DIR=/certs") {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := json.Marshal(done); err != nil {
		t.Error(err)
	}
}
