package wsconn

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/internal/uptime"
)

// events is a browser's end of a stream.
type events struct {
	*testing.T
	response *http.Response
	lines    *bufio.Scanner
	id       string // of the last event that had one
}

type event struct {
	kind string
	body map[string]any
}

// stream asks the fixture for a stream, which ends with the test.
func (f *fixture) stream(t *testing.T, query string, header http.Header) *events {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.streams.URL+"/?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer x"}}
	for name, values := range header {
		r.Header[name] = values
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &events{T: t, response: response, lines: lines}
}

// next is the next event; the zero value at the end.
func (e *events) next() (found event) {
	e.Helper()
	for e.lines.Scan() {
		name, value, _ := strings.Cut(e.lines.Text(), ": ")
		switch name {
		case "event":
			found.kind = value
		case "id":
			e.id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &found.body); err != nil {
				e.Fatalf("%v in %s", err, value)
			}
		case "":
			return found
		}
	}
	return event{}
}

func (e *events) await(t string) map[string]any {
	e.Helper()
	for {
		switch got := e.next(); {
		case got.body == nil:
			e.Fatalf("the stream ended before %s", t)
		case got.body["t"] == t:
			return got.body
		}
	}
}

func withStreams(t *testing.T) *fixture {
	f := start(t)
	f.streams = httptest.NewUnstartedServer(f.server.Stream())
	f.streams.Config.ReadTimeout, f.streams.Config.WriteTimeout = time.Second, time.Second // of the real one, only shorter
	f.streams.Start()
	t.Cleanup(func() { f.server.Shutdown(context.Background()); f.streams.Close() })
	return f
}

func (f *fixture) measured() {
	f.hub.Apply([]uptime.Result{{TargetID: 1, Region: "eu", ScheduledAt: time.Now(), Status: uptime.StatusUp, IngestedAt: time.Now()}})
}

// A stream says what a socket says, and a browser that was cut off goes on where it was.
func TestAStreamSaysTheSame(t *testing.T) {
	t.Parallel()
	f := withStreams(t)
	from := fmt.Sprintf("targets@%s.%d", f.hub.Epoch(), f.hub.Snapshot().Seq)
	one := f.stream(t, "ch=targets&ch=target:1&ch=secrets&from="+url.QueryEscape(from), nil)
	if got := one.response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("%d, %s", one.response.StatusCode, got)
	}
	if got := one.await("welcome"); got["epoch"] != f.hub.Epoch() {
		t.Errorf("%v", got)
	}
	if got := one.await("ok"); got["ch"] != "targets" || got["id"] != "targets" || got["recovered"] != true {
		t.Errorf("%v", got)
	}
	if got := one.await("ok"); got["ch"] != "target:1" || got["recovered"] != false {
		t.Errorf("%v", got)
	}
	if got := one.await("err"); got["code"] != "unknown_channel" || got["id"] != "secrets" {
		t.Errorf("%v", got)
	}
	f.measured()
	seen := map[any]float64{}
	for seen["targets"] == 0 || seen["target:1"] == 0 {
		got := one.await("delta")
		if before, is := seen[got["ch"]]; is && got["from_seq"] != before {
			t.Errorf("after %v: %v", before, got)
		}
		seen[got["ch"]] = got["seq"].(float64)
	}
	_ = one.response.Body.Close()
	f.measured()
	two := f.stream(t, "ch=targets&from="+url.QueryEscape(from), http.Header{"Last-Event-Id": {one.id}})
	if got := two.await("ok"); got["recovered"] != true || got["seq"] != seen["targets"] {
		t.Errorf("cut off after %s: %v", one.id, got)
	}
	if got := two.await("delta"); got["from_seq"] != seen["targets"] {
		t.Errorf("cut off after %s: %v", one.id, got)
	}
}

// The patience of the server for requests is not that for streams.
func TestAStreamOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	f := withStreams(t)
	s := f.stream(t, "ch=targets", nil)
	s.await("ok")
	for until := time.Now().Add(2500 * time.Millisecond); time.Now().Before(until); {
		f.measured()
		s.await("delta")
	}
}

// A stream is ended like a socket, and says why.
func TestAStreamIsEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(*fixture)
		code websocket.StatusCode
	}{
		"revoked":  {func(f *fixture) { f.revoked.Store(true) }, closeRevoked},
		"shutdown": {func(f *fixture) { go f.server.Shutdown(context.Background()) }, closeTryLater},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withStreams(t)
			s := f.stream(t, "ch=targets", nil)
			s.await("ok")
			c.act(f)
			for {
				got := s.next()
				if got.body == nil {
					t.Fatal("it ended without a word")
				}
				if got.kind == "close" {
					if got.body["code"] != float64(c.code) {
						t.Errorf("%v", got.body)
					}
					break
				}
			}
			if got := s.next(); got.body != nil {
				t.Errorf("it goes on: %v", got)
			}
		})
	}
}

// Streams and sockets are bounded together, and a place that is left can be taken.
func TestStreamsCountAsSockets(t *testing.T) {
	t.Parallel()
	f := withStreams(t)
	f.server.MostOfAccount = 2
	f.dial(t)
	s := f.stream(t, "ch=targets", nil)
	s.await("ok")
	third := f.stream(t, "", nil)
	if third.response.StatusCode != http.StatusServiceUnavailable || third.response.Header.Get("Retry-After") == "" {
		t.Errorf("a third: %d", third.response.StatusCode)
	}
	if got := f.stream(t, "", http.Header{"Origin": {"https://evil.example"}}).response.StatusCode; got != http.StatusForbidden {
		t.Errorf("a foreign origin: %d", got)
	}
	_ = s.response.Body.Close()
	soon(t, "a place that was left", func() bool { return f.stream(t, "", nil).response.StatusCode == http.StatusOK })
}

// Who may not read any more is told nothing else, also while the stream still subscribes.
func TestAnEndedStreamSaysNothingMore(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	s := newStream(w, &client{})
	s.close(websocket.StatusPolicyViolation, "revoked")
	said := w.Body.Len()
	if _, err := s.write(message{body: []byte(`{"t":"delta"}`)}); !errors.Is(err, errEnded) || w.Body.Len() != said || !s.isOver() {
		t.Errorf("%v: %s", err, w.Body)
	}
}

// A key is one holder whatever cookies come with it.
func TestHolders(t *testing.T) {
	t.Parallel()
	for cookie, want := range map[string]string{"": "Bearer x", "a=1": "Bearer x"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer x")
		r.Header.Set("Cookie", cookie)
		if got := holder(r); got != want {
			t.Errorf("%q: held by %q", cookie, got)
		}
	}
}
