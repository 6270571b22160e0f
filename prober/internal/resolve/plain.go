package resolve

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// plainTransport asks over UDP, from a port of the kernel's choosing for every question
// (RFC 5452 §9.2), and over TCP when the answer is cut short.
type plainTransport struct {
	address string
	dialer  net.Dialer
	buffers sync.Pool // of *[maxMessage + 1]byte
}

func (t *plainTransport) exchange(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	m, err := t.overUDP(ctx, query)
	if err != nil || !m.Truncated {
		return m, err
	}
	return t.overTCP(ctx, query)
}

func (*plainTransport) close() {}

// overUDP passes over what is no answer to the query: anybody may have sent it.
func (t *plainTransport) overUDP(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	packed, err := query.Pack()
	if err != nil {
		return nil, err
	}
	conn, err := t.dialer.DialContext(ctx, "udp", t.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer bound(ctx, conn)()
	if _, err := conn.Write(packed); err != nil {
		return nil, err
	}
	buffer, ok := t.buffers.Get().(*[maxMessage + 1]byte)
	if !ok {
		buffer = new([maxMessage + 1]byte)
	}
	defer t.buffers.Put(buffer)
	var strange bool
	for {
		n, err := conn.Read(buffer[:])
		if err != nil && strange {
			return nil, errMalformed
		}
		if err != nil {
			return nil, err
		}
		var m dns.Msg
		err = m.Unpack(buffer[:n])
		switch {
		case !belongs(query, &m):
			strange = true
		case m.Truncated:
			return &m, nil // whatever else is in it
		case n > maxMessage:
			return nil, errTooLarge
		case err != nil:
			strange = true
		default:
			return &m, nil
		}
	}
}

func (t *plainTransport) overTCP(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	conn, err := t.dialer.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, err
	}
	s := newStream(conn)
	defer s.close()
	return s.exchange(ctx, query)
}

// bound ends what conn is doing with ctx. The function it gives ends the watch.
func bound(ctx context.Context, conn net.Conn) (release func() bool) {
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	return context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
}
