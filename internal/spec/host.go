package spec

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

// cleanHost gives a host as it is dialled: an address as it is, a name in ASCII.
func cleanHost(host string, open []netip.Prefix) (string, *Problem) {
	if bad := judgeHost(host, open); bad != nil || asciiName(host) || isAddress(host) {
		return host, bad
	}
	ascii, ok := toASCII(host)
	if !ok {
		return "", urlProblem(CodeInvalidURL, "this host is not a valid name")
	}
	// Some letters are written as digits: the name that is dialled is judged, not only the one that was typed.
	return ascii, judgeHost(ascii, open)
}

// toASCII gives a name as the DNS knows it (RFC 5891).
func toASCII(name string) (string, bool) {
	if asciiName(name) {
		return name, true
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(name, "."))
	return ascii, err == nil && asciiName(ascii) && !strings.HasSuffix(ascii, ".")
}

// judgeHost refuses addresses and names that no prober may dial; what it cannot tell, it lets pass.
func judgeHost(host string, open []netip.Prefix) *Problem {
	allowed := guard.New(open)
	if addr, err := netip.ParseAddr(host); err == nil {
		switch {
		case !allowed.Allows(addr.WithZone("")):
			return urlProblem(CodePrivateAddress, "this is a private or special address, and no prober may dial it: open its range with PROBER_ALLOW_CIDRS on a prober")
		case addr.Zone() != "":
			return urlProblem(CodeInvalidURL, "write the address without a zone: zones differ from machine to machine")
		}
		return nil
	}
	switch {
	case uptime.LoopbackName(host) && !allowed.Allows(netip.MustParseAddr("127.0.0.1")) && !allowed.Allows(netip.IPv6Loopback()):
		return urlProblem(CodePrivateAddress, "this name means the prober's own machine, and no prober may dial it: open 127.0.0.0/8 with PROBER_ALLOW_CIDRS on a prober")
	case endsInNumber(host):
		return urlProblem(CodeInvalidURL, "write an IPv4 address as four numbers, such as 192.0.2.1")
	}
	return nil
}

// endsInNumber says whether a host is an address in one of the old spellings
// (127.1, 0x7f000001, 2130706433) that resolvers read and people misread.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	digits, hex := strings.CutPrefix(last, "0x")
	return last != "" && strings.Trim(digits, "0123456789") == "" || hex && strings.Trim(digits, "0123456789abcdef") == ""
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// asciiName accepts what the DNS can hold, underscores included (real hosts have them).
func asciiName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if len(host) > maxHostName {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

func goodPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port >= 1 && port <= 65535
}
