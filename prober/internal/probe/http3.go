package probe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Over HTTP/3 (RFC 9114) connecting and securing are one handshake: its time is in the
// phase tls, and connect is 0.

// hop3 makes one request over HTTP/3.
func (h *httpVisitor) hop3(ctx context.Context, w *wire, r *request, s *sighting, hop *uptime.Hop) (*http.Response, trouble) {
	ctx, cancel := s.within(ctx)
	defer cancel()
	to := endpoint{host: r.at.host, ip: r.at.ip, port: r.at.port, family: h.family}
	addrs, bad := h.dialer.lookup(ctx, to, s, hop)
	if !bad.none() {
		return nil, bad
	}
	mark := time.Now()
	m := &packetMeter{left: 2*(h.limit+maxHeaders+window) + window} // packets have heads, and some come twice
	conn, closeAll, err := h.dialer.quic(ctx, addrs, r, s, hop, m)
	lap(&hop.Phases.TLS, &mark)
	if err != nil {
		if rejected, ok := asRejected(err); ok {
			s.sawChain(rejected.UnverifiedCertificates)
		}
		return nil, quicTrouble(err)
	}
	defer closeAll()
	state := conn.ConnectionState().TLS
	s.sawTLS(&state)
	transport := &http3.Transport{DisableCompression: true, MaxResponseHeaderBytes: maxHeaders}
	client := transport.NewClientConn(conn)
	asked, err := h.request2(ctx, r)
	if err != nil {
		return nil, unknown(uptime.ReasonInternal, "the request cannot be sent over HTTP/3")
	}
	response, err := client.RoundTrip(asked)
	lap(&hop.Phases.Wait, &mark)
	if err != nil {
		return nil, m.read(err, "waiting for an answer")
	}
	defer lap(&hop.Phases.Transfer, &mark)
	defer response.Body.Close()
	s.answered(response)
	s.Protocol = "HTTP/3"
	hop.Status, hop.Protocol = response.StatusCode, s.Protocol
	if h.redirects >= 0 && isRedirect(response) {
		return response, trouble{}
	}
	return response, h.read(w, m, response, s)
}

// quic makes a connection to the first address that takes one, and else ends in the error
// that says most, as connect does. Each was judged by the guard before a packet goes there.
func (d *dialer) quic(ctx context.Context, addrs []netip.Addr, r *request, s *sighting, hop *uptime.Hop, m *packetMeter) (*quic.Conn, func(), error) {
	config := r.config.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	limits := &quic.Config{ // what may come before it is asked for
		InitialStreamReceiveWindow: window, MaxStreamReceiveWindow: window, InitialConnectionReceiveWindow: 2 * window, MaxConnectionReceiveWindow: 2 * window,
		MaxIncomingStreams: -1, MaxIncomingUniStreams: 8, HandshakeIdleTimeout: time.Until(s.deadline),
	}
	var worst error
	for i, addr := range addrs {
		limited, cancel := context.WithTimeout(ctx, max(time.Until(s.deadline)/time.Duration(len(addrs)-i), time.Millisecond))
		conn, closeAll, err := d.quicTo(limited, m, netip.AddrPortFrom(addr.Unmap(), r.at.port), func(t *quic.Transport, to *net.UDPAddr) (*quic.Conn, error) {
			return t.Dial(limited, to, config, limits)
		})
		cancel()
		over := err == nil || refusedTLS(err)
		if over || worst == nil || weight(err) > weight(worst) {
			worst, hop.Address, s.Address = err, addr.Unmap(), addr.Unmap()
		}
		if over || ctx.Err() != nil {
			return conn, closeAll, worst
		}
	}
	return nil, nil, worst
}

// refusedTLS says whether somebody was there, and TLS was not agreed on: over TCP the
// connection is made by then, and no other address is tried.
func refusedTLS(err error) bool {
	transport, ok := errors.AsType[*quic.TransportError](err)
	return ok && transport.ErrorCode.IsCryptoError()
}

func (d *dialer) quicTo(ctx context.Context, m *packetMeter, to netip.AddrPort, dial func(*quic.Transport, *net.UDPAddr) (*quic.Conn, error)) (*quic.Conn, func(), error) {
	if !d.guard.Allows(to.Addr()) {
		return nil, nil, guard.ErrBlocked
	}
	socket, err := d.packets(ctx)
	if err != nil {
		return nil, nil, err
	}
	transport := &quic.Transport{Conn: meteredPackets{socket, m}}
	conn, err := dial(transport, net.UDPAddrFromAddrPort(to))
	if err != nil {
		_ = transport.Close()
		_ = socket.Close()
		return nil, nil, err
	}
	return conn, func() {
		_ = conn.CloseWithError(0, "")
		_ = transport.Close()
		_ = socket.Close()
	}, nil
}

// quicTrouble reads why no connection came about. Over UDP a closed port is as silent as
// a lost packet.
func quicTrouble(err error) trouble {
	_, idle := errors.AsType[*quic.IdleTimeoutError](err)
	_, slow := errors.AsType[*quic.HandshakeTimeoutError](err)
	switch {
	case errors.Is(err, guard.ErrBlocked):
		return unknown(uptime.ReasonBlockedAddress, guard.ErrBlocked.Error())
	case idle, slow, isTimeout(err):
		return failed(uptime.FailureConnectTimeout, "no HTTP/3 connection within the timeout")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return dialTrouble(op)
	}
	return handshakeTrouble(err)
}

func trouble3(err error, doing string) trouble {
	_, idle := errors.AsType[*quic.IdleTimeoutError](err)
	stream, reset := errors.AsType[*http3.Error](err)
	switch {
	case idle, reset && !stream.Remote && stream.ErrorCode == http3.ErrCodeRequestCanceled: // by us, at the deadline
		return failed(uptime.FailureTimeout, "timed out "+doing)
	case reset && stream.Remote:
		return failed(uptime.FailureReset, "stream reset "+doing)
	case strings.Contains(err.Error(), "HEADERS frame too large"), strings.Contains(err.Error(), "headers too large"): // as sent, as unpacked
		return failed(uptime.FailureTooLarge, errHeadersTooLarge.Error())
	case reset && stream.ErrorCode == http3.ErrCodeFrameError:
		return failed(uptime.FailureProtocol, "broken HTTP/3 "+doing)
	}
	if bad := answerTrouble(err, doing); bad.failure != uptime.FailureProtocol {
		return bad
	}
	return failed(uptime.FailureProtocol, "broken HTTP/3 "+doing)
}
