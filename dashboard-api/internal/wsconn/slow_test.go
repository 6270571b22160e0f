package wsconn

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// pipes is a listener whose connections hold nothing: what is written is written when it is read.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (p pipes) Close() error { close(p); return nil }
func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// piped is a server in a bubble, where time passes by itself once everybody waits. It tells of
// changes, and does nothing else by itself.
func piped(t *testing.T) (*fixture, pipes) {
	t.Helper()
	return pipedTo(t, (*Server).tell)
}

// pipedTo is the same with what drives the server.
func pipedTo(t *testing.T, drive func(*Server, context.Context)) (*fixture, pipes) {
	t.Helper()
	f := &fixture{hub: live.New(live.Options{})}
	f.server = New(Options{Hub: f.hub, Log: slog.New(slog.DiscardHandler), Secure: func(*http.Request) bool { return false }, StillAllowed: func(context.Context, *http.Request) error { return nil }})
	at, served := pipes(make(chan net.Conn)), make(chan struct{})
	mux := http.NewServeMux()
	mux.Handle("/", f.server)
	mux.Handle("/events", f.server.Stream())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { defer close(served); _ = server.Serve(at) }()
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan struct{})
	go func() { defer close(told); drive(f.server, ctx) }()
	t.Cleanup(func() {
		cancel()
		f.server.Shutdown(ctx)
		_ = server.Close()
		<-served
		<-told
	})
	return f, at
}

func (f *fixture) socket(t *testing.T, at pipes, channel string) *websocket.Conn {
	t.Helper()
	return f.socketOf(t, at, "x", channel)
}

func (f *fixture) socketOf(t *testing.T, at pipes, key, channel string) *websocket.Conn {
	t.Helper()
	transport := &http.Transport{DialContext: at.dial}
	conn, _, err := websocket.Dial(t.Context(), "http://node/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	read(t, conn) // welcome
	say(t, conn, `{"t":"sub","id":"1","ch":"`+channel+`"}`)
	if got := read(t, conn); got["t"] != "ok" {
		t.Fatalf("%v", got)
	}
	synctest.Wait() // it is said, and whoever wrote it is gone
	return conn
}

// closedWith reads what is there still, and how it ends.
func closedWith(conn *websocket.Conn) websocket.StatusCode {
	for {
		if _, _, err := conn.Read(context.Background()); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// Who reads a message a second reads on, though there is always another one.
func TestAReaderThatReadsIsNotCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := piped(t)
		conn := f.socket(t, at, "checks:x")
		f.hub.Check("x", 0)
		for i := range 60 {
			synctest.Wait() // it is being written
			f.hub.Check("x", i)
			synctest.Wait()
			<-time.After(time.Second)
			if got := read(t, conn); got["t"] != "delta" {
				t.Fatalf("%v", got)
			}
		}
	})
}

// changes are those of a channel whose messages are each reader's own, and of one whose readers share them.
var changes = map[string]func(h *live.Hub, i int){
	"checks:x": func(h *live.Hub, i int) { h.Check("x", i) },
	"page:x":   func(h *live.Hub, i int) { h.Page("x", i) },
}

// Who did not read for too long is told so as soon as it does.
func TestALateReaderIsToldToComeBack(t *testing.T) {
	t.Parallel()
	for channel, change := range changes {
		synctest.Test(t, func(t *testing.T) {
			f, at := piped(t)
			conn := f.socket(t, at, channel)
			change(f.hub, 1)
			<-time.After(writeTimeout + closeTimeout/2)
			change(f.hub, 2)
			asked := time.Now()
			if got := read(t, conn); got["t"] != "delta" {
				t.Fatalf("%s: %v", channel, got)
			}
			if code := closedWith(conn); code != closeSlow {
				t.Errorf("%s: closed with %d", channel, code)
			}
			synctest.Wait()
			if took := time.Since(asked); took > 0 || len(f.server.clients(nil)) > 0 {
				t.Errorf("%s: %d left after %v", channel, len(f.server.clients(nil)), took)
			}
		})
	}
}

// Who does not read at all is dropped, in a bounded time.
func TestWhoNeverReadsIsDropped(t *testing.T) {
	t.Parallel()
	for channel, change := range changes {
		synctest.Test(t, func(t *testing.T) {
			f, at := piped(t)
			f.socket(t, at, channel)
			change(f.hub, 1)
			<-time.After(writeTimeout + closeTimeout - time.Second)
			synctest.Wait()
			if len(f.server.clients(nil)) != 1 {
				t.Errorf("%s: dropped too soon", channel)
			}
			<-time.After(2 * time.Second)
			synctest.Wait()
			if len(f.server.clients(nil)) != 0 {
				t.Errorf("%s: still there", channel)
			}
		})
	}
}

// Who asks for more than it reads is closed with the code to come back, and what it asks for
// after that is not kept.
func TestAnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"errors": `{"t":"drop"}`, "subscriptions": `{"t":"sub","id":"2","ch":"checks:x"}`} {
		synctest.Test(t, func(t *testing.T) {
			f, at := piped(t)
			conn := f.socket(t, at, "checks:x")
			flood := func(n int) {
				for range n {
					say(t, conn, text)
				}
				synctest.Wait()
			}
			waiting := func() int {
				c := f.server.clients(nil)[0]
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.answers)
			}
			flood(1 + maxAnswers) // one is being written
			if n := waiting(); n != maxAnswers {
				t.Fatalf("%s: %d answers wait", name, n)
			}
			if f.server.clients(nil)[0].closing() != nil {
				t.Fatalf("%s: closed too soon", name)
			}
			flooded := make(chan struct{})
			go func() { // beside: nobody reads it before the socket is being closed, and then it is not kept
				defer close(flooded)
				for range 1000 {
					if conn.Write(context.Background(), websocket.MessageText, []byte(text)) != nil {
						return
					}
				}
			}()
			synctest.Wait()
			if n := waiting(); n > maxAnswers+1 {
				t.Errorf("%s: %d answers are kept", name, n)
			}
			if got := read(t, conn); got["t"] != "err" && got["t"] != "ok" {
				t.Errorf("%s: %v", name, got)
			}
			if code := closedWith(conn); code != closeSlow {
				t.Errorf("%s: closed with %d", name, code)
			}
			<-flooded
		})
	}
}

// A client of a socket or a stream that reads nothing delays no other client, and is disconnected.
//
// Promise: a slow reader delays no other
func TestASlowReaderDelaysNobody(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, *fixture, pipes){
		"socket": func(t *testing.T, f *fixture, at pipes) { f.socket(t, at, "checks:big") },
		"stream": func(t *testing.T, f *fixture, at pipes) { f.eventsOf(t, at, "checks:big") },
	} {
		synctest.Test(t, func(t *testing.T) {
			f, at := piped(t)
			open(t, f, at)
			quick := f.socket(t, at, "checks:small")
			for i := range 5 { // more than a client reads ahead
				f.hub.Check("big", strings.Repeat("long ", 2_000)+strconv.Itoa(i))
				synctest.Wait()
			}
			for i := range 20 {
				asked := time.Now()
				f.hub.Check("small", i)
				if got := read(t, quick); got["t"] != "delta" {
					t.Fatalf("%s: %v", name, got)
				}
				if took := time.Since(asked); took > 0 {
					t.Fatalf("%s: a delta took %v", name, took)
				}
			}
			if left := len(f.server.clients(nil)); left != 2 {
				t.Errorf("%s: %d left, the slow reader had no time", name, left)
			}
			<-time.After(writeTimeout + 2*closeTimeout)
			synctest.Wait()
			if left := len(f.server.clients(nil)); left != 1 {
				t.Errorf("%s: %d left", name, left)
			}
		})
	}
}

// eventsOf asks for a stream, of which nothing is read but by the caller.
func (f *fixture) eventsOf(t *testing.T, at pipes, channel string) *http.Response {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: at.dial}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://node/events?ch="+channel, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close(); client.CloseIdleConnections() })
	synctest.Wait()
	return response
}

// An event stream that is read too late ends with an event that says so; one that is never read is
// dropped in a bounded time.
func TestALateReaderOfAStream(t *testing.T) {
	t.Parallel()
	for name, readsAfter := range map[string]time.Duration{"late": writeTimeout + closeTimeout/2, "never": writeTimeout + 2*closeTimeout} {
		synctest.Test(t, func(t *testing.T) {
			f, at := piped(t)
			response := f.eventsOf(t, at, "checks:x")
			for i := range 5 { // more than the client reads ahead
				f.hub.Check("x", strings.Repeat("long ", 2_000)+strconv.Itoa(i))
				synctest.Wait()
			}
			<-time.After(readsAfter)
			synctest.Wait()
			left := len(f.server.clients(nil))
			body, _ := io.ReadAll(response.Body)
			told := strings.Contains(string(body), "event: close\ndata: {\"code\":4008,")
			if late := name == "late"; told != late || (left == 1) != late {
				t.Errorf("%s: told %v, %d left; it ends %.200q", name, told, left, body[max(0, len(body)-200):])
			}
			synctest.Wait()
			if left := len(f.server.clients(nil)); left > 0 {
				t.Errorf("%s: %d are still there", name, left)
			}
		})
	}
}
