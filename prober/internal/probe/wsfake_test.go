package probe

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

func base64URL(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// serveWS takes one connection, upgrades it and hands it to talk. seen gets the request.
func serveWS(t *testing.T, talk func(in *bufio.Reader, out io.Writer)) (url string, seen <-chan *http.Request) {
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
		in := bufio.NewReader(conn)
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		requests <- r
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: "+wsAccept(r.Header.Get("Sec-WebSocket-Key"))+"\r\n\r\n")
		talk(in, conn)
	}()
	return "ws://" + listener.Addr().String() + "/", requests
}

// clientFrame reads a frame as a client must send it.
func clientFrame(t *testing.T, in *bufio.Reader) (first byte, payload string) {
	t.Helper()
	var head [6]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		t.Error("reading a frame:", err)
		return 0, ""
	}
	size := int(head[1] & 0x7f)
	if head[1]&0x80 == 0 || size > maxWSControl {
		t.Errorf("a frame that begins with %x", head)
		return 0, ""
	}
	masked := make([]byte, size)
	if _, err := io.ReadFull(in, masked); err != nil {
		t.Error("reading a frame:", err)
	}
	for i := range masked {
		masked[i] ^= head[2+i%4]
	}
	return head[0], string(masked)
}

func TestWebSocketConversation(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	url, seen := serveWS(t, func(in *bufio.Reader, out io.Writer) {
		defer close(ended)
		if first, text := clientFrame(t, in); first != 0x81 || text != "hello" {
			t.Errorf("sent %x %q", first, text)
		}
		_, _ = io.WriteString(out, "\x01\x02ab\x89\x03you\x00\x00\x8a\x00\x80\x01c") // ab, a ping, nothing, a pong nobody asked for, c
		if first, text := clientFrame(t, in); first != 0x8a || text != "you" {
			t.Errorf("the ping was answered with %x %q", first, text)
		}
		if first, text := clientFrame(t, in); first != 0x88 || text != "\x03\xe8" {
			t.Errorf("closed with %x %q", first, text)
		}
	})
	spec := saying("hello", "received - equals abc")
	spec.WebSocket.Subprotocols = []string{"a", "b"}
	spec.WebSocket.Headers = []uptime.Header{{Name: "Origin", Value: "https://a.test"}}
	o := New(options(nil)).Look(t.Context(), wsCheck(url+"x?y=1#z", spec))
	verify(t, o, nil, 101)
	<-ended
	r := <-seen
	if r.RequestURI != "/x?y=1" || "ws://"+r.Host+"/" != url || r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Connection") != "Upgrade" ||
		r.Header.Get("Sec-WebSocket-Version") != "13" || len(r.Header.Get("Sec-WebSocket-Key")) != 24 || r.Header.Get("Sec-WebSocket-Protocol") != "a, b" ||
		r.Header.Get("Origin") != "https://a.test" || !strings.HasPrefix(r.UserAgent(), "Probefleet/1.2.3 ") {
		t.Errorf("%+v", r)
	}
	if o.Evidence.Received != "abc" || o.Evidence.StatusLine != "HTTP/1.1 101 Switching Protocols" || o.Phases.Wait == 0 || o.Phases.Transfer == 0 {
		t.Errorf("%+v, %+v", o, o.Evidence)
	}
}

func TestWebSocketPingIsAnsweredByItsPong(t *testing.T) {
	t.Parallel()
	url, _ := serveWS(t, func(in *bufio.Reader, out io.Writer) {
		_, ping := clientFrame(t, in)
		_, _ = io.WriteString(out, "\x8a\x05wrong\x81\x02hi\x8a"+string(rune(len(ping)))+ping)
		clientFrame(t, in)
	})
	o := New(options(nil)).Look(t.Context(), wsCheck(url, uptime.Spec{}))
	verify(t, o, nil, 101)
	if o.Evidence.Received != "" {
		t.Errorf("received %q", o.Evidence.Received)
	}
	url, _ = serveWS(t, func(in *bufio.Reader, out io.Writer) {
		clientFrame(t, in)
		_, _ = io.WriteString(out, "\x8a\x05wrong")
	})
	verify(t, New(options(nil)).Look(t.Context(), wsCheck(url, uptime.Spec{})), uptime.FailureReset, 101)
}

func TestWebSocketMessagesThatAreOutOfOrder(t *testing.T) {
	t.Parallel()
	for frames, want := range map[string]string{
		"\x80\x01x":             "malformed websocket frame: it goes on with a message that nobody began",
		"\x01\x01x\x81\x01y":    "malformed websocket frame: a message begins within another",
		"\x81\x7e\x00\x05hello": "malformed websocket frame: a length that is not written the shortest way",
		"\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x05hello": "malformed websocket frame: a length that is not written the shortest way",
		"\x88\x00":                      "the server closed the websocket before a message, without a reason",
		"\x81\x7e\x00":                  "connection closed waiting for a message",
		"\x81\x05hel":                   "connection closed waiting for a message",
		"\x89\x05hel":                   "connection closed waiting for a message",
		strings.Repeat("\x00\x00", 200): "malformed websocket frame: it goes on with a message that nobody began",
		"\x01\x00" + strings.Repeat("\x00\x00", 200): "more than 100 frames came, and not a message",
	} {
		url, _ := serveWS(t, func(in *bufio.Reader, out io.Writer) {
			clientFrame(t, in)
			_, _ = io.WriteString(out, frames)
		})
		o := New(options(nil)).Look(t.Context(), wsCheck(url, saying("hello")))
		if o.Status != uptime.StatusDown || o.Message != want {
			t.Errorf("%q: %v %q %q", frames, o.Status, o.Failure, o.Message)
		}
	}
}

// A message is received up to a cap, which is larger when an assertion looks at it.
func TestWebSocketCutsWhatItReceives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec uptime.Spec
		most int
		want any
	}{
		{saying("hello"), 256<<10 + framing, nil},
		{saying("hello", "received - contains x"), 1<<20 + framing, nil},
		{saying("hello", "received - not_contains y"), 1<<20 + framing, uptime.FailureTooLarge},
	} {
		taken := make(chan int, 1)
		url, _ := serveWS(t, func(in *bufio.Reader, out io.Writer) {
			clientFrame(t, in)
			frame := append([]byte{0x01, 0x7e, 0x40, 0x00}, slices.Repeat([]byte("x"), 0x4000)...)
			sent := 0
			for ; ; frame[0] = 0 {
				n, err := out.Write(frame)
				if sent += n; err != nil {
					break
				}
			}
			taken <- sent
		})
		o := New(options(nil)).Look(t.Context(), wsCheck(url, c.spec))
		verify(t, o, c.want, 101)
		if n := <-taken; n > c.most+8<<20 { // what the kernel holds between them
			t.Errorf("%d bytes were taken", n)
		}
		if len(o.Evidence.Received) > uptime.MaxEvidenceBody {
			t.Errorf("%d bytes are evidence", len(o.Evidence.Received))
		}
	}
}

func FuzzWebSocketFrames(f *testing.F) {
	for _, seed := range []string{
		"\x81\x02hi", "\x01\x02ab\x89\x03you\x80\x01c", "\x88\x02\x03\xe8", "\x81\x7e\x00\x05hello", "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", "\x8a\x03key",
		"\x81\x83\x01\x02\x03\x04ijh", "\x02\x00\x80\x00", "\xc1\x00", "\x83\x00", "\x89\x7e\x00\x80",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, sent []byte, pinging bool) {
		const limit = 1 << 10
		server := &scriptedConn{in: strings.NewReader(string(sent))}
		w := newWire()
		w.conn, w.budget, w.spent = server, limit+framing, errCut
		w.reader.Reset(w)
		var s sighting
		talk := wsTalk{wire: w, seen: &s, limit: limit}
		if pinging {
			talk.ping = "key"
		}
		for frames := 0; ; frames++ {
			done, bad := talk.frame()
			if len(s.Received) > limit || server.written > (maxWSControl+14)*maxWSFrames || frames > len(sent) {
				t.Fatalf("%d bytes received, %d written, %d frames", len(s.Received), server.written, frames)
			}
			if done && !bad.none() || pinging && len(s.Received) > 0 {
				t.Fatal(done, bad, len(s.Received))
			}
			if done || !bad.none() {
				return
			}
		}
	})
}

// scriptedConn is a server that says what it says.
type scriptedConn struct {
	net.Conn
	in      io.Reader
	written int
}

func (c *scriptedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

func (c *scriptedConn) Write(p []byte) (int, error) {
	c.written += len(p)
	return len(p), nil
}
