package resolve

import (
	"net"
	"net/netip"
	"slices"
)

const maxAddresses = 16 // kept of a family, and given in an answer

// ranked is an address and its place: lower is tried first.
type ranked struct {
	addr netip.Addr
	rank uint8
}

const noRoute = 100 // added to the rank of what cannot be reached

// policy is the table of RFC 6724 §2.1 for what is not plain IPv6, with 50 less its
// precedence. ::1 has no line: nothing else has its rank.
var policy = [...]struct {
	prefix netip.Prefix
	rank   uint8
}{
	{netip.MustParsePrefix("::1/128"), 0},
	{netip.MustParsePrefix("::/96"), 49},
	{netip.MustParsePrefix("2001::/32"), 45},
	{netip.MustParsePrefix("2002::/16"), 20},
	{netip.MustParsePrefix("3ffe::/16"), 49},
	{netip.MustParsePrefix("fec0::/10"), 49},
	{netip.MustParsePrefix("fc00::/7"), 47},
}

func precedence(addr netip.Addr) uint8 {
	if addr.Is4() {
		return 15
	}
	for _, line := range policy {
		if line.prefix.Contains(addr) {
			return line.rank
		}
	}
	return 10
}

// rank orders the addresses of one family. Of each kind one is asked whether it can be
// reached: routes go by kind.
func rank(addrs []netip.Addr, reachable func(netip.Addr) bool) []ranked {
	if len(addrs) == 0 {
		return nil
	}
	list := make([]ranked, len(addrs))
	var known [noRoute]uint8 // by precedence: 0 not asked yet, else the rank plus one
	for i, addr := range addrs {
		p := precedence(addr)
		if known[p] == 0 {
			known[p] = p + 1
			if !reachable(addr) {
				known[p] += noRoute
			}
		}
		list[i] = ranked{addr, known[p] - 1}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return int(a.rank) - int(b.rank) })
	return list
}

// merge gives the addresses of both families in order, at most maxAddresses; when there
// are more, neither family loses what the other does not need.
func merge(v4, v6 []ranked) []netip.Addr {
	const half = maxAddresses / 2
	if len(v4)+len(v6) > maxAddresses {
		v4 = v4[:min(len(v4), max(half, maxAddresses-len(v6)))]
		v6 = v6[:min(len(v6), maxAddresses-len(v4))]
	}
	all := make([]netip.Addr, 0, len(v4)+len(v6))
	for len(v4) > 0 && len(v6) > 0 {
		if v6[0].rank <= v4[0].rank {
			all, v6 = append(all, v6[0].addr), v6[1:]
		} else {
			all, v4 = append(all, v4[0].addr), v4[1:]
		}
	}
	for i := range v4 {
		all = append(all, v4[i].addr)
	}
	for i := range v6 {
		all = append(all, v6[i].addr)
	}
	return all
}

// routed says whether the kernel has a route: connecting a datagram socket asks its
// routing table and sends nothing.
func routed(addr netip.Addr) bool {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 9)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
