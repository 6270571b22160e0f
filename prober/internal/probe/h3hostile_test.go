package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/probefleet/probefleet/internal/uptime"
)

// frame3 is a frame of HTTP/3 (RFC 9114 §7.1).
func frame3(kind uint64, payload []byte) []byte {
	out := quicvarint.Append(nil, kind)
	return append(quicvarint.Append(out, uint64(len(payload))), payload...)
}

// asked3 is a request over HTTP/3 that a server may answer with any bytes (RFC 9114 §4.1, §6.2).
type asked3 struct {
	conn    *quic.Conn
	control *quic.SendStream // where settings went
	stream  *quic.Stream     // where the answer belongs
	taken   *atomic.Int64    // bytes of all that was written forever
}

// serve3 speaks just enough HTTP/3 to be asked, and has all who ask answered by hand. What it
// speaks is called protocol.
func serve3(t *testing.T, certificate tls.Certificate, protocol string, answer func(asked3)) (url string) {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := quic.Listen(packets, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close(); _ = packets.Close() })
	go func() {
		for {
			conn, err := listener.Accept(context.Background())
			if err != nil {
				return
			}
			go func() {
				control, err := conn.OpenUniStream()
				if err != nil {
					return
				}
				_, _ = control.Write(append([]byte{0}, frame3(4, nil)...)) // settings
				if stream, err := conn.AcceptStream(context.Background()); err == nil {
					answer(asked3{conn, control, stream, &atomic.Int64{}})
				}
			}()
		}
	}()
	return "https://" + packets.LocalAddr().String()
}

// forever writes the same until nobody takes more.
func (a asked3) forever(to io.Writer, what []byte) {
	for {
		n, err := to.Write(what)
		if a.taken.Add(int64(n)); err != nil {
			return
		}
	}
}

// begin writes headers that are packed so (RFC 9204 §4.5.2, Appendix A).
func (a asked3) begin(packed ...byte) {
	_, _ = a.stream.Write(frame3(1, append([]byte{0, 0}, packed...)))
}

const (
	status103, status200 = 0xc0 | 24, 0xc0 | 25
	acceptEncoding       = 0xc0 | 31 // and a value: 32 bytes
)

// harm3 is what a hostile server answers, and what comes of it.
type harm3 struct {
	do   func(asked3)
	want ending
	code int
}

func harms3() map[string]harm3 {
	nothing := bytes.Repeat(frame3(0x21, make([]byte, 1<<10)), 8) // frames that mean nothing (§9)
	tooMuch, tooLarge := ending{uptime.FailureTooLarge, errTooMuch.Error()}, ending{uptime.FailureTooLarge, errHeadersTooLarge.Error()}
	broken, waits := ending{uptime.FailureProtocol, "broken HTTP/3 waiting for an answer"}, ending{uptime.FailureTimeout, "timed out waiting for an answer"}
	return map[string]harm3{
		"unknown frames in an answer": {func(a asked3) { a.begin(status200); a.forever(a.stream, nothing) }, tooMuch, 200},
		"unknown frames":              {func(a asked3) { a.forever(a.stream, nothing) }, tooMuch, 0},
		"control frames":              {func(a asked3) { a.forever(a.control, nothing) }, tooMuch, 0},
		"goaways":                     {func(a asked3) { a.forever(a.control, bytes.Repeat(frame3(7, []byte{4}), 1000)) }, tooMuch, 0},
		"settings twice":              {func(a asked3) { a.forever(a.control, frame3(4, nil)) }, broken, 0},
		"interim answers":             {func(a asked3) { a.forever(a.stream, frame3(1, []byte{0, 0, status103})) }, broken, 0},
		"empty data":                  {func(a asked3) { a.begin(status200); a.forever(a.stream, bytes.Repeat(frame3(0, nil), 1000)) }, tooMuch, 200},
		"packed headers":              {func(a asked3) { a.begin(append([]byte{status200}, bytes.Repeat([]byte{acceptEncoding}, 60_000)...)...) }, tooLarge, 0},
		"packed trailers": {func(a asked3) {
			a.begin(status200)
			a.begin(bytes.Repeat([]byte{acceptEncoding}, 60_000)...)
		}, tooLarge, 200},
		"headers of 256 MB":  {func(a asked3) { a.forever(a.stream, append([]byte{1, 0x8f, 0xff, 0xff, 0xff}, nothing...)) }, tooLarge, 0},
		"headers that stall": {func(a asked3) { _, _ = a.stream.Write(append([]byte{1, 0x80, 0, 0xff, 0xff, 0, 0}, status200)) }, waits, 0},
		"streams": {func(a asked3) {
			for {
				stream, err := a.conn.OpenUniStreamSync(context.Background())
				if err != nil {
					return
				}
				n, _ := stream.Write(nothing[:1<<10]) // of a type that nobody knows
				a.taken.Add(int64(n))
				_ = stream.Close()
			}
		}, tooMuch, 0},
	}
}

// Whatever comes over HTTP/3, a visit ends as it should, in time, and what it reads is bounded on the
// wire.
func TestHostileHTTP3(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for name, c := range harms3() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var taken atomic.Int64
			check := checkOf(serve3(t, certificateOf(t, l, "tls"), "h3", func(a asked3) {
				a.taken = &taken
				c.do(a)
			}))
			if check.Timeout = time.Minute; c.want.failure == uptime.FailureTimeout {
				check.Timeout = lossy
			}
			check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}.Text()
			o := e.Look(t.Context(), check)
			if !c.want.is(o) || o.HTTPStatus != c.code {
				t.Errorf("%v %q %q %d: %s", o.Status, o.Failure, o.Reason, o.HTTPStatus, o.Message)
			}
			inTime(t, o, check)
			if n := taken.Load(); n > 2<<20 {
				t.Errorf("%d bytes were taken", n)
			}
		})
	}
}
