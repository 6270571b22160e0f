package hostlimit

import (
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Name gives what a check counts for: the host of its URL, or who answers it in the end. It
// is empty where there is neither.
func Name(target string) string {
	if name := uptime.HostOf(target); name != "" {
		return name
	}
	return askedDomain(target) // or what is no URL: such a check makes no visit
}

// limited gives the host of a URL, and whether visits to it are counted.
func (h *Hosts) limited(target string) (name string, limited bool) {
	name = Name(target)
	if addr, err := netip.ParseAddr(name); err == nil {
		return name, !h.opened(addr)
	}
	if uptime.LoopbackName(name) { // the resolver answers it without asking anybody
		return name, !h.opened(netip.AddrFrom4([4]byte{127, 0, 0, 1})) && !h.opened(netip.IPv6Loopback())
	}
	return name, name != ""
}

// askedDomain stands for who answers a DNS question to the prober's own resolvers: in the end
// the servers of the domain that somebody registered. It is no host: with its space it is none
// of the others.
func askedDomain(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != string(uptime.KindDNS) {
		return ""
	}
	asked := strings.ToLower(strings.Trim(u.Path+u.Opaque, "/."))
	if domain, err := publicsuffix.EffectiveTLDPlusOne(asked); err == nil {
		asked = domain
	}
	return "dns " + asked
}
