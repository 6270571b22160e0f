package uptime

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// HostOf gives the host that a target's URL names, in one spelling: a name in lower
// case and ASCII without its last dot, or an address without zone, IPv4 as such. It is
// empty where the URL names none (a DNS question to the prober's own resolvers) or is
// not one. The port does not count, and neither does what the name resolves to.
func HostOf(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			return ascii
		}
	}
	return host
}

// LoopbackName says whether a name means the machine it is used on by definition: it is
// never looked up (RFC 6761 §6.3).
func LoopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
