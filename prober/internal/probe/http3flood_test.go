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

// startFlood3 speaks just enough HTTP/3 to begin an answer, and then sends frames that mean
// nothing (RFC 9114 §9) until nobody takes more. It says how many bytes were taken.
func startFlood3(t *testing.T, certificate tls.Certificate) (url string, taken <-chan int) {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	at, err := quic.Listen(packets, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h3"}}, &quic.Config{MaxIdleTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() })
	total := make(chan int, 1)
	go func() {
		conn, err := at.Accept(context.Background())
		if err != nil {
			return
		}
		if control, err := conn.OpenUniStream(); err == nil {
			_, _ = control.Write(append([]byte{0}, frame3(4, nil)...)) // settings
		}
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return
		}
		n, err := stream.Write(frame3(1, []byte{0, 0, 0xd9})) // :status 200 (RFC 9204 §4.5.2, Appendix A)
		nothing := frame3(0x21, make([]byte, 8<<10))
		sum := n
		for err == nil {
			n, err = stream.Write(nothing)
			sum += n
		}
		total <- sum
	}()
	return "https://" + packets.LocalAddr().String(), total
}

// What comes over HTTP/3 is bounded on the wire, whatever it is.
func TestHTTP3FloodIsBounded(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	certificate, err := l.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	url, taken := startFlood3(t, certificate)
	check := checkOf(url)
	check.Timeout = 3 * time.Second
	check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}.Text()
	verify(t, New(options(l)).Look(t.Context(), check), uptime.FailureTooLarge, 200)
	if n := <-taken; n > 2<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}
