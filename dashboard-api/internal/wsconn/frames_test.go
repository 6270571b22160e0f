package wsconn

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// counted is a connection that counts what is read from it.
type counted struct {
	net.Conn
	read *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// counting opens a socket that counts.
func (f *fixture) counting(t *testing.T, mode websocket.CompressionMode) (*websocket.Conn, *atomic.Int64) {
	t.Helper()
	read := &atomic.Int64{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return counted{conn, read}, err
	}}
	conn, _, err := websocket.Dial(t.Context(), f.http.URL, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer x"}}, CompressionMode: mode})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	return conn, read
}

// Readers of a whole channel, or of a page, get frames that were made once, of any length; a browser
// that can gets them compressed. What the library says meanwhile stands between two of them.
func TestFramesThatManyReadersGet(t *testing.T) {
	t.Parallel()
	f := start(t)
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = 'a' + byte(rand.N(20)) // no x: those are told by it
	}
	texts := []string{""}
	for _, n := range []int{1, 30, 60, 100, 400, 1000, 4000, 65_400, 65_535, 70_000} { // around the limits of lengths
		texts = append(texts, strings.Repeat("x", n), string(noise[:n]))
	}
	sizes := map[websocket.CompressionMode]*atomic.Int64{}
	readers := map[websocket.CompressionMode]*websocket.Conn{}
	for _, mode := range []websocket.CompressionMode{websocket.CompressionDisabled, websocket.CompressionNoContextTakeover, websocket.CompressionContextTakeover} {
		conn, size := f.counting(t, mode)
		read(t, conn) // welcome
		say(t, conn, `{"t":"sub","id":"1","ch":"page:shop"}`)
		if got := readOn(t, conn); got["t"] != "ok" {
			t.Fatalf("%v", got)
		}
		readers[mode], sizes[mode] = conn, size
	}
	for i, text := range texts {
		for _, size := range sizes {
			size.Store(0)
		}
		f.hub.Page("shop", text)
		var group errgroup.Group
		var took [3]int64 // bytes of the text, by mode
		for mode, conn := range readers {
			ponged := make(chan error, 1) // a ping that was given up would end the socket
			go func() { ponged <- conn.Ping(t.Context()) }()
			group.Go(func() error {
				got := readOn(t, conn)
				took[mode] = sizes[mode].Load()
				ops, _ := got["ops"].([]any)
				if len(ops) != 1 || ops[0].(map[string]any)["item"] != text {
					t.Errorf("%d, mode %d: not what was said", i, mode)
				}
				for { // until the pong, which came beside what was written, was read, too
					say(t, conn, `{"t":"sub","id":"2","ch":"nothing"}`)
					if got := readOn(t, conn); got["t"] != "err" { // what follows is not cut off
						t.Errorf("%d, mode %d: %v", i, mode, got)
					}
					select {
					case err := <-ponged:
						return err
					default:
					}
				}
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if len(text) < 4000 || text[:2] != "xx" {
			continue
		}
		plain := took[websocket.CompressionDisabled]
		for _, mode := range []websocket.CompressionMode{websocket.CompressionNoContextTakeover, websocket.CompressionContextTakeover} {
			if n := took[mode]; n > plain/5 {
				t.Errorf("mode %d: %d bytes, and %d without compression", mode, n, plain)
			}
		}
	}
}

// Anybody's socket is not compressed: a message that is begun and never ended would hold 40 KB.
func TestPagesOfAnybodyAreNotCompressed(t *testing.T) {
	t.Parallel()
	f := start(t)
	server := httptest.NewServer(f.server.Only("page:shop", f.server.StillAllowed, func() {}))
	t.Cleanup(server.Close)
	conn, response, err := websocket.Dial(t.Context(), server.URL, &websocket.DialOptions{Subprotocols: []string{Subprotocol}, HTTPHeader: http.Header{"Origin": {server.URL}}, CompressionMode: websocket.CompressionNoContextTakeover})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if got := response.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Errorf("%q", got)
	}
	read(t, conn)
	say(t, conn, `{"t":"sub","id":"1","ch":"page:shop"}`)
	readOn(t, conn)
	f.hub.Page("shop", strings.Repeat("x", 4000))
	if got := readOn(t, conn); got["t"] != "delta" {
		t.Errorf("%v", got)
	}
}

func TestDeflatedFrame(t *testing.T) {
	t.Parallel()
	body, _ := json.Marshal(strings.Repeat("to be or not to be ", 500))
	var d deflater
	small := d.frame([]byte("{}"))
	if large := d.frame(body); large[0] != finText|compressed || len(large) > len(body)/10 || small[0] != finText || string(small[2:]) != "{}" {
		t.Errorf("%d bytes of %d, %x", len(large), len(body), small)
	}
}
