// Package promptconn reads from the network without standing in line for a core.
//
// A goroutine that waits for the network is, once there is something to read, the last of those
// that are ready to run. In a prober whose core is busy it stands behind thousands of visits for 50
// to 100 ms, several times for one answer, and its stores seem slow. One that waits for a timer
// comes next. So the first moments of waiting for an answer are naps here.
// docs/decisions/0043-answers-of-the-stores-jump-the-queue.md has what was measured.
package promptconn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Naps double from the first to the longest, about twenty milliseconds in all: whoever has heard
// nothing by then waits for the network.
const (
	firstNap   = 50 * time.Microsecond
	longestNap = time.Millisecond
	naps       = 24
)

// Dial connects to a store.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer gives a dial whose connections read promptly, encrypted when there is a configuration for
// that. A handshake ends with ctx or after timeout.
func Dialer(dial Dial, timeout time.Duration, encryption *tls.Config) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		conn = wrap(conn)
		if encryption == nil {
			return conn, nil
		}
		config := encryption.Clone()
		if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
			config.ServerName = host
		}
		encrypted := tls.Client(conn, config)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if err := encrypted.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return encrypted, nil
	}
}

// conn is a TCP connection with another way of waiting.
type conn struct {
	*net.TCPConn
	raw syscall.RawConn
}

// wrap leaves alone what is not TCP.
func wrap(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{tcp, raw}
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	nap := firstNap
	for range naps {
		n, err := c.look(p)
		switch {
		case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
			time.Sleep(nap)
			nap = min(2*nap, longestNap)
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
	return c.TCPConn.Read(p)
}

// look reads what is there, unless the deadline has passed or the connection is closed.
func (c *conn) look(p []byte) (n int, err error) {
	if ended := c.raw.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), p)
		return true
	}); ended != nil {
		return 0, ended
	}
	if err != nil {
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", err)}
	}
	return n, nil
}
