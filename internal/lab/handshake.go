package lab

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"time"
)

const helloPart = 60 // bytes of the server's first flight: the middle of its hello

// handshakeSites are the servers whose handshake goes wrong.
func handshakeSites() map[string]opener {
	return map[string]opener{
		"tls-silent":  conns("https", func(_ *Lab, c *conn) { swallow(c) }),
		"tls-stall":   half(func(c *conn) { swallow(c) }),
		"tls-cut":     half(func(c *conn) { part(c) }),
		"tls-reset":   half(func(c *conn) { reset(c) }),
		"tls-drip":    openDrippingTLS,
		"tls-alert":   conns("https", insteadOfHandshake("\x15\x03\x03\x00\x02\x02\x28")), // fatal, handshake_failure (RFC 8446 §6)
		"tls-garbage": conns("https", insteadOfHandshake("220 this is not TLS, by no means\r\n")),
		"tls-flood":   conns("https", (*Lab).floodHandshake),
	}
}

// conns makes an opener of a function that serves one connection.
func conns(scheme string, handle func(*Lab, *conn)) opener {
	return func(l *Lab, name string) (site, error) {
		return l.serveConns(name, scheme, func(c *conn) { handle(l, c) })
	}
}

// swallow reads until the client leaves or the lab closes.
func swallow(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func insteadOfHandshake(answer string) func(*Lab, *conn) {
	return func(_ *Lab, c *conn) {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, answer)
	}
}

// half begins a handshake as it should be and ends it in the middle.
func half(then func(*conn)) opener {
	return func(l *Lab, name string) (site, error) {
		certificate, err := l.certificate("tls")
		if err != nil {
			return site{}, err
		}
		return l.serveConns(name, "https", func(c *conn) {
			_ = tls.Server(&narrow{Conn: c, left: helloPart}, &tls.Config{Certificates: []tls.Certificate{*certificate}}).Handshake()
			then(c)
		})
	}
}

// narrow lets only so many bytes out.
type narrow struct {
	net.Conn
	left int
}

func (n *narrow) Write(p []byte) (int, error) {
	if n.left == 0 {
		return 0, io.ErrClosedPipe
	}
	sent, err := n.Conn.Write(p[:min(len(p), n.left)])
	n.left -= sent
	if err == nil && sent < len(p) {
		err = io.ErrShortWrite
	}
	return sent, err
}

func openDrippingTLS(l *Lab, name string) (site, error) {
	certificate, err := l.certificate("tls")
	if err != nil {
		return site{}, err
	}
	return l.serveConns(name, "https", func(c *conn) {
		slow := &dripping{Conn: c, lab: l, every: 50 * time.Millisecond}
		_ = tls.Server(slow, &tls.Config{Certificates: []tls.Certificate{*certificate}}).Handshake()
	})
}

// dripping writes one byte at a time.
type dripping struct {
	net.Conn
	lab   *Lab
	every time.Duration
}

func (d *dripping) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
		if !d.lab.wait(context.Background(), d.every) {
			return i, net.ErrClosed
		}
	}
	return len(p), nil
}

// floodHandshake promises a server hello of 16 MB, and keeps on past it.
func (l *Lab) floodHandshake(c *conn) {
	_, _ = c.Read(make([]byte, 4096))
	const size = 16 << 10
	record := append([]byte{0x16, 3, 3, size >> 8, 0}, make([]byte, size)...)
	copy(record[5:], "\x02\xff\xff\xff")
	for {
		if _, err := c.Write(record); err != nil {
			return
		}
		clear(record[5:9])
	}
}
