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
// empty where the URL names none (a DNS question to the prober's own resolvers, or a
// heartbeat, which is not visited) or is not one. The port does not count, and neither does what the name resolves to.
func HostOf(target string) string {
	if host, plain := plainHost(target); plain {
		return host
	}
	return parsedHost(target)
}

func parsedHost(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme == string(KindHeartbeat) {
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

// plainHost is HostOf for URLs as nearly all are, without taking them apart: every check
// asks. It knows only hosts that are spelled as HostOf spells them.
func plainHost(target string) (host string, plain bool) {
	scheme, rest, found := strings.Cut(target, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, port, _ := strings.Cut(rest[:end], ":")
	plain = found && scheme != "" && host != "" && host[len(host)-1] != '.'
	for _, part := range []struct {
		text string
		odd  func(c byte) bool
	}{
		{scheme, func(c byte) bool { return c < 'a' || c > 'z' }},
		{host, func(c byte) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' }},
		{port, func(c byte) bool { return c < '0' || c > '9' }},
		{rest[end:], func(c byte) bool { return c <= ' ' || c > '~' || c == '%' }},
	} {
		for i := 0; plain && i < len(part.text); i++ {
			plain = !part.odd(part.text[i])
		}
	}
	return host, plain
}

// LoopbackName says whether a name means the machine it is used on by definition: it is
// never looked up (RFC 6761 §6.3).
func LoopbackName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
