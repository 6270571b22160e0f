package resolve

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const maxAliases = 8

// outcome is what asking one server one question came to: the closed set of the metrics.
type outcome string

const (
	answered    outcome = "answer"
	noName      outcome = "nxdomain"
	noData      outcome = "nodata"
	misaliased  outcome = "aliases"   // too many, or in a circle
	tooLarge    outcome = "too_large" // more than maxMessage bytes
	servfail    outcome = "servfail"
	refused     outcome = "refused"
	otherCode   outcome = "other_code"
	referral    outcome = "referral" // the server does not resolve for others
	malformed   outcome = "malformed"
	silence     outcome = "timeout"
	unreachable outcome = "unreachable"
)

// settles says whether the outcome is about the name: no other server needs to be asked.
func (o outcome) settles() bool {
	switch o {
	case answered, noName, noData, misaliased, tooLarge:
		return true
	}
	return false
}

// reading is what an exchange says about its question.
type reading struct {
	outcome outcome
	addrs   []netip.Addr  // in the server's order, without repetition, at most maxAddresses
	final   string        // the name that the aliases end in, absolute
	ttl     time.Duration // as the server says; 0 also when it says nothing
	detail  string        // for people
	message *dns.Msg      // as it came; nil when none did
}

// read takes an answer apart. That it belongs to the question has been seen to.
func read(question dns.Question, m *dns.Msg) reading {
	switch m.Rcode {
	case dns.RcodeSuccess, dns.RcodeNameError:
	case dns.RcodeServerFailure:
		return reading{outcome: servfail, detail: "SERVFAIL" + ExtendedError(m)}
	case dns.RcodeRefused:
		return reading{outcome: refused, detail: "REFUSED" + ExtendedError(m)}
	default:
		return reading{outcome: otherCode, detail: codeName(m.Rcode)}
	}
	r := follow(question.Name, m.Answer)
	if r.outcome == misaliased {
		return r
	}
	minimum, hasSOA := negativeTTL(r.final, m.Ns)
	if m.Rcode == dns.RcodeNameError { // of the last name of the chain (RFC 6604 §3)
		r.outcome, r.ttl = noName, min(r.ttl, minimum)
		return r
	}
	if !m.RecursionAvailable && !m.Authoritative && len(m.Answer) == 0 && !hasSOA {
		return reading{outcome: referral, detail: "a referral instead of an answer"}
	}
	if question.Qtype == dns.TypeNS && len(m.Answer) > 0 {
		return reading{outcome: answered}
	}
	var shortest time.Duration
	r.addrs, shortest = addresses(r.final, question.Qtype, m.Answer)
	if len(r.addrs) == 0 {
		r.outcome, r.ttl = noData, min(r.ttl, minimum)
		return r
	}
	r.outcome, r.ttl = answered, min(r.ttl, shortest)
	return r
}

// follow walks from a name along its aliases. Its ttl is the shortest on the way.
func follow(name string, records []dns.RR) reading {
	r := reading{final: name, ttl: math.MaxInt64}
	var passed [maxAliases]string
	for hops := 0; ; hops++ {
		alias := aliasOf(r.final, records)
		if alias == nil {
			return r
		}
		if hops == maxAliases {
			return reading{outcome: misaliased, detail: fmt.Sprintf("it has more than %d aliases", maxAliases)}
		}
		passed[hops] = r.final
		r.final, r.ttl = alias.Target, min(r.ttl, lifetime(alias.Hdr.Ttl))
		if slices.ContainsFunc(passed[:hops+1], func(seen string) bool { return strings.EqualFold(seen, r.final) }) {
			return reading{outcome: misaliased, detail: "its aliases go round in a circle"}
		}
	}
}

func aliasOf(name string, records []dns.RR) *dns.CNAME {
	for _, record := range records {
		if alias, ok := record.(*dns.CNAME); ok && alias.Hdr.Class == dns.ClassINET && strings.EqualFold(alias.Hdr.Name, name) {
			return alias
		}
	}
	return nil
}

// addresses gives those that name has, and the shortest of their lifetimes.
func addresses(name string, qtype uint16, records []dns.RR) (found []netip.Addr, ttl time.Duration) {
	ttl = math.MaxInt64
	for _, record := range records {
		header := record.Header()
		if header.Rrtype != qtype || header.Class != dns.ClassINET || !strings.EqualFold(header.Name, name) {
			continue
		}
		var addr netip.Addr
		var ok bool
		switch record := record.(type) {
		case *dns.A:
			addr, ok = netip.AddrFromSlice(record.A)
			addr = addr.Unmap()
		case *dns.AAAA:
			addr, ok = netip.AddrFromSlice(record.AAAA)
			ok = ok && !addr.Is4In6() // IPv4 in disguise (RFC 4291 §2.5.5.2) is no IPv6 address
		}
		if !ok {
			continue
		}
		ttl = min(ttl, lifetime(header.Ttl))
		if len(found) < maxAddresses && !slices.Contains(found, addr) {
			found = append(found, addr)
		}
	}
	return found, ttl
}

// negativeTTL is how long the zone of name lets "there is none" hold (RFC 2308 §5): 0
// when the answer does not say.
func negativeTTL(name string, authority []dns.RR) (ttl time.Duration, found bool) {
	for _, record := range authority {
		if soa, ok := record.(*dns.SOA); ok && dns.IsSubDomain(soa.Hdr.Name, name) {
			return min(lifetime(soa.Hdr.Ttl), lifetime(soa.Minttl)), true
		}
	}
	return 0, false
}

// lifetime reads a TTL: with its highest bit set it is zero (RFC 2181 §8).
func lifetime(ttl uint32) time.Duration {
	if ttl > math.MaxInt32 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// ExtendedError gives the server's own reason (RFC 8914) as the end of a clause, of those
// that have a name; free text is left out.
func ExtendedError(m *dns.Msg) string {
	opt := m.IsEdns0()
	if opt == nil {
		return ""
	}
	for _, option := range opt.Option {
		if reason, ok := option.(*dns.EDNS0_EDE); ok && reason.InfoCode != dns.ExtendedErrorCodeOther {
			if name, known := dns.ExtendedErrorCodeToString[reason.InfoCode]; known {
				return ": " + name
			}
		}
	}
	return ""
}

func codeName(code int) string {
	if name, known := dns.RcodeToString[code]; known {
		return name
	}
	return fmt.Sprintf("response code %d", code)
}

// KnowsNoEDNS says whether the answer may be about the way of asking (RFC 6891 §7).
func KnowsNoEDNS(m *dns.Msg) bool {
	return m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented || m.Rcode == dns.RcodeBadVers
}

// belongs says whether a message answers a query: nothing else is looked at. Servers
// that could not read the question, or would not, may leave it out of their answer; no
// target is held to account for these codes.
func belongs(query, m *dns.Msg) bool {
	if !m.Response || m.Id != query.Id || m.Opcode != dns.OpcodeQuery {
		return false
	}
	if len(m.Question) == 0 {
		return m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeRefused
	}
	asked, echoed := query.Question[0], m.Question[0]
	return len(m.Question) == 1 && echoed.Qtype == asked.Qtype && echoed.Qclass == asked.Qclass && strings.EqualFold(echoed.Name, asked.Name)
}
