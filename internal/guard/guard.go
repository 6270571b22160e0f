// Package guard judges addresses that users make the fleet fetch.
//
// It guarantees that nothing but public unicast addresses pass, unless the
// operator of the process opened a range, and that cloud metadata addresses never
// do. Judge the address dialled (Control), at every attempt: a name may resolve to
// something else than it did when it was saved.
package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// ErrBlocked is what a refused dial ends in. It names no address: what a name
// resolves to inside a private network is nobody's business outside it.
var ErrBlocked = errors.New("address is not public and PROBER_ALLOW_CIDRS does not open it")

// Guard judges the address about to be dialled. Everything that is not global
// unicast, and everything in the IANA special-purpose registries, is refused
// unless the operator opened it; cloud metadata addresses stay closed even then.
type Guard struct {
	allow []netip.Prefix
}

// New makes a guard that also lets the given ranges through.
func New(allow []netip.Prefix) *Guard {
	g := &Guard{}
	for _, prefix := range allow {
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		g.allow = append(g.allow, prefix.Masked())
	}
	return g
}

// Control is a net.Dialer.ControlContext: it sees the address of every attempt,
// after name resolution, before the first packet.
func (g *Guard) Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	// Not netip.ParseAddrPort: here is where a visit's stack is deepest, and its half KiB would
	// make that stack one of 16 KiB, a copy for each visit.
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ErrBlocked
	}
	target, err := netip.ParseAddr(host)
	if err != nil || !g.Allows(target) {
		return ErrBlocked
	}
	return nil
}

// Allows says whether a probe may dial the address.
func (g *Guard) Allows(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	inner, wraps := embedded(addr)
	if contains(floor, addr) || wraps && contains(floor, inner) {
		return false
	}
	if contains(g.allow, addr) {
		return true
	}
	if nat64.Contains(addr) { // a translator sends it on to the address inside
		addr = inner
		if contains(g.allow, addr) {
			return true
		}
	}
	if addr.Is6() && !globalUnicast6.Contains(addr) {
		return false
	}
	return !contains(special, addr)
}

// Opened says whether the operator of the process opened the address.
func (g *Guard) Opened(addr netip.Addr) bool { return contains(g.allow, addr.Unmap().WithZone("")) }

// embedded gives the IPv4 address a transition mechanism would deliver to.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case addr.Is4():
		return netip.Addr{}, false
	case nat64.Contains(addr), nat64Local.Contains(addr), compatible.Contains(addr), translated.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case teredo.Contains(addr): // the client's address, stored inverted
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	}
	return netip.Addr{}, false
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// The tables below are constants that Go cannot write as such.
var (
	globalUnicast6 = netip.MustParsePrefix("2000::/3")
	nat64          = netip.MustParsePrefix("64:ff9b::/96")
	nat64Local     = netip.MustParsePrefix("64:ff9b:1::/48")
	compatible     = netip.MustParsePrefix("::/96")
	translated     = netip.MustParsePrefix("::ffff:0:0:0/96")
	sixToFour      = netip.MustParsePrefix("2002::/16")
	teredo         = netip.MustParsePrefix("2001::/32")

	// special is the union of the IANA special-purpose registries, multicast and
	// the retired ranges that some routers still honour. IPv6 outside 2000::/3 is
	// refused as a whole and needs no lines here.
	special = prefixes(
		"0.0.0.0/8",       // this network; Linux dials itself
		"10.0.0.0/8",      // private use
		"100.64.0.0/10",   // carrier-grade NAT
		"127.0.0.0/8",     // loopback
		"169.254.0.0/16",  // link-local
		"172.16.0.0/12",   // private use
		"192.0.0.0/24",    // IETF protocol assignments
		"192.0.2.0/24",    // documentation
		"192.31.196.0/24", // AS112
		"192.52.193.0/24", // AMT
		"192.88.99.0/24",  // 6to4 relay anycast, retired
		"192.168.0.0/16",  // private use
		"192.175.48.0/24", // AS112
		"198.18.0.0/15",   // benchmarking
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/4",     // multicast
		"240.0.0.0/4",     // reserved, broadcast
		"168.63.129.16/32",
		"2001::/23",         // IETF protocol assignments: Teredo, benchmarking, ORCHID
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4
		"2620:4f:8000::/48", // AS112
		"3ffe::/16",         // 6bone, returned
		"3fff::/20",         // documentation
	)

	// floor holds the addresses at which clouds hand out credentials and
	// configuration to whoever asks from inside.
	floor = prefixes(
		"169.254.169.0/24",   // AWS, Azure, GCP, Oracle, DigitalOcean and most others
		"169.254.170.0/24",   // AWS task and pod credentials
		"169.254.0.23/32",    // Tencent
		"169.254.42.42/32",   // Scaleway
		"100.100.100.200/32", // Alibaba
		"168.63.129.16/32",   // Azure's host
		"192.0.0.192/32",     // Oracle classic
		"fd00:ec2::/32",      // AWS over IPv6
		"fd20:ce::254/128",   // GCP over IPv6
		"fd00:42::42/128",    // Scaleway over IPv6
		"fd00:c1::a9fe:a9fe/128",
	)
)
