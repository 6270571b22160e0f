package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// Numbers of protocols (RFC 792, RFC 4443).
const (
	protocolICMP   = 1
	protocolICMPv6 = 58
)

// maxAnswer is how much of an answer is read: ours are far smaller.
const maxAnswer = 256

// errNoPing says what the operator must allow.
var errNoPing = errors.New("this prober may not send echo requests: let its group in by the sysctl net.ipv4.ping_group_range, or give it the capability CAP_NET_RAW")

// echo is one exchange of echo requests and answers (RFC 792, RFC 4443 §4.1). The kernel may
// put its own identifier in: the token tells which answers are ours.
type echo struct {
	conn     echoConn
	v6       bool
	token    [16]byte
	wait     time.Duration // for an answer, before it is asked again
	deadline time.Time
	sent     [maxEchoes]time.Time
	in       [maxAnswer]byte
}

// run gives the round trip of the request that is answered first. It asks again after a
// while, and ends in errSilent at the deadline, or in what the network said last.
func (e *echo) run(ctx context.Context) (time.Duration, error) {
	end := errSilent
	for i := range e.sent {
		e.sent[i] = time.Now()
		if err := e.ask(i); err != nil {
			if i == 0 && !errors.Is(err, syscall.ENOBUFS) { // of ours, or of the way there
				return 0, err
			}
			end = err
		}
		until := e.deadline
		if next := time.Now().Add(e.wait); i < maxEchoes-1 && next.Before(until) {
			until = next
		}
		trip, err := e.hear(ctx, until)
		switch {
		case err == nil:
			return trip, nil
		case ctx.Err() != nil || !time.Now().Before(e.deadline):
			return 0, end
		case !isTimeout(err): // an ICMP error that the kernel passed on
			if end = err; !pause(ctx, time.Until(until)) {
				return 0, end
			}
		}
	}
	return 0, end
}

func (e *echo) ask(i int) error {
	message := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: e.id(), Seq: i + 1, Data: e.token[:]}}
	if e.v6 {
		message.Type = ipv6.ICMPTypeEchoRequest
	}
	raw, err := message.Marshal(nil) // the kernel sums ICMPv6 up
	if err != nil {
		return err
	}
	_, err = e.conn.Write(raw)
	return err
}

func (e *echo) id() int { return int(binary.BigEndian.Uint16(e.token[:])) }

// hear waits for an answer to any of the requests.
func (e *echo) hear(ctx context.Context, until time.Time) (time.Duration, error) {
	if err := e.conn.SetReadDeadline(until); err != nil {
		return 0, err
	}
	if ctx.Err() != nil { // which set another deadline before
		return 0, ctx.Err()
	}
	for {
		n, err := e.conn.Read(e.in[:])
		if err != nil {
			return 0, err
		}
		if i, ours := e.answered(e.in[:n]); ours {
			return time.Since(e.sent[i]), nil
		}
	}
}

// answered says which request a message answers, if any.
func (e *echo) answered(raw []byte) (int, bool) {
	protocol, want := protocolICMP, icmp.Type(ipv4.ICMPTypeEchoReply)
	if e.v6 {
		protocol, want = protocolICMPv6, ipv6.ICMPTypeEchoReply
	}
	message, err := icmp.ParseMessage(protocol, raw)
	if err != nil || message.Type != want {
		return 0, false
	}
	body, is := message.Body.(*icmp.Echo)
	if !is || !bytes.Equal(body.Data, e.token[:]) || body.Seq < 1 || body.Seq > maxEchoes || e.sent[body.Seq-1].IsZero() {
		return 0, false
	}
	return body.Seq - 1, true
}

// openEcho opens a ping socket where the kernel lets this process have one
// (net.ipv4.ping_group_range), else a raw one, which takes a capability.
func openEcho(to netip.Addr) (echoConn, error) {
	network, local := "udp4", "0.0.0.0"
	if to.Is6() {
		network, local = "udp6", "::"
	}
	unprivileged, err := icmp.ListenPacket(network, local)
	if err == nil {
		return &pingSocket{unprivileged, &net.UDPAddr{IP: to.AsSlice()}}, nil
	}
	network = "ip4:icmp"
	if to.Is6() {
		network = "ip6:ipv6-icmp"
	}
	raw, err := net.DialIP(network, nil, &net.IPAddr{IP: to.AsSlice()}) // connected: it hears nobody else
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return nil, errNoPing
	}
	if err != nil {
		return nil, err
	}
	return &rawSocket{raw}, nil
}

// pingSocket hears the answers to its own requests only.
type pingSocket struct {
	*icmp.PacketConn
	to net.Addr
}

func (s *pingSocket) Write(p []byte) (int, error) { return s.WriteTo(p, s.to) }

func (s *pingSocket) Read(p []byte) (int, error) {
	n, _, err := s.ReadFrom(p)
	return n, err
}

// rawSocket hears all ICMP messages of its address.
type rawSocket struct{ *net.IPConn }

func (s *rawSocket) Read(p []byte) (int, error) {
	n, _, err := s.ReadFrom(p) // without the header of IPv4
	return n, err
}
