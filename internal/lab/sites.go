package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// site is a server that runs.
type site struct {
	url, addr string
	accepted  *atomic.Int64
}

// opener starts the server of that name.
type opener func(l *Lab, name string) (site, error)

func openers() map[string]opener {
	all := map[string]opener{}
	for _, some := range []map[string]opener{certificateSites(), handshakeSites(), tcpSites(), mailSites(), dnsSites(), voidSites()} {
		maps.Copy(all, some)
	}
	all["h2-hostile"], all["h2c-hostile"] = openHostile, openHostile
	return all
}

// Names lists the servers that At knows, but for expires-in-<duration>.
func Names() []string {
	return slices.Sorted(maps.Keys(openers()))
}

// At gives the URL of a server, without a trailing slash, and starts it first if
// it does not run. Servers that are no HTTP have the scheme tcp, smtp, imap, ftp,
// dns or dot.
func (l *Lab) At(name string) (string, error) {
	s, err := l.site(name)
	return s.url, err
}

// Addr gives the address of a server, as At gives its URL.
func (l *Lab) Addr(name string) (string, error) {
	s, err := l.site(name)
	return s.addr, err
}

func (l *Lab) site(name string) (site, error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	l.mu.Lock()
	s, runs := l.sites[name]
	closed := l.closed
	l.mu.Unlock()
	switch {
	case runs:
		return s, nil
	case closed:
		return site{}, fmt.Errorf("lab server %s: %w", name, errClosed)
	}
	open := openers()[name]
	if strings.HasPrefix(name, expiresIn) {
		open = openCertificate
	}
	if open == nil {
		return site{}, fmt.Errorf("lab server %q: there is no such server", name)
	}
	s, err := open(l, name)
	if err != nil {
		return site{}, fmt.Errorf("lab server %s: %w", name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sites[name] = s
	return s, nil
}

func (l *Lab) running(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sites[name].url
}

// free is the address of some free port.
func (l *Lab) free() string { return net.JoinHostPort(l.host, "0") }

// protocols are the HTTP versions of a server.
func protocols(set ...func(*http.Protocols, bool)) *http.Protocols {
	p := &http.Protocols{}
	for _, f := range set {
		f(p, true)
	}
	return p
}

func http1() *http.Protocols { return protocols((*http.Protocols).SetHTTP1) }

// serveHTTP starts a server of the paths, without TLS if config is nil.
func (l *Lab) serveHTTP(name, addr string, config *tls.Config, versions *http.Protocols) (site, error) {
	listener, err := l.listen(name, addr)
	if err != nil {
		return site{}, err
	}
	server := &http.Server{
		Handler: l, TLSConfig: config, Protocols: versions, ConnContext: withConn,
		ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // probes that refuse a certificate are its purpose
	}
	l.own(server)
	s := site{url: "http://" + listener.Addr().String(), addr: listener.Addr().String(), accepted: listener.accepted}
	serve := func() { _ = server.Serve(listener) }
	if config != nil {
		s.url = "https://" + s.addr
		serve = func() { _ = server.ServeTLS(listener, "", "") }
	}
	l.serving.Go(serve)
	return s, nil
}

// serveConns starts a server that hands each connection to handle and closes it
// in good order when handle returns.
func (l *Lab) serveConns(name, scheme string, handle func(*conn)) (site, error) {
	listener, err := l.listen(name, l.free())
	if err != nil {
		return site{}, err
	}
	l.own(listener)
	l.serving.Go(func() {
		for {
			c, err := l.accept(listener)
			if err != nil {
				return
			}
			l.serving.Go(func() {
				defer c.Close()
				if !l.hold(c) {
					return
				}
				defer l.release(c)
				handle(c)
				part(c)
			})
		}
	})
	addr := listener.Addr().String()
	return site{url: scheme + "://" + addr, addr: addr, accepted: listener.accepted}, nil
}

// accept is Accept, for as long as the listener is open: the process may be out of
// descriptors for a while.
func (l *Lab) accept(from *listener) (*conn, error) {
	for {
		c, err := from.Accept()
		if err == nil {
			return c.(*conn), nil
		}
		if errors.Is(err, net.ErrClosed) || !l.wait(context.Background(), 10*time.Millisecond) {
			return nil, err
		}
	}
}

// part ends a connection without losing what was sent: closing while something
// is unread would reset it (RFC 9112 §9.6).
func part(c net.Conn) {
	if half, can := c.(interface{ CloseWrite() error }); can && half.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(io.Discard, c)
	}
	_ = c.Close()
}

// reset ends a connection by a TCP reset.
func reset(c net.Conn) {
	c = bare(c)
	if tcp, is := c.(interface{ SetLinger(int) error }); is {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
