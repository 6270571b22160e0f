package httpapi

import (
	"net/netip"
	"strings"
)

// specialRanges are the addresses that are not the public internet: the IANA
// special-purpose registries, multicast, and the ranges that hide another address
// inside. Saving refuses them early and in words; the prober's guard judges the
// address it dials, whatever was saved.
var specialRanges = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16",
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

// metadataAddresses give out a machine's credentials in clouds: no allow-list opens them.
var metadataAddresses = prefixes("169.254.169.254/32", "169.254.170.2/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128")

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// reachable says whether a prober with these open ranges would dial the address.
func reachable(addr netip.Addr, open []netip.Prefix) bool {
	addr = unwrap(addr.WithZone(""))
	if within(addr, metadataAddresses) {
		return false
	}
	return within(addr, open) || !within(addr, specialRanges)
}

// unwrap gives the IPv4 address inside a mapped or NAT64 one.
func unwrap(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:16]))
	}
	return addr
}

func within(addr netip.Addr, ranges []netip.Prefix) bool {
	for _, r := range ranges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}

func prefixes(texts ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		parsed[i] = netip.MustParsePrefix(text)
	}
	return parsed
}

// loopbackName says whether a name means this machine by definition.
func loopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// endsInNumber says whether a host is an address in one of the old spellings
// (127.1, 0x7f000001, 2130706433) that resolvers read and people misread.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	digits, hex := strings.CutPrefix(last, "0x")
	return last != "" && strings.Trim(digits, "0123456789") == "" || hex && strings.Trim(digits, "0123456789abcdef") == ""
}
