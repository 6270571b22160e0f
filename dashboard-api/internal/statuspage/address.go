package statuspage

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// hostOf is the host that a request is for, as pages' own hosts are written.
func hostOf(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return plainHost(host)
}

func plainHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// numeric hosts are read as IPv4 addresses, however they are written.
var numeric = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)

// JudgeHost says why a page cannot have a host of its own: the dashboard, at the URL, or people on
// this machine would get the page there instead.
func JudgeHost(host, dashboard string) error {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || numeric.MatchString(host) {
		return errors.New("an IP address is no page's own: want a host name such as status.example.com")
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return errors.New("localhost is no page's own: want a host name such as status.example.com")
	}
	if u, err := url.Parse(dashboard); err == nil && plainHost(u.Hostname()) == host {
		return fmt.Errorf("the dashboard is at %s (API_PUBLIC_URL), and a page there would take its place: want another host", host)
	}
	return nil
}

// rootOf is the URL of a page's own host, with the scheme and the port of the dashboard's; that of
// the dashboard, if it has none.
func rootOf(page pagestore.Page, dashboard string) string {
	u, err := url.Parse(dashboard)
	if page.Host == "" || err != nil || JudgeHost(page.Host, dashboard) != nil {
		return dashboard
	}
	host := page.Host
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return u.Scheme + "://" + host
}

// baseOf is the URL of a page: what it links to is below.
func baseOf(page pagestore.Page, dashboard string) string {
	return rootOf(page, dashboard) + prefix + page.Slug
}

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
