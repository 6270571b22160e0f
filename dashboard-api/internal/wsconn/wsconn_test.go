package wsconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/uptime"
)

type fixture struct {
	hub     *live.Hub
	server  *Server
	http    *httptest.Server
	streams *httptest.Server
	revoked atomic.Bool
}

// hang is how long something may take that takes no time: until then it is waited for.
const hang = 2 * time.Minute

func start(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{hub: live.New(live.Options{})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = f.hub.Run(ctx) }()
	f.hub.Load([]uptime.Target{{ID: 1, Name: "a", Interval: time.Minute, Timeout: time.Second, Active: true}}, nil, []string{"eu"})
	f.server = New(Options{Hub: f.hub, Log: slog.New(slog.DiscardHandler), Secure: func(r *http.Request) bool { return r.Header.Get("X-Forwarded-Proto") == "https" }, StillAllowed: func(context.Context, *http.Request) error {
		if f.revoked.Load() {
			return errors.New("revoked")
		}
		return nil
	}})
	f.http = httptest.NewServer(f.server)
	served := make(chan struct{})
	go func() { defer close(served); _ = f.server.Run(ctx) }()
	t.Cleanup(func() {
		stop, cancelStop := context.WithTimeout(context.Background(), time.Second)
		defer cancelStop()
		f.server.Shutdown(stop)
		f.http.Close()
		cancel()
		<-done
		<-served
	})
	return f
}

func (f *fixture) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{Subprotocols: []string{Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer x"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if got := read(t, conn); got["t"] != "welcome" || got["epoch"] != f.hub.Epoch() {
		t.Fatalf("first message %v", got)
	}
	return conn
}

func read(t *testing.T, conn *websocket.Conn) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	_, data, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return m
}

// soon polls until ok.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !ok(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not soon: " + what)
		}
	}
}

// readOn reads past pings: under load a test takes longer than they wait.
func readOn(t *testing.T, conn *websocket.Conn) (got map[string]any) {
	t.Helper()
	for got = read(t, conn); got["t"] == "ping"; got = read(t, conn) {
	}
	return got
}

func say(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestSubscribeDeltaAndErrors(t *testing.T) {
	t.Parallel()
	f := start(t)
	conn := f.dial(t)
	say(t, conn, `{"t":"hello"}`)
	say(t, conn, `{"t":"sub","id":"1","ch":"targets"}`)
	if got := read(t, conn); got["t"] != "ok" || got["recovered"] != false || got["id"] != "1" {
		t.Fatalf("%v", got)
	}
	f.hub.Apply([]uptime.Result{{TargetID: 1, Region: "eu", ScheduledAt: time.Now(), Status: uptime.StatusUp, IngestedAt: time.Now()}})
	for {
		got := read(t, conn)
		if got["t"] != "delta" {
			t.Fatalf("%v", got)
		}
		item := got["ops"].([]any)[0].(map[string]any)["item"].(map[string]any)
		if item["state"] == "up" {
			break // an earlier frame may still carry the loading
		}
	}
	for text, code := range map[string]string{`{"t":"sub","id":"2","ch":"secrets"}`: "unknown_channel", `nonsense`: "malformed", `{"t":"sub","id":"` + strings.Repeat("é", live.MaxID+1) + `","ch":"targets"}`: "malformed", `{"t":"drop"}`: "unknown_message"} {
		say(t, conn, text)
		if got := read(t, conn); got["t"] != "err" || got["code"] != code {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestForeignAndAbsentOriginsAreRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	for name, header := range map[string]http.Header{
		"foreign": {"Origin": {"https://evil.example"}, "Cookie": {"pf_session=x"}},
		"null":    {"Origin": {"null"}, "Cookie": {"pf_session=x"}},
		"absent":  {"Cookie": {"pf_session=x"}},
		"scheme":  {"Origin": {f.http.URL}, "X-Forwarded-Proto": {"https"}, "Cookie": {"pf_session=x"}},
	} {
		conn, response, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{HTTPHeader: header})
		if err == nil {
			_ = conn.CloseNow()
			t.Errorf("%s origin was accepted", name)
		} else if response == nil || response.StatusCode != http.StatusForbidden {
			t.Errorf("%s origin: %v", name, err)
		}
	}
	conn, _, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {f.http.URL}}})
	if err != nil {
		t.Fatalf("own origin refused: %v", err)
	}
	_ = conn.CloseNow()
}

func TestClosing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(*fixture, *websocket.Conn)
		code websocket.StatusCode
	}{
		"revoked":     {func(f *fixture, _ *websocket.Conn) { f.revoked.Store(true) }, closeRevoked},
		"shutdown":    {func(f *fixture, _ *websocket.Conn) { go f.server.Shutdown(t.Context()) }, closeTryLater},
		"large frame": {func(_ *fixture, conn *websocket.Conn) { say(t, conn, strings.Repeat("x", maxFrame+1)) }, websocket.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			conn := f.dial(t)
			c.act(f, conn)
			ctx, cancel := context.WithTimeout(context.Background(), hang)
			defer cancel()
			for {
				_, _, err := conn.Read(ctx)
				if err != nil {
					if got := websocket.CloseStatus(err); got != c.code {
						t.Errorf("closed with %v: %v", got, err)
					}
					return
				}
			}
		})
	}
}

func TestRevokedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, at := driven(t)
		var revoked atomic.Bool
		f.server.StillAllowed = func(context.Context, *http.Request) error {
			if revoked.Load() {
				return errors.New("revoked")
			}
			return nil
		}
		conn := f.socket(t, at, "targets")
		stream := f.eventsOf(t, at, "targets")
		<-time.After(reauthEvery + time.Millisecond)
		synctest.Wait() // a round has just found nothing: what comes now waits longest
		revoked.Store(true)
		since := time.Now()
		ended := make(chan time.Duration, 1)
		go func() {
			body, _ := io.ReadAll(stream.Body)
			if !strings.Contains(string(body), fmt.Sprintf(`"code":%d`, closeRevoked)) {
				t.Errorf("the stream ends with %.200q", body)
			}
			ended <- time.Since(since)
		}()
		if code, took := closedWith(conn), time.Since(since); code != closeRevoked || took > 5*time.Second {
			t.Errorf("the socket is closed with %d after %v", code, took)
		}
		if took := <-ended; took > 5*time.Second {
			t.Errorf("the stream ends after %v", took)
		}
	})
}

// Whatever the documents say that browsers say is obeyed.
func TestEveryCommandIsObeyed(t *testing.T) {
	t.Parallel()
	for _, command := range live.Commands() {
		c := &client{server: New(Options{Hub: live.New(live.Options{})})}
		field, _ := reflect.TypeOf(command).FieldByName("T")
		c.obey(websocket.MessageText, []byte(`{"t":"`+field.Tag.Get("enum")+`","id":"1","ch":"targets"}`))
		for _, a := range c.answers {
			if strings.Contains(string(a.body), `"t":"err"`) {
				t.Errorf("%T is answered with %s", command, a.body)
			}
		}
	}
}

// Sockets are bounded, in all and for each account, and a place that is left can be taken.
// Whoever was told early in a round is not told late in the next one.
func TestTheOrderOfReadersStays(t *testing.T) {
	t.Parallel()
	server := New(Options{})
	var all []*client
	for range 100 {
		c := &client{server: server}
		if err := server.reserve(c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for len(all) > 0 {
		for range 3 {
			if !slices.Equal(server.clients(nil), all) {
				t.Fatalf("of %d readers", len(all))
			}
		}
		at, last := len(all)/2, len(all)-1
		server.remove(all[at])
		all[at] = all[last] // no other has to wait longer
		all = all[:last]
	}
}

func TestSocketsAreBounded(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Server){
		"of an account": func(s *Server) { s.MostOfAccount = 2 },
		"of a node":     func(s *Server) { s.Most = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			limit(f.server)
			first, _ := f.dial(t), f.dial(t)
			as := func(key string) (*http.Response, error) {
				conn, response, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
				if err == nil {
					_ = conn.CloseNow()
				}
				return response, err
			}
			if response, err := as("x"); err == nil || response == nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
				t.Errorf("a third: %v, %v", response, err)
			}
			if _, err := as("y"); (err == nil) != (name == "of an account") {
				t.Errorf("somebody else: %v", err)
			}
			_ = first.CloseNow()
			soon(t, "the place that was left", func() bool { _, err := as("x"); return err == nil })
		})
	}
}

// A socket of anybody reads its channel, and nothing else whatever it asks.
func TestOnlyOneChannel(t *testing.T) {
	t.Parallel()
	f := start(t)
	var ended atomic.Bool
	gone := make(chan struct{}, 10)
	f.http.Config.Handler = f.server.Only("page:main", func(context.Context, *http.Request) error {
		if ended.Load() {
			return errors.New("a draft again")
		}
		return nil
	}, func() { gone <- struct{}{} })
	dial := func(header http.Header) (*websocket.Conn, error) {
		conn, _, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{Subprotocols: []string{Subprotocol}, HTTPHeader: header})
		return conn, err
	}
	if _, err := dial(http.Header{"Origin": {"https://evil.example"}}); err == nil {
		t.Error("a foreign origin was accepted")
	}
	if _, err := dial(nil); err == nil {
		t.Error("a socket without an origin was accepted")
	}
	<-gone
	<-gone
	conn, err := dial(http.Header{"Origin": {f.http.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	read(t, conn)
	for _, channel := range []string{"targets", "target:1", "fleet", "checks:x", "page:other", "incidents", ""} {
		say(t, conn, `{"t":"sub","id":"1","ch":"`+channel+`"}`)
		if got := read(t, conn); got["t"] != "err" || got["code"] != "forbidden_channel" {
			t.Errorf("%s: %v", channel, got)
		}
	}
	say(t, conn, `{"t":"sub","id":"2","ch":"page:main"}`)
	if got := read(t, conn); got["t"] != "ok" {
		t.Fatalf("%v", got)
	}
	if len(gone) > 0 {
		t.Error("an open socket counts as gone")
	}
	f.hub.Page("other", "not for it")
	f.hub.Page("main", map[string]string{"state": "up"})
	if got := read(t, conn); got["t"] != "delta" || got["ch"] != "page:main" || len(got["ops"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	ended.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != closeRevoked {
		t.Errorf("goes on: %v", err)
	}
	<-gone
	if len(gone) > 0 {
		t.Error("it is told more than once that a socket is gone")
	}
}
