package hostlimit

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// limited gives the host of a URL, and whether visits to it are counted.
func (h *Hosts) limited(target string) (name string, limited bool) {
	u, err := url.Parse(target)
	if err != nil {
		return "", false // such a check makes no visit
	}
	name = u.Hostname()
	if addr, err := netip.ParseAddr(name); err == nil {
		addr = addr.Unmap().WithZone("")
		return addr.String(), !h.opened(addr)
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if ascii, err := idna.Lookup.ToASCII(name); err == nil {
			name = ascii
		}
	}
	return name, name != ""
}
