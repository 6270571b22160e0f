package lab

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// maxPaths bounds the counters a client can make the lab keep.
const maxPaths = 200_000

// tally counts what happened on one path.
type tally struct{ requests, sent atomic.Int64 }

// Requests is how many HTTP requests all servers have seen.
func (l *Lab) Requests() int64 { return l.requests.Load() }

// RequestsTo is how many requests a path has seen, on all servers; or how often
// a DNS name was asked for, written small and without the last dot.
func (l *Lab) RequestsTo(path string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tallies[path]; t != nil {
		return t.requests.Load()
	}
	return 0
}

// SentTo is how many bytes were handed to the network in answers to a path,
// headers and TLS included; what a client's kernel took and the client did not
// read is among them. Bytes sent before there is a path, and all of a server that
// knows no paths, are counted under the server's name. The requests of an HTTP/2
// connection share it: there the count is that of the latest path.
func (l *Lab) SentTo(path string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tallies[path]; t != nil {
		return t.sent.Load()
	}
	return 0
}

// Connections is how many connections all servers have accepted.
func (l *Lab) Connections() int64 { return l.connections.Load() }

// ConnectionsTo is how many connections the server of that name has accepted.
func (l *Lab) ConnectionsTo(name string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, known := l.sites[name]; known && s.accepted != nil {
		return s.accepted.Load()
	}
	return 0
}

func (l *Lab) tally(path string) *tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tallyLocked(path)
}

func (l *Lab) tallyLocked(path string) *tally {
	t := l.tallies[path]
	if t == nil {
		if len(l.tallies) >= maxPaths {
			return &l.others
		}
		t = &tally{}
		l.tallies[path] = t
	}
	return t
}

// ServeHTTP counts the request and sends it to its path, also for a server that the lab has
// not. Close waits for it.
func (l *Lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.requests.Add(1)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		panic(http.ErrAbortHandler) // close without an answer
	}
	l.serving.Add(1)
	t := l.tallyLocked(r.URL.Path)
	l.mu.Unlock()
	defer l.serving.Done()
	t.requests.Add(1)
	if c := connOf(r); c != nil {
		c.at.Store(t)
	}
	l.mux.ServeHTTP(w, r)
}

// listener counts what it accepts.
type listener struct {
	*net.TCPListener
	lab      *Lab
	first    *tally // of what is sent before there is a path
	accepted *atomic.Int64
}

func (l *Lab) listen(name, addr string) (*listener, error) {
	inner, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &listener{TCPListener: inner.(*net.TCPListener), lab: l, first: l.tally(name), accepted: &atomic.Int64{}}, nil
}

// Accept implements net.Listener.
func (s *listener) Accept() (net.Conn, error) {
	inner, err := s.AcceptTCP()
	if err != nil {
		return nil, err
	}
	s.accepted.Add(1)
	s.lab.connections.Add(1)
	c := &conn{TCPConn: inner}
	c.at.Store(s.first)
	return c, nil
}

// conn counts what is written to it.
type conn struct {
	*net.TCPConn
	at atomic.Pointer[tally]
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	c.at.Load().sent.Add(int64(n))
	return n, err
}

// ReadFrom keeps io.Copy from writing past the counter.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c}, r)
}

type connKey struct{}

// withConn lets a handler find its connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, bare(c))
}

func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// bare gives the connection below TLS.
func bare(c net.Conn) net.Conn {
	if over, wrapped := c.(interface{ NetConn() net.Conn }); wrapped {
		return over.NetConn()
	}
	return c
}
