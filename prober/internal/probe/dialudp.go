package probe

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// dialUDP makes a guarded UDP socket to the first address of the endpoint that may be
// asked and that there is a route to. Nothing is sent, so there is no connect phase: mark
// is put at the end of the dns phase. All else is as with dial.
func (d *dialer) dialUDP(ctx context.Context, to endpoint, s *sighting, hop *uptime.Hop, mark *time.Time) (conn *net.UDPConn, release func() bool, bad trouble) {
	addrs, bad := d.lookup(ctx, to, s, hop)
	*mark = time.Now()
	if !bad.none() {
		return nil, nil, bad
	}
	var worst error // of making a socket, which waits for nothing
	for _, addr := range addrs {
		conn, err := d.net.DialUDP(ctx, "udp", netip.AddrPort{}, netip.AddrPortFrom(addr, to.port))
		if err != nil {
			if worst == nil || weight(err) > weight(worst) {
				worst = err
			}
			continue
		}
		hop.Address = addr.Unmap()
		s.Address = hop.Address
		_ = conn.SetDeadline(s.deadline)
		return conn, context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }), trouble{}
	}
	return nil, nil, dialTrouble(worst)
}
