package httpapi

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
)

const closedRevoked = 4001 // as wsconn says it, which proves within which time

// withSockets serves real websockets.
func withSockets(b *bench, o *Options) {
	sockets := wsconn.New(wsconn.Options{Hub: b.hub, StillAllowed: o.Sessions.StillAllowed, Holder: o.Sessions.Holder, Secure: o.Sessions.Secure, Log: o.Log})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = sockets.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-ended })
	o.Socket, o.Stream = sockets, sockets.Stream()
}

// socket is the browser's end of a websocket, by hand: one package alone knows the library.
type socket struct {
	net.Conn
	reader *bufio.Reader
}

// open asks for a websocket; nil with the status if it was refused.
func (b *bench) open(server *httptest.Server, options ...option) (*socket, int) {
	b.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+"/api/v1/live", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-WebSocket-Version": {"13"}, "Sec-WebSocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Origin": {server.URL}}
	for _, o := range options {
		o(r)
	}
	if err := r.Write(conn); err != nil {
		b.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, r)
	if err != nil {
		b.Fatal(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		_ = answer.Body.Close()
		return nil, answer.StatusCode
	}
	return &socket{conn, reader}, answer.StatusCode
}

// ended reads until the server closes the socket, and gives the reason; 0: it did not within the time.
func (s *socket) ended(t testing.TB, within time.Duration) (code int) {
	t.Helper()
	if err := s.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	for {
		var head [2]byte
		if _, err := io.ReadFull(s.reader, head[:]); err != nil {
			if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() {
				return 0
			}
			t.Fatal(err)
		}
		size := uint64(head[1] & 0x7f)
		if size == 126 {
			var long [2]byte
			if _, err := io.ReadFull(s.reader, long[:]); err != nil {
				t.Fatal(err)
			}
			size = uint64(binary.BigEndian.Uint16(long[:]))
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(s.reader, body); err != nil {
			t.Fatal(err)
		}
		if head[0]&0x0f == 8 {
			return int(binary.BigEndian.Uint16(body))
		}
	}
}

func (b *bench) serve() *httptest.Server {
	server := httptest.NewServer(b.handler)
	b.Cleanup(server.Close)
	return server
}

func TestSocketsAreRefusedToForeignPages(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, withSockets)
	server, cookie := b.serve(), b.setUp()
	for name, c := range map[string]struct {
		options []option
		want    int
	}{
		"own page":        {nil, 101},
		"foreign":         {[]option{header("Origin", "https://evil.example")}, 403},
		"null":            {[]option{header("Origin", "null")}, 403},
		"other port":      {[]option{header("Origin", "http://127.0.0.1:1")}, 403},
		"absent":          {[]option{func(r *http.Request) { r.Header.Del("Origin") }}, 403},
		"nobody":          {[]option{header("Cookie", "pf_session=x")}, 401},
		"key, no origin":  {[]option{func(r *http.Request) { r.Header.Del("Origin"); r.Header.Del("Cookie") }, as(viewerKey)}, 101},
		"revoked key":     {[]option{func(r *http.Request) { r.Header.Del("Cookie") }, as(revokedKey)}, 401},
		"key and cookie,": {[]option{as("pf_nobody")}, 401},
	} {
		if _, got := b.open(server, append([]option{cookie}, c.options...)...); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// logIn signs in once more, with the password of setUp.
func (b *bench) logIn(email string) option {
	b.Helper()
	got := b.do("POST", "/api/v1/session", `{"email":"`+email+`","password":"correct horse"}`)
	if got.Code != http.StatusOK || !strings.Contains(got.Header().Get("Set-Cookie"), "pf_session=") {
		b.Fatalf("log in: %d %s", got.Code, got.text)
	}
	return cookieOf(got)
}

// Whatever ends a session ends its sockets, and no others.
func TestSocketsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench, mine option) reply{
		"password changed": func(b *bench, mine option) reply {
			return b.do("PUT", "/api/v1/session/password", `{"current_password":"correct horse","password":"battery staple"}`, mine)
		},
		"all others ended": func(b *bench, mine option) reply { return b.do("DELETE", "/api/v1/sessions", "", mine) },
		"this one ended": func(b *bench, mine option) reply {
			return b.do("DELETE", "/api/v1/sessions/2", "", mine)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBenchWith(t, withSockets)
			server, mine := b.serve(), b.setUp()
			other := b.logIn("ann@example.com")
			stays, _ := b.open(server, mine)
			ends, _ := b.open(server, other)
			if got := end(b, mine); got.Code >= 300 {
				t.Fatalf("%d %s", got.Code, got.text)
			}
			if code := ends.ended(t, hang); code != closedRevoked {
				t.Errorf("the socket ended with %d", code)
			}
			if got := b.do("GET", "/api/v1/targets", "", other); got.Code != http.StatusUnauthorized {
				t.Errorf("the session lives on: %d", got.Code)
			}
			if got := b.do("GET", "/api/v1/targets", "", mine); got.Code != http.StatusOK {
				t.Errorf("my own session ended: %d", got.Code)
			}
			if code := stays.ended(t, time.Second); code != 0 {
				t.Errorf("my own socket ended with %d", code)
			}
		})
	}
}

// Nobody gets a stream who gets no socket, and it ends with its session or key like one.
func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	b := newBenchWith(t, withSockets)
	server, mine := b.serve(), b.setUp()
	open := func(options ...option) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/live/events?ch=targets", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range options {
			o(r)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	if nobody, revoked := open(), open(as(revokedKey)); nobody.StatusCode != http.StatusUnauthorized || revoked.StatusCode != http.StatusUnauthorized {
		t.Errorf("nobody: %d, a revoked key: %d", nobody.StatusCode, revoked.StatusCode)
	}
	stream := open(b.logIn("ann@example.com"))
	if got := b.do("DELETE", "/api/v1/sessions", "", mine); got.Code != http.StatusNoContent {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	said, err := io.ReadAll(stream.Body)
	if err != nil || !strings.Contains(string(said), "event: close\ndata: {\"code\":4001") {
		t.Errorf("%q %v", said, err)
	}
}
