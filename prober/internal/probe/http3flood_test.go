package probe

import (
	"context"
	"crypto/tls"
	"net"
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

// serve3 speaks just enough HTTP/3 to be asked by one client, whom it answers by hand. What
// it speaks is called protocol.
func serve3(t *testing.T, certificate tls.Certificate, protocol string, answer func(*quic.Stream)) (url string) {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	at, err := quic.Listen(packets, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}}, &quic.Config{MaxIdleTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() })
	go func() {
		conn, err := at.Accept(context.Background())
		if err != nil {
			return
		}
		if control, err := conn.OpenUniStream(); err == nil {
			_, _ = control.Write(append([]byte{0}, frame3(4, nil)...)) // settings
		}
		if stream, err := conn.AcceptStream(context.Background()); err == nil {
			answer(stream)
		}
	}()
	return "https://" + packets.LocalAddr().String()
}

// startFlood3 begins an answer, and then sends frames that mean nothing (RFC 9114 §9) until
// nobody takes more. It says how many bytes were taken.
func startFlood3(t *testing.T, certificate tls.Certificate) (url string, taken <-chan int) {
	t.Helper()
	total := make(chan int, 1)
	url = serve3(t, certificate, "h3", func(stream *quic.Stream) {
		n, err := stream.Write(frame3(1, []byte{0, 0, 0xd9})) // :status 200 (RFC 9204 §4.5.2, Appendix A)
		nothing := frame3(0x21, make([]byte, 8<<10))
		sum := n
		for err == nil {
			n, err = stream.Write(nothing)
			sum += n
		}
		total <- sum
	})
	return url, total
}

// What comes over HTTP/3 is bounded on the wire, whatever it is.
func TestHTTP3FloodIsBounded(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	url, taken := startFlood3(t, certificateOf(t, l, "tls"))
	check := checkOf(url)
	check.Timeout = 3 * time.Second
	check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}.Text()
	verify(t, New(options(l)).Look(t.Context(), check), uptime.FailureTooLarge, 200)
	if n := <-taken; n > 2<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}
