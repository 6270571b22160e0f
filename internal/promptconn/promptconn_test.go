package promptconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pair is both ends of a connection over loopback, the first read promptly.
func pair(t *testing.T) (prompt, other net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	prompt, err = Dialer((&net.Dialer{}).DialContext, time.Minute, nil)(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if other, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = prompt.Close(); _ = other.Close() })
	return prompt, other
}

func TestReadsAsAnyConnection(t *testing.T) {
	t.Parallel()
	prompt, other := pair(t)
	buffer := make([]byte, 8)
	if n, err := prompt.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing into nothing: %d %v", n, err)
	}
	for _, pause := range []time.Duration{0, time.Millisecond, 60 * time.Millisecond} { // the last is longer than all naps
		time.AfterFunc(pause, func() { _, _ = other.Write([]byte("answer")) })
		if n, err := io.ReadFull(prompt, buffer[:6]); err != nil || string(buffer[:n]) != "answer" {
			t.Fatalf("after %v: %q %v", pause, buffer[:n], err)
		}
	}
	for _, limit := range []time.Duration{-time.Second, 5 * time.Millisecond, 60 * time.Millisecond} {
		_ = prompt.SetReadDeadline(time.Now().Add(limit))
		if n, err := prompt.Read(buffer); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("deadline in %v: %d %v", limit, n, err)
		}
	}
	_ = prompt.SetReadDeadline(time.Time{})
	_ = other.Close()
	if n, err := prompt.Read(buffer); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d %v", n, err)
	}
}

func TestBrokenAndClosed(t *testing.T) {
	t.Parallel()
	prompt, other := pair(t)
	_ = other.(*net.TCPConn).SetLinger(0)
	_ = other.Close() // resets it
	var failure *net.OpError
	if n, err := prompt.Read(make([]byte, 8)); n != 0 || !errors.As(err, &failure) || failure.Op != "read" {
		t.Errorf("reset: %d %v", n, err)
	}
	prompt, _ = pair(t)
	time.AfterFunc(2*time.Millisecond, func() { _ = prompt.Close() })
	if n, err := prompt.Read(make([]byte, 8)); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed while it is read: %d %v", n, err)
	}
}

func TestEncrypted(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	dial := func(config *tls.Config) error {
		conn, err := Dialer((&net.Dialer{}).DialContext, time.Minute, config)(t.Context(), "tcp", server.Listener.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	if err := dial(&tls.Config{RootCAs: roots}); err != nil {
		t.Error(err)
	}
	if err := dial(&tls.Config{RootCAs: roots, ServerName: "another.test"}); err == nil {
		t.Error("a certificate for another name was accepted")
	}
	if err := dial(&tls.Config{}); err == nil {
		t.Error("an unknown authority was accepted")
	}
}

// A server that accepts and says nothing ends the handshake in time.
func TestSilentHandshake(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, err = Dialer((&net.Dialer{}).DialContext, 50*time.Millisecond, &tls.Config{})(t.Context(), "tcp", listener.Addr().String())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Behind thousands that are ready to run an answer is read after some of them had their turn, not
// after all. (Not parallel: there is one line.)
func TestReadIsPromptBehindALongLine(t *testing.T) {
	const line, tries = 3000, 15
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var over atomic.Bool
	var ready sync.WaitGroup
	var turns atomic.Int64
	for range line {
		ready.Go(func() {
			for !over.Load() {
				turns.Add(1)
				runtime.Gosched()
			}
		})
	}
	waited := func(read func(c *conn, p []byte) (int, error)) int64 {
		var list []int64
		for range tries {
			end, other := pair(t)
			var answered atomic.Int64
			time.AfterFunc(2*time.Millisecond, func() {
				answered.Store(turns.Load())
				_, _ = other.Write([]byte{1})
			})
			if _, err := read(end.(*conn), make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			list = append(list, turns.Load()-answered.Load())
		}
		slices.Sort(list)
		return list[tries/2]
	}
	prompt := waited((*conn).Read)
	plain := waited(func(c *conn, p []byte) (int, error) { return c.TCPConn.Read(p) })
	over.Store(true)
	ready.Wait()
	t.Logf("behind a line of %d: %d turns of others, without naps %d", line, prompt, plain)
	if 2*prompt > plain {
		t.Errorf("%d turns of others before an answer is read, without naps %d", prompt, plain)
	}
}
