package resolve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"github.com/miekg/dns"
)

const maxLanes = 8

// tlsTransport keeps connections to one server open (RFC 7858 §3.4). A question takes the
// connection with the fewest questions on it, so that one is used as long as one will do:
// several are needed because there are servers that answer one question after another, and
// a name that takes them long would hold up the rest.
type tlsTransport struct {
	address string
	dialer  tls.Dialer

	mu     sync.Mutex
	load   [maxLanes]int
	lanes  [maxLanes]lane
	closed bool
}

// lane is a place for one connection.
type lane struct {
	stream  *stream
	dialing chan struct{} // closed when dialling has ended; nil: nobody dials
}

func newTLSTransport(address string, config *tls.Config) *tlsTransport {
	return &tlsTransport{address: address, dialer: tls.Dialer{NetDialer: &net.Dialer{}, Config: config}}
}

func (t *tlsTransport) exchange(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	at := t.enter()
	defer t.leave(at)
	for again := false; ; again = true {
		s, used, err := t.connection(ctx, at)
		if err != nil {
			return nil, err
		}
		m, err := s.exchange(ctx, query)
		if !errors.Is(err, errLost) || !used || again { // servers close what is idle, without a word
			return m, err
		}
	}
}

func (t *tlsTransport) enter() (at int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, load := range t.load {
		if load < t.load[at] {
			at = i
		}
	}
	t.load[at]++
	return at
}

func (t *tlsTransport) leave(at int) {
	t.mu.Lock()
	t.load[at]--
	t.mu.Unlock()
}

// connection gives the lane's connection, which one caller dials for all. used says that
// it was open before.
func (t *tlsTransport) connection(ctx context.Context, at int) (s *stream, used bool, err error) {
	for l := &t.lanes[at]; ; {
		t.mu.Lock()
		if t.closed {
			t.mu.Unlock()
			return nil, false, net.ErrClosed
		}
		if l.stream != nil && l.stream.alive() {
			defer t.mu.Unlock()
			return l.stream, true, nil
		}
		if dialing := l.dialing; dialing != nil {
			t.mu.Unlock()
			select {
			case <-dialing:
				continue
			case <-ctx.Done():
				return nil, false, ctx.Err()
			}
		}
		l.dialing = make(chan struct{})
		t.mu.Unlock()
		s, err = t.dial(ctx, l)
		return s, false, err
	}
}

func (t *tlsTransport) dial(ctx context.Context, l *lane) (*stream, error) {
	conn, err := t.dialer.DialContext(ctx, "tcp", t.address)
	t.mu.Lock()
	defer t.mu.Unlock()
	close(l.dialing)
	l.dialing = nil
	if err != nil {
		return nil, err
	}
	if t.closed {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	if l.stream != nil {
		l.stream.close() // it is lost: its reader has nothing left to do
	}
	l.stream = newStream(conn)
	return l.stream, nil
}

func (t *tlsTransport) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for i := range t.lanes {
		if s := t.lanes[i].stream; s != nil {
			s.close()
		}
	}
}
