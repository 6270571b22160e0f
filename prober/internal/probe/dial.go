package probe

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

const (
	maxAddresses = 6               // of one name that are tried
	minDial      = 2 * time.Second // an address gets at least this, if the visit has it
)

// Resolver looks names up. *resolve.Resolver is one; its errors say whose fault it is.
type Resolver interface {
	Lookup(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error)
	// LookupAnew does not answer from memory.
	LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error)
	// LookupElsewhere does not either, and doubts who answered last.
	LookupElsewhere(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error)
}

// dialer makes one guarded connection a visit: addresses in turn, never a race,
// so that the connect phase measures one handshake and no stray SYN is sent.
type dialer struct {
	resolver Resolver
	guard    *guard.Guard
	net      net.Dialer
	packets  func(context.Context) (net.PacketConn, error) // opens a socket for QUIC, whose packets are guarded by who sends them
	chains   *chains
}

func newDialer(o Options) *dialer {
	return &dialer{
		resolver: o.Resolver, guard: o.Guard, net: net.Dialer{ControlContext: o.Guard.Control, KeepAlive: -1}, chains: newChains(o.Roots),
		packets: func(ctx context.Context) (net.PacketConn, error) {
			return (&net.ListenConfig{}).ListenPacket(ctx, "udp", "")
		},
	}
}

// endpoint is where to connect to.
type endpoint struct {
	host   string     // ASCII, without port or brackets; also what TLS asks for
	ip     netip.Addr // valid when the host is a literal address
	port   uint16
	family uptime.Family
}

// dial makes a connection and notes how, phase by phase, in the hop. The caller
// closes it. Its deadline is the visit's, and the end of ctx aborts whatever waits on it
// until release is called.
func (d *dialer) dial(ctx context.Context, to endpoint, s *sighting, hop *uptime.Hop) (*net.TCPConn, func() bool, trouble) {
	addrs, bad := d.lookup(ctx, to, s, hop)
	if !bad.none() {
		return nil, nil, bad
	}
	mark := time.Now()
	conn, addr, err := d.connect(ctx, addrs, to.port, s)
	lap(&hop.Phases.Connect, &mark)
	hop.Address = addr.Unmap()
	s.Address = hop.Address
	if err != nil {
		return nil, nil, dialTrouble(err)
	}
	_ = conn.SetDeadline(s.deadline)
	return conn, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }), trouble{}
}

// lookup gives the addresses of an endpoint, in the order they are to be tried, and notes
// the dns phase. They are good until the next look-up for s.
func (d *dialer) lookup(ctx context.Context, to endpoint, s *sighting, hop *uptime.Hop) ([]netip.Addr, trouble) {
	if to.ip.IsValid() {
		s.one[0] = to.ip
		return s.one[:], trouble{}
	}
	mark := time.Now()
	ctx, cancel := s.within(ctx)
	defer cancel()
	find := d.resolver.Lookup
	switch {
	case s.again.failure == uptime.FailureDNS:
		find = d.resolver.LookupElsewhere
	case s.again.failure != uptime.FailureNone:
		find = d.resolver.LookupAnew
	}
	answer, err := find(ctx, to.host, familyOf(to.family))
	lap(&hop.Phases.DNS, &mark)
	if err != nil {
		return nil, lookupTrouble(err)
	}
	if hop.DNSCached = answer.Cached; answer.Cached {
		hop.Phases.DNS = 0
	}
	addrs := answer.Addrs
	if s.again.address.IsValid() {
		addrs = lastly(addrs, s.again.address)
	}
	return addrs[:min(len(addrs), maxAddresses)], trouble{}
}

// lastly puts an address that failed behind those of the other family and the rest of its own.
func lastly(addrs []netip.Addr, failed netip.Addr) []netip.Addr {
	turn := func(a netip.Addr) int {
		switch {
		case a.Unmap() == failed:
			return 2
		case a.Unmap().Is4() == failed.Is4():
			return 1
		}
		return 0
	}
	addrs = slices.Clone(addrs)
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return cmp.Compare(turn(a), turn(b)) })
	return addrs
}

func familyOf(f uptime.Family) resolve.Family {
	switch f {
	case uptime.FamilyV4:
		return resolve.V4
	case uptime.FamilyV6:
		return resolve.V6
	}
	return resolve.Both
}

// connect tries the addresses in order and ends in the error that says most: a
// blocked address first (who may not be asked has not failed), a family this
// machine cannot route last. The address is that of the connection or the error.
func (d *dialer) connect(ctx context.Context, addrs []netip.Addr, port uint16, s *sighting) (*net.TCPConn, netip.Addr, error) {
	var worst error
	var at netip.Addr
	for i, addr := range addrs {
		conn, err := d.one(ctx, netip.AddrPortFrom(addr, port), s, len(addrs)-i)
		if err == nil {
			return conn, addr, nil
		}
		if worst == nil || weight(err) > weight(worst) {
			worst, at = err, addr
		}
		if ctx.Err() != nil || !time.Now().Before(s.deadline) {
			break
		}
	}
	return nil, at, worst
}

func weight(err error) int {
	switch {
	case errors.Is(err, guard.ErrBlocked):
		return 2
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ENETDOWN):
		return 0
	}
	return 1
}

// one dials a single address with its share of the time left.
func (d *dialer) one(ctx context.Context, to netip.AddrPort, s *sighting, left int) (*net.TCPConn, error) {
	deadline := s.deadline
	if left > 1 {
		share := max(time.Until(deadline)/time.Duration(left), minDial)
		if limit := time.Now().Add(share); limit.Before(deadline) {
			deadline = limit
		}
	}
	if ctx.Done() == nil { // package net takes the deadline of such a context for none
		end, cancel := context.WithCancel(ctx)
		defer cancel()
		ctx = end
	}
	// Not DialTCP: without a local address it binds to any, which is a system call more,
	// and takes a local port away from all other destinations.
	s.dialling = expiring{ctx, deadline} // there, it is no allocation; no look at it outlives the call
	conn, err := d.net.DialContext(&s.dialling, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// expiring is a context with a deadline that is known and not kept: for package net, which
// gives it to the socket. A context that keeps it has a timer, a channel and five
// allocations, and the connection of each visit would cost those.
type expiring struct {
	context.Context //nolint:containedctx // it is one
	deadline        time.Time
}

// Deadline implements context.Context.
func (e *expiring) Deadline() (time.Time, bool) { return e.deadline, true }
