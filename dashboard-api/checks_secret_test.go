package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// tape keeps all that passes somewhere.
type tape struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.Write(p)
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept.String()
}

// wiretapped gives the address of a Redis through which all that is said to it, and by it,
// is kept.
func wiretapped(t *testing.T, redisURL string) (tapped string, heard *tape) {
	t.Helper()
	u, err := url.Parse(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	real := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	heard = &tape{}
	pass := func(from, to net.Conn) {
		_, _ = io.Copy(io.MultiWriter(heard, to), from)
		_ = to.Close()
	}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", real)
			if err != nil {
				_ = near.Close()
				return
			}
			go pass(near, far)
			go pass(far, near)
		}
	}()
	u.Host = listener.Addr().String()
	return u.String(), heard
}

// watch opens a websocket, reads channels and keeps what the server says.
func (n *node) watch(channels ...string) *tape {
	n.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, "GET /api/v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+testKey+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	reader := bufio.NewReader(conn)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "101") {
		n.Fatalf("%q %v", line, err)
	}
	for _, channel := range channels {
		message := `{"t":"sub","id":"s","ch":"` + channel + `"}`
		frame := append([]byte{0x81, 0x80 | byte(len(message)), 0, 0, 0, 0}, message...) // a mask of zeros (RFC 6455 §5.3)
		if _, err := conn.Write(frame); err != nil {
			n.Fatal(err)
		}
	}
	heard := &tape{}
	go func() { _, _ = io.Copy(heard, reader) }() // a server's frames are not masked
	return heard
}

// TestSecretsOfChecksAreNowhereInClear: between the request and the prober that makes the
// visit nobody sees them, and nothing keeps them.
func TestSecretsOfChecksAreNowhereInClear(t *testing.T) {
	t.Parallel()
	databaseURL := testbackend.SQLite(t)
	redisURL, wire := wiretapped(t, testbackend.Redis(t))
	if _, err := schedulestore.New(databasetest.Open(t, databaseURL)).AddRegion(t.Context(), "eu"); err != nil {
		t.Fatal(err)
	}
	log := &tape{}
	n := startLogging(t, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), databaseURL, redisURL, "clickhouse://127.0.0.1:1/x")
	redis, err := checkstream.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	prober := checkstream.NewAdhocConsumer(redis, "eu", "p1")
	box, err := seal.New(strings.Repeat("k", 32))
	if err != nil {
		t.Fatal(err)
	}

	var answers, sockets strings.Builder
	var canaries []string
	for what, c := range map[string]struct {
		document string // with %q where the secret is
		sealed   func(uptime.Spec) uptime.Sealed
	}{
		"token":            {`{"url":"https://a.example/","http":{"token":%q}}`, func(s uptime.Spec) uptime.Sealed { return s.HTTP.Token }},
		"password":         {`{"url":"https://a.example/","http":{"username":"ann","password":%q}}`, func(s uptime.Spec) uptime.Sealed { return s.HTTP.Password }},
		"body_secret":      {`{"url":"https://a.example/","http":{"method":"POST","body_secret":%q}}`, func(s uptime.Spec) uptime.Sealed { return s.HTTP.BodySecret }},
		"query_secret":     {`{"url":"https://a.example/","http":{"query_secret":%q}}`, func(s uptime.Spec) uptime.Sealed { return s.HTTP.QuerySecret }},
		"header":           {`{"url":"https://a.example/","http":{"headers":[{"name":"X-Key","secret":%q}]}}`, func(s uptime.Spec) uptime.Sealed { return s.HTTP.Headers[0].Secret }},
		"send_secret":      {`{"url":"tcp://a.example:6379","tcp":{"send_secret":%q}}`, func(s uptime.Spec) uptime.Sealed { return s.TCP.SendSecret }},
		"websocket header": {`{"url":"wss://a.example/","websocket":{"headers":[{"name":"X-Key","secret":%q}]}}`, func(s uptime.Spec) uptime.Sealed { return s.WebSocket.Headers[0].Secret }},
	} {
		canary := "canary-" + strings.ReplaceAll(what, " ", "-") + "-9d41"
		canaries = append(canaries, canary)
		body := fmt.Sprintf(c.document, canary)
		code, text := n.call("POST", "/api/v1/checks", body)
		var asked checkAnswer
		if err := json.Unmarshal([]byte(text), &asked); err != nil || code != http.StatusAccepted {
			t.Fatalf("%s: %d %s", what, code, text)
		}
		answers.WriteString(text)
		for _, wrong := range []string{strings.Replace(body, `"url":"`, `"url":"x`, 1), body + body, strings.TrimSuffix(body, "}")} {
			code, text := n.call("POST", "/api/v1/checks", wrong)
			if answers.WriteString(text); code < 400 {
				t.Errorf("%s: %d %s", wrong, code, text)
			}
		}
		socket := n.watch("checks:"+asked.ID, "targets", "fleet")
		n.await("the socket reads every channel", func() bool { return strings.Count(socket.String(), `"t":"ok"`) == 3 })
		n.await("the prober is asked", func() bool {
			visits, err := prober.Read(t.Context(), 10, 100*time.Millisecond)
			if err != nil || len(visits) != 1 || visits[0].Err != nil {
				return false
			}
			spec, err := visits[0].Spec.Spec()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := box.Open(c.sealed(spec)); err != nil || got.Reveal() != canary {
				t.Errorf("%s: a prober cannot open it: %v", what, err)
			}
			look := uptime.Look{Status: uptime.StatusDown, Failure: uptime.FailureBody, Message: "not so", Evidence: &uptime.Evidence{Received: "-ERR"}}
			if err := prober.Settle(t.Context(), visits[0], checkstream.VisitOutcome{Look: look}); err != nil {
				t.Fatal(err)
			}
			return true
		})
		n.await("it is done, and the socket says so", func() bool {
			code, text := n.call("GET", "/api/v1/checks/"+asked.ID, "")
			answers.WriteString(text)
			return code == http.StatusOK && strings.Contains(text, "COMPLETED") && strings.Contains(socket.String(), "COMPLETED")
		})
		sockets.WriteString(socket.String())
	}
	// A URL is no place for one: it is refused before anything keeps it.
	for _, document := range []string{`{"url":"https://ann:%s@a.example/"}`, `{"url":"https://a.example/?page=1&api_key=%s"}`, `{"url":"wss://a.example/?token=%s"}`} {
		const canary = "canary-of-a-url-9d41"
		canaries = append(canaries, canary)
		for _, path := range []string{"/api/v1/checks", "/api/v1/targets"} {
			code, text := n.call("POST", path, fmt.Sprintf(document, canary))
			if answers.WriteString(text); code != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d %s", document, code, text)
			}
		}
	}
	_, list := n.call("GET", "/api/v1/checks", "")
	answers.WriteString(list)
	if err := n.stop(); err != nil { // and writes what it has not written
		t.Fatal(err)
	}
	for place, c := range map[string]struct{ text, proof string }{
		"the answers":   {answers.String(), `"state":"COMPLETED"`},
		"the websocket": {sockets.String(), `"state":"COMPLETED"`},
		"Redis":         {wire.String(), "s1."},
		"the database":  {filesAt(t, strings.TrimPrefix(databaseURL, "sqlite:")), "s1."},
		"the log":       {log.String(), `"msg"`},
	} {
		if !strings.Contains(c.text, c.proof) {
			t.Errorf("%s was not looked at: %d bytes", place, len(c.text))
		}
		for _, canary := range canaries {
			for _, form := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary))[:12], hex.EncodeToString([]byte(canary)), url.QueryEscape(canary)} {
				if strings.Contains(c.text, form) {
					t.Errorf("%s gives %s away as %s", place, canary, form)
				}
			}
		}
	}
}

// filesAt reads a database with all that lies beside it.
func filesAt(t *testing.T, path string) string {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}
