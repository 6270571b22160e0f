package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/guard"
)

const (
	maxAddresses = 6               // of one name that are tried
	minDial      = 2 * time.Second // an address gets at least this, if the visit has it
)

// Resolver looks names up. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dialer makes one guarded connection a visit: addresses in turn, never a race,
// so that the connect phase measures one handshake and no stray SYN is sent.
type dialer struct {
	resolver Resolver
	net      net.Dialer
}

func newDialer(o Options) *dialer {
	d := &dialer{resolver: o.Resolver, net: net.Dialer{ControlContext: o.Guard.Control, KeepAlive: -1}}
	if d.resolver == nil {
		d.resolver = &net.Resolver{PreferGo: true} // its errors can be told apart, and it takes no thread a look-up
	}
	return d
}

// lookup gives the addresses of host. The resolver orders them by RFC 6724,
// which puts a family this machine cannot route last.
func (d *dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	addrs = addrs[:min(len(addrs), maxAddresses)]
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, nil
}

// connect tries the addresses in order and ends in the error that says most: a
// blocked address first (who may not be asked has not failed), a family this
// machine cannot route last.
func (d *dialer) connect(ctx context.Context, addrs []netip.Addr, port uint16, deadline time.Time) (*net.TCPConn, netip.Addr, error) {
	var worst error
	for i, addr := range addrs {
		conn, err := d.one(ctx, netip.AddrPortFrom(addr, port), deadline, len(addrs)-i)
		if err == nil {
			return conn, addr, nil
		}
		if worst == nil || weight(err) > weight(worst) {
			worst = err
		}
		if ctx.Err() != nil || !time.Now().Before(deadline) {
			break
		}
	}
	return nil, netip.Addr{}, worst
}

func weight(err error) int {
	switch {
	case errors.Is(err, guard.ErrBlocked):
		return 2
	case errors.Is(err, syscall.ENETUNREACH):
		return 0
	}
	return 1
}

// one dials a single address with its share of the time left.
func (d *dialer) one(ctx context.Context, to netip.AddrPort, deadline time.Time, left int) (*net.TCPConn, error) {
	if left > 1 {
		share := max(time.Until(deadline)/time.Duration(left), minDial)
		if limit := time.Now().Add(share); limit.Before(deadline) {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, limit)
			defer cancel()
		}
	}
	return d.net.DialTCP(ctx, "tcp", netip.AddrPort{}, to)
}
