package probe

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

func wsCheck(url string, spec uptime.Spec) uptime.Check {
	check := checkOf(url)
	check.Kind, check.Spec = uptime.KindWebSocket, spec.Text()
	return check
}

// saying is a spec that sends a message, with assertions.
func saying(message string, asserts ...string) uptime.Spec {
	spec := wanting(asserts...)
	spec.WebSocket = &uptime.WebSocketSpec{Send: message}
	return spec
}

func TestWebSocket(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l, func(o *Options) {
		o.Resolver = names{"lab.test": {"127.0.0.1"}, "inside.test": {"127.0.0.2"}}
	}))
	ws, wss := "ws"+strings.TrimPrefix(l.URL(), "http")+"/ws", "wss"+strings.TrimPrefix(l.TLSURL(), "https")+"/ws"
	raw := func(head string) string {
		return "ws" + strings.TrimPrefix(l.URL(), "http") + "/raw/close/" + base64URL(head)
	}
	long := strings.Repeat("é", 40_000)
	cases := []struct {
		name, url string
		spec      uptime.Spec
		want      any
		message   string // a part of it
		code      int
	}{
		{"a ping", ws + "/echo", uptime.Spec{}, nil, "", 101},
		{"a ping over TLS", wss + "/echo", uptime.Spec{}, nil, "", 101},
		{"by name", "ws://lab.test" + l.URL()[strings.LastIndex(l.URL(), ":"):] + "/ws/echo", uptime.Spec{}, nil, "", 101},
		{"a greeting before the pong", ws + "/hello", uptime.Spec{}, nil, "", 101},
		{"a message", ws + "/echo", saying("hi", "received - equals hi"), nil, "", 101},
		{"a message over TLS", wss + "/echo", saying("hi", "received - equals hi", "protocol - equals HTTP/1.1", "tls_version - equals 1.3", "certificate_days - gt 1", "phase tls lt 5000", "address - equals 127.0.0.1"), nil, "", 101},
		{"a middling message", ws + "/echo", saying(long[:300], "received - equals "+long[:300]), nil, "", 101},
		{"a long message", ws + "/echo", saying(long, "received - contains éé"), nil, "", 101},
		{"the greeting is the answer", ws + "/hello", saying("hi", "received - equals hello"), nil, "", 101},
		{"a message without end", ws + "/endless", saying("hi", "received - contains xxx"), nil, "", 101},
		{"a huge frame", ws + "/huge-frame", saying("hi"), nil, "", 101},

		{"no upgrade", ws + "/plain", uptime.Spec{}, uptime.FailureStatusCode, "answered 200 OK, expected 101", 200},
		{"a redirect", "ws" + strings.TrimPrefix(l.URL(), "http") + "/redirect/1", uptime.Spec{}, uptime.FailureStatusCode, "answered 302 Found, expected 101", 302},
		{"no key", ws + "/no-key", uptime.Spec{}, uptime.FailureProtocol, "Sec-WebSocket-Accept is missing", 101},
		{"no Upgrade", raw("HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n"), uptime.Spec{}, uptime.FailureProtocol, "does not say that it upgrades to websocket", 101},
		{"no Connection", raw("HTTP/1.1 101 x\r\nUpgrade: WebSocket\r\n\r\n"), uptime.Spec{}, uptime.FailureProtocol, "does not say that it upgrades the connection", 101},
		{"subprotocol", ws + "/protocol", uptime.Spec{}, uptime.FailureProtocol, `a subprotocol that was not asked for: "unasked"`, 101},
		{"subprotocol asked for", ws + "/protocol", uptime.Spec{WebSocket: &uptime.WebSocketSpec{Subprotocols: []string{"x", "unasked"}}}, nil, "", 101},
		{"extension", ws + "/extension", uptime.Spec{}, uptime.FailureProtocol, "an extension that was not asked for", 101},
		{"closed with a code instead of an answer", ws + "/close", saying("hi"), uptime.FailureReset, "before a message: 1011", 101},
		{"cut", ws + "/cut", uptime.Spec{}, uptime.FailureReset, "waiting for the pong", 101},
		{"silent to a message", wss + "/silent", saying("hi"), uptime.FailureTimeout, "timed out waiting for a message", 101},
		{"pings without end", ws + "/pings", uptime.Spec{}, uptime.FailureProtocol, "more than 100 frames came, and not the pong", 101},
		{"pings without end, and a message", ws + "/pings", saying("hi"), uptime.FailureProtocol, "more than 100 frames came, and not a message", 101},
		{"messages without end", ws + "/endless", uptime.Spec{}, uptime.FailureTooLarge, "too much came before the pong", 101},
		{"masked", ws + "/masked", saying("hi"), uptime.FailureProtocol, "malformed websocket frame: it is masked", 101},
		{"reserved bit", ws + "/reserved", uptime.Spec{}, uptime.FailureProtocol, "malformed websocket frame: a bit is set", 101},
		{"reserved opcode", ws + "/unknown", uptime.Spec{}, uptime.FailureProtocol, "malformed websocket frame: a reserved opcode", 101},
		{"long control frame", ws + "/long-control", uptime.Spec{}, uptime.FailureProtocol, "malformed websocket frame: a control frame", 101},
		{"length of 64 bits", ws + "/bad-length", saying("hi"), uptime.FailureProtocol, "malformed websocket frame: a length of more than 63 bits", 101},
		{"not UTF-8", ws + "/bytes", saying("hi"), uptime.FailureProtocol, "a text message that is not UTF-8", 101},

		{"reset", "ws" + strings.TrimPrefix(l.URL(), "http") + "/reset", uptime.Spec{}, uptime.FailureReset, "", 0},
		{"closed", "ws" + strings.TrimPrefix(l.URL(), "http") + "/close", uptime.Spec{}, uptime.FailureReset, "", 0},
		{"hang", "ws" + strings.TrimPrefix(l.URL(), "http") + "/hang", uptime.Spec{}, uptime.FailureTimeout, "timed out waiting for an answer", 0},
		{"slow headers", "ws" + strings.TrimPrefix(l.URL(), "http") + "/slow-headers/1000/50ms", uptime.Spec{}, uptime.FailureTimeout, "timed out reading the headers", 0},
		{"endless header", "ws" + strings.TrimPrefix(l.URL(), "http") + "/endless-headers", uptime.Spec{}, uptime.FailureTooLarge, "", 0},
		{"endless interim answers", "ws" + strings.TrimPrefix(l.URL(), "http") + "/endless-interim", uptime.Spec{}, uptime.FailureProtocol, "too many interim answers", 0},
		{"malformed", "ws" + strings.TrimPrefix(l.URL(), "http") + "/malformed", uptime.Spec{}, uptime.FailureProtocol, "", 0},
		{"silent handshake", "wss://" + labAt(t, l, "tls-silent"), uptime.Spec{}, uptime.FailureTimeout, "no TLS handshake", 0},
		{"blocked", "ws://127.0.0.2/", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"blocked name", "wss://inside.test/", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"metadata", "ws://169.254.169.254/latest", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"nothing is sent, and no answer is to lack something", ws + "/hello", wanting("received - not_contains hello"), uptime.ReasonInternal, "nothing is sent", 0},
		{"another scheme", "http://lab.test/", uptime.Spec{}, uptime.ReasonInternal, "the scheme is not ws or wss", 0},
		{"header of the handshake", ws + "/echo", uptime.Spec{WebSocket: &uptime.WebSocketSpec{Headers: []uptime.Header{{Name: "sec-websocket-key", Value: "x"}}}}, uptime.ReasonInternal, "cannot be sent", 0},
		{"header that smuggles", ws + "/echo", uptime.Spec{WebSocket: &uptime.WebSocketSpec{Headers: []uptime.Header{{Name: "X", Value: "x\r\nY: z"}}}}, uptime.ReasonInternal, "cannot be sent", 0},
		{"subprotocol that smuggles", ws + "/echo", uptime.Spec{WebSocket: &uptime.WebSocketSpec{Subprotocols: []string{"x\r\nY: z"}}}, uptime.ReasonInternal, "cannot be asked for", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := wsCheck(c.url, c.spec)
			failure, _ := c.want.(uptime.Failure)
			check.Timeout = timeoutFor(failure)
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, c.code)
			inTime(t, o, check)
			if !strings.Contains(o.Message, c.message) {
				t.Errorf("%q, want %q", o.Message, c.message)
			}
		})
	}
}

// No secret a visit sends is shown, also when the target sends it back.
func TestWebSocketSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	const canary = "hunter2-canary"
	box, err := seal.New("the key of the tests")
	if err != nil {
		t.Fatal(err)
	}
	headers := []uptime.Header{{Name: "X-Key", Secret: box.Seal(secret.New(canary))}, {Name: "Authorization", Value: "Bearer " + canary}, {Name: "X-Open", Value: "shown"}}
	for name, answer := range map[string]string{
		"in a close":       "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: KEY\r\n\r\n\x88\x10\x03\xe8" + canary,
		"in a message":     "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: KEY\r\n\r\n\x81\x0e" + canary,
		"in a subprotocol": "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: KEY\r\nSec-WebSocket-Protocol: " + canary + "\r\n\r\n",
		"in a status line": "HTTP/1.1 403 " + canary + "\r\nX-Echo: " + canary + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, seen := serveRaw(t, answer)
			spec := saying("hi", "received - equals something else")
			spec.WebSocket.Headers = headers
			o := New(options(nil)).Look(t.Context(), wsCheck(url+"?token="+canary, spec))
			if r := <-seen; r.Header.Get("X-Key") != canary {
				t.Errorf("sent %v", r.Header)
			}
			text, err := json.Marshal(o)
			if err != nil || strings.Contains(string(text), canary) || o.Status != uptime.StatusDown || !strings.Contains(string(text), "[secret]") && name != "in a close" {
				t.Errorf("%v: %s", err, text)
			}
			if want := `printf %s 'hi' | websocat -1 -H='X-Key: …' -H='Authorization: …' -H='X-Open: shown' '` + url + `?token=…'`; o.Evidence.Command != want {
				t.Errorf("%s, want %s", o.Evidence.Command, want)
			}
		})
	}
}

// serveRaw answers one request with bytes, in which KEY stands for the key's answer.
func serveRaw(t *testing.T, answer string) (url string, seen <-chan *http.Request) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	requests := make(chan *http.Request, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		requests <- r
		_, _ = io.WriteString(conn, strings.ReplaceAll(answer, "KEY", wsAccept(r.Header.Get("Sec-WebSocket-Key"))))
		_, _ = io.Copy(io.Discard, conn)
	}()
	return "ws://" + listener.Addr().String() + "/", requests
}

func TestWebSocketPhases(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	o := New(options(l)).Look(t.Context(), wsCheck("wss"+strings.TrimPrefix(l.TLSURL(), "https")+"/ws/echo", uptime.Spec{}))
	if o.Phases.Connect == 0 || o.Phases.TLS == 0 || o.Phases.Wait == 0 || o.Phases.Transfer == 0 || o.Seen.Protocol != "HTTP/1.1" || o.CertNotAfter.IsZero() {
		t.Errorf("%+v", o)
	}
}

func TestWebSocketCommand(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	spec := uptime.Spec{TLS: &uptime.TLSSpec{SkipVerify: true}, WebSocket: &uptime.WebSocketSpec{Subprotocols: []string{"a", "b"}}}
	for _, c := range []struct {
		url  string
		spec uptime.Spec
		want string
	}{
		{"ws://user:secret@a.test/x#y", uptime.Spec{}, `websocat 'ws://a.test/x'`},
		{"wss://a.test/?q=1", spec, `websocat -k --protocol 'a, b' 'wss://a.test/?q=…'`},
	} {
		check := wsCheck(c.url, c.spec)
		if got := e.plans.of(&check).visitor.command(); got != c.want {
			t.Errorf("%s: %s", c.url, got)
		}
	}
}

func TestCancelledWebSocketVisitEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	cancelled(t, l, New(options(l)), wsCheck("ws"+strings.TrimPrefix(l.URL(), "http")+"/ws/silent", uptime.Spec{}), "/ws/silent")
}
