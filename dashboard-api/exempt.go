package main

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

// exemptHosts are hosts that may be asked for any number of requests: the operator
// answers for them.
type exemptHosts struct {
	names    map[string]bool
	suffixes []string // with their dot in front
	ranges   []netip.Prefix
}

// parseExempt reads names, .suffixes, addresses and ranges.
func parseExempt(texts []string) (exemptHosts, error) {
	hosts := exemptHosts{names: map[string]bool{}}
	for _, text := range texts {
		name, below := strings.CutPrefix(text, ".")
		host := ""
		if addr, err := netip.ParseAddr(text); err == nil {
			host = addr.Unmap().WithZone("").String()
		} else if !strings.ContainsAny(name, "/:@?#%*[] ") {
			host = uptime.HostOf("http://" + name)
		}
		prefix, err := netip.ParsePrefix(text)
		switch {
		case err == nil:
			hosts.ranges = append(hosts.ranges, prefix)
		case host == "":
			return exemptHosts{}, fmt.Errorf("%q is not a host: want a name, .example.com for all below one, an address or a range", text)
		case below:
			hosts.suffixes = append(hosts.suffixes, "."+host)
		default:
			hosts.names[host] = true
		}
	}
	return hosts, nil
}

// with adds the ranges that probers announce, as of each question: they are the operator's
// too. Addresses that no prober dials unless its operator opened them need no limit either,
// and neither does localhost, which is one of them: without leave there is no visit.
func (e exemptHosts) with(open func() []netip.Prefix) func(host string) bool {
	public, mine := guard.New(nil), guard.New(e.ranges)
	return func(host string) bool {
		if e.names[host] || uptime.LoopbackName(host) {
			return true
		}
		addr, err := netip.ParseAddr(host)
		if err == nil {
			return !public.Allows(addr) || mine.Opened(addr) || guard.New(open()).Opened(addr)
		}
		for _, suffix := range e.suffixes {
			if strings.HasSuffix(host, suffix) {
				return true
			}
		}
		return false
	}
}
