package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var errClosed = errors.New("the lab is closed")

// Lab is a running target server.
type Lab struct {
	host      string
	authority *authority
	mux       *http.ServeMux
	serving   sync.WaitGroup
	closing   chan struct{}

	opening sync.Mutex // one server is started at a time
	mu      sync.Mutex // guards what follows
	closed  bool
	sites   map[string]site
	servers []io.Closer
	conns   map[net.Conn]struct{} // that no server closes
	seen    map[string]int64      // DNS questions, for rebinding
	tallies map[string]*tally
	others  tally

	requests, connections atomic.Int64
}

// Start serves plain HTTP on addr ("127.0.0.1:0" picks a port), and TLS on free
// ports of the same host.
func Start(addr string) (*Lab, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("lab address: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	authority, err := newAuthority("Probefleet lab authority", nil)
	if err != nil {
		return nil, fmt.Errorf("lab certificates: %w", err)
	}
	l := &Lab{
		host: host, authority: authority, closing: make(chan struct{}), sites: map[string]site{},
		conns: map[net.Conn]struct{}{}, seen: map[string]int64{}, tallies: map[string]*tally{},
	}
	l.mux = l.paths()
	plain, err := l.serveHTTP("plain", addr, nil, http1())
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	l.sites["plain"] = plain
	for _, name := range []string{"tls", "expired", "wrong-name"} {
		if _, err := l.site(name); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// URL is the plain server, without a trailing slash.
func (l *Lab) URL() string { return l.running("plain") }

// TLSURL is the server whose certificate CertPool vouches for.
func (l *Lab) TLSURL() string { return l.running("tls") }

// ExpiredURL is the server whose certificate ran out three days before the start.
func (l *Lab) ExpiredURL() string { return l.running("expired") }

// WrongNameURL is the server whose certificate is for another host.
func (l *Lab) WrongNameURL() string { return l.running("wrong-name") }

// CertPool holds the authority that signed the lab's certificates.
func (l *Lab) CertPool() *x509.CertPool { return l.authority.pool() }

// Authority is its certificate, as PEM, for programs that are not this one.
func (l *Lab) Authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.authority.certificate.Raw})
}

// Certificate is what the server "tls" shows, for servers of other protocols.
func (l *Lab) Certificate() (tls.Certificate, error) { return l.CertificateOf("tls") }

// CertificateOf is what the server of that name shows, signed anew.
func (l *Lab) CertificateOf(name string) (tls.Certificate, error) {
	certificate, err := l.certificate(name)
	if err != nil {
		return tls.Certificate{}, err
	}
	return *certificate, nil
}

// Close ends every server and open connection.
func (l *Lab) Close() error {
	l.opening.Lock()
	defer l.opening.Unlock()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.closing)
	servers := l.servers
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.mu.Unlock()
	var errs []error
	for _, server := range servers {
		errs = append(errs, server.Close())
	}
	l.serving.Wait()
	return errors.Join(errs...)
}

// own closes the server with the lab.
func (l *Lab) own(server io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers = append(l.servers, server)
}

// hold closes a connection with the lab, unless it was released before. It is
// false when the lab is closed already.
func (l *Lab) hold(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.conns[conn] = struct{}{}
	}
	return !l.closed
}

func (l *Lab) release(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
}

// wait sleeps unless the client leaves or the lab closes first.
func (l *Lab) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-l.closing:
	}
	return false
}
