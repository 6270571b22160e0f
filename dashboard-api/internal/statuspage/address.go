package statuspage

import (
	"net/http"
	"net/netip"
	"strings"
)

// Range reads an address, or a range of them.
func Range(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Unmap().WithZone("").Prefix(addr.Unmap().BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}

// reader is the address of who asks. Behind a proxy of ours only what it appended is true.
func reader(r *http.Request, proxied bool) netip.Addr {
	text := r.RemoteAddr
	if forwarded := r.Header.Values("X-Forwarded-For"); proxied && len(forwarded) > 0 {
		last := forwarded[len(forwarded)-1]
		text = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		port, _ := netip.ParseAddrPort(text)
		addr = port.Addr()
	}
	return addr.Unmap().WithZone("")
}

// allowed says whether an address is within one of the ranges; without ranges all are.
func allowed(ranges []string, addr netip.Addr) bool {
	for _, text := range ranges {
		if prefix, err := Range(text); err == nil && prefix.Contains(addr) {
			return true
		}
	}
	return len(ranges) == 0
}
