package lab

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestBlackHole holds connections that wait for an answer, with and without TLS,
// and counts the goroutines they cost.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	const many = 50
	for _, name := range []string{"black-hole", "black-hole-tls"} {
		var last net.Conn
		for range many {
			if last = dial(t, l, name); name == "black-hole-tls" {
				secure := tls.Client(last, &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1"})
				if err := secure.Handshake(); err != nil {
					t.Fatal(err)
				}
				last = secure
			}
			if _, err := io.WriteString(last, get("/ok")); err != nil {
				t.Fatal(err)
			}
		}
		_ = last.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if n, err := last.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		await(t, l, name, func() bool { return l.ConnectionsTo(name) == many })
	}
	all := make([]byte, 16<<20)
	await(t, l, "goroutines to end", func() bool {
		return strings.Count(string(all[:runtime.Stack(all, true)]), "openVoid.func") <= 8 // two that accept, and those of other tests
	})
}
