package hostlimit

import (
	"net/netip"

	"github.com/probefleet/probefleet/internal/uptime"
)

// limited gives the host of a URL, and whether visits to it are counted.
func (h *Hosts) limited(target string) (name string, limited bool) {
	name = uptime.HostOf(target) // empty also for what is no URL: such a check makes no visit
	addr, err := netip.ParseAddr(name)
	switch {
	case err == nil:
		return name, !h.opened(addr)
	case uptime.LoopbackName(name): // the resolver answers it without asking anybody
		return name, !h.opened(netip.AddrFrom4([4]byte{127, 0, 0, 1})) && !h.opened(netip.IPv6Loopback())
	}
	return name, name != ""
}
