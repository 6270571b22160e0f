// Package lab is a target server whose behaviour is in the path: what the demo
// watches, what load is run against, and what the engine's tests visit.
//
//	/ok, /n/<anything>        200 "ok"
//	/status/503               that status
//	/slow/800ms               200 after that long
//	/flap/30s                 200 and 503 in turn, changing every 30 s of the clock
//	/hang                     no answer, ever
//	/drip/10/100ms            200, then ten bytes, one every 100 ms
//	/body/N                   200 with N bytes
//	/gzip-bomb                a small gzip body that decodes to 256 MiB, asked for or not
//	/headers/N                200 with at least N bytes of headers
//	/redirect/N               N redirects, then 200
//	/redirect-to?url=…        one redirect to there
//	/reset                    the connection is reset instead of an answer
//	/close                    the connection is closed instead of an answer
//	/cut                      the connection is closed in the middle of the body
//	/malformed                bytes that are not HTTP
//
// Four listeners serve the same paths: plain, TLS with a certificate of the
// lab's own authority, and two whose certificate is expired or names another host.
package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Lab is a running target server.
type Lab struct {
	urls    [4]string
	roots   *x509.CertPool
	servers []*http.Server
	serving sync.WaitGroup
	closing chan struct{}
	total   atomic.Int64
	mu      sync.Mutex
	byPath  map[string]int64
}

const (
	plain = iota
	secure
	expired
	wrongName
)

// maxPaths bounds the counters a client can make the lab keep.
const maxPaths = 200_000

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
	authority, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("lab certificates: %w", err)
	}
	l := &Lab{roots: authority.pool(), byPath: map[string]int64{}, closing: make(chan struct{})}
	if err := l.serve(plain, nil, addr); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	now := time.Now()
	for _, server := range []struct {
		at       int
		name     string
		from, to time.Time
	}{
		{secure, host, now.Add(-time.Hour), now.AddDate(1, 0, 0)},
		{expired, host, now.AddDate(-1, 0, 0), now.AddDate(0, 0, -3)},
		{wrongName, "elsewhere.invalid", now.Add(-time.Hour), now.AddDate(1, 0, 0)},
	} {
		certificate, err := authority.issue(server.name, server.from, server.to)
		if err == nil {
			err = l.serve(server.at, certificate, net.JoinHostPort(host, "0"))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lab: %w", err), l.Close())
		}
	}
	return l, nil
}

// serve starts server i: plain without a certificate, else on a free port.
func (l *Lab) serve(i int, certificate *tls.Certificate, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	l.urls[i] = "http://" + listener.Addr().String()
	if certificate != nil {
		l.urls[i] = "https://" + listener.Addr().String()
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"http/1.1"}})
	}
	server := &http.Server{
		Handler: l.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 30 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // probes that refuse a certificate are its purpose
	}
	l.servers = append(l.servers, server)
	l.serving.Go(func() { _ = server.Serve(listener) })
	return nil
}

// URL is the plain server, without a trailing slash.
func (l *Lab) URL() string { return l.urls[plain] }

// TLSURL is the server whose certificate CertPool vouches for.
func (l *Lab) TLSURL() string { return l.urls[secure] }

// ExpiredURL is the server whose certificate ran out three days before the start.
func (l *Lab) ExpiredURL() string { return l.urls[expired] }

// WrongNameURL is the server whose certificate is for another host.
func (l *Lab) WrongNameURL() string { return l.urls[wrongName] }

// CertPool holds the authority that signed the lab's certificates.
func (l *Lab) CertPool() *x509.CertPool { return l.roots }

// Requests is how many requests all servers have seen.
func (l *Lab) Requests() int64 { return l.total.Load() }

// RequestsTo is how many requests a path has seen, on all servers.
func (l *Lab) RequestsTo(path string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byPath[path]
}

// Close ends every server and open connection.
func (l *Lab) Close() error {
	select {
	case <-l.closing:
		return nil
	default:
		close(l.closing)
	}
	var errs []error
	for _, server := range l.servers {
		errs = append(errs, server.Close())
	}
	l.serving.Wait()
	return errors.Join(errs...)
}

func (l *Lab) count(path string) {
	l.total.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.byPath[path]; known || len(l.byPath) < maxPaths {
		l.byPath[path]++
	}
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
