package lab

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	zone     = "lab.test."
	maxChain = 100 // aliases in a row
	plainTTL = 60
)

// plan is what the labels of a name ask for.
type plan struct {
	exists bool
	outer  bool // not in the zone
	rcode  int
	mode   string // a way of answering: see the package comment
	delay  time.Duration
	ttl    uint32
	addrs  []netip.Addr
	rebind []netip.Addr // the first address and the later one
	text   []string
	alias  string // the name this one is an alias of
}

// read takes a name apart, a label at a time.
func (l *Lab) read(name string) plan {
	name = dns.CanonicalName(name)
	p := plan{exists: true, ttl: plainTTL}
	left, inside := strings.CutSuffix(name, zone)
	if !inside || left != "" && !strings.HasSuffix(left, ".") {
		return plan{outer: true, rcode: dns.RcodeRefused}
	}
	if left == "" {
		if addr, err := netip.ParseAddr(l.host); err == nil {
			p.addrs = []netip.Addr{addr}
		}
		return p
	}
	labels := strings.Split(strings.TrimSuffix(left, "."), ".")
	for i, label := range labels {
		if !p.take(label, strings.Join(append(slices.Clone(labels[i+1:]), zone), ".")) {
			p.exists, p.rcode = false, dns.RcodeNameError
		}
	}
	return p
}

// take adds what a label says. rest is the name to its right.
func (p *plan) take(label, rest string) bool {
	word, argument, _ := strings.Cut(label, "-")
	number, notNumber := strconv.Atoi(argument)
	switch {
	case word == "a", word == "aaaa":
		addr, err := netip.ParseAddr(strings.ReplaceAll(argument, "-", map[string]string{"a": ".", "aaaa": ":"}[word]))
		p.addrs = append(p.addrs, addr)
		return err == nil && addr.Is4() == (word == "a")
	case word == "many" && notNumber == nil:
		for i := range min(number, 4000) {
			p.addrs = append(p.addrs, netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}))
		}
	case word == "txt":
		p.text = append(p.text, argument)
	case word == "ttl" && notNumber == nil:
		p.ttl = uint32(number)
	case word == "slow":
		delay, err := time.ParseDuration(argument)
		p.delay = delay
		return err == nil
	case word == "cname" && notNumber == nil && number <= maxChain:
		switch {
		case p.alias != "": // further left is another
		case number > 1:
			p.alias = fmt.Sprintf("cname-%d.%s", number-1, rest)
		case number == 1:
			p.alias = rest
		}
	case label == "loop":
		p.alias = "loop-back." + rest
	case label == "loop-back":
		p.alias = "loop." + rest
	case word == "rebind":
		return p.takeRebind(argument)
	case word == "x", strings.HasPrefix(label, "_"):
	case slices.Contains(modes(), label):
		p.mode = label
	default:
		code, known := rcodes()[label]
		p.rcode, p.exists = code, known
		return known
	}
	return true
}

// takeRebind reads two addresses of four numbers, or none.
func (p *plan) takeRebind(argument string) bool {
	if p.ttl == plainTTL {
		p.ttl = 0 // so that everybody asks again
	}
	first, later := "8.8.8.8", "127.0.0.1"
	if numbers := strings.Split(argument, "-"); argument != "" {
		if len(numbers) != 8 {
			return false
		}
		first, later = strings.Join(numbers[:4], "."), strings.Join(numbers[4:], ".")
	}
	for _, text := range []string{first, later} {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return false
		}
		p.rebind = append(p.rebind, addr)
	}
	return true
}

func modes() []string {
	return []string{"nodata", "silent", "truncated", "always-truncated", "wrong-id", "wrong-name", "spoofed", "garbage", "header", "half", "pointer-loop"}
}

func rcodes() map[string]int {
	return map[string]int{
		"nxdomain": dns.RcodeNameError, "servfail": dns.RcodeServerFailure, "refused": dns.RcodeRefused,
		"formerr": dns.RcodeFormatError, "notimp": dns.RcodeNotImplemented,
	}
}

// records are those of a name and type. Aliases come with what they lead to.
func (l *Lab) records(name string, kind uint16) ([]dns.RR, int) {
	var all []dns.RR
	seen := map[string]bool{}
	for {
		p := l.read(name)
		if p.alias == "" || p.rcode != dns.RcodeSuccess {
			if p.rebind != nil {
				p.addrs = p.rebind[:1]
				if l.before(fmt.Sprint(name, kind)) {
					p.addrs = p.rebind[1:]
				}
			}
			return append(all, p.own(name, kind)...), p.rcode
		}
		all = append(all, &dns.CNAME{Hdr: header(name, dns.TypeCNAME, p.ttl), Target: p.alias})
		if seen[name] = true; seen[p.alias] || kind == dns.TypeCNAME {
			return all, dns.RcodeSuccess
		}
		name = p.alias
	}
}

func header(name string, kind uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
}

// own are the records of a name that is no alias.
func (p *plan) own(name string, kind uint16) []dns.RR {
	if !p.exists || p.rcode != dns.RcodeSuccess || p.mode == "nodata" {
		return nil
	}
	h := header(name, kind, p.ttl)
	switch kind {
	case dns.TypeA, dns.TypeAAAA:
		var all []dns.RR
		for _, addr := range p.addrs {
			switch {
			case addr.Is4() && kind == dns.TypeA:
				all = append(all, &dns.A{Hdr: h, A: addr.AsSlice()})
			case addr.Is6() && kind == dns.TypeAAAA:
				all = append(all, &dns.AAAA{Hdr: h, AAAA: addr.AsSlice()})
			}
		}
		return all
	case dns.TypeMX:
		return []dns.RR{&dns.MX{Hdr: h, Preference: 10, Mx: zone}, &dns.MX{Hdr: h, Preference: 20, Mx: "x-backup." + zone}}
	case dns.TypeTXT:
		if len(p.text) == 0 {
			return []dns.RR{&dns.TXT{Hdr: h, Txt: []string{"v=spf1 -all"}}}
		}
		return []dns.RR{&dns.TXT{Hdr: h, Txt: p.text}}
	case dns.TypeNS:
		return []dns.RR{&dns.NS{Hdr: h, Ns: "x-ns1." + zone}, &dns.NS{Hdr: h, Ns: "x-ns2." + zone}}
	case dns.TypeSOA:
		return []dns.RR{soa(name, p.ttl)}
	case dns.TypeCAA:
		return []dns.RR{&dns.CAA{Hdr: h, Tag: "issue", Value: "ca.lab.test"}}
	case dns.TypeSRV:
		return []dns.RR{&dns.SRV{Hdr: h, Priority: 10, Weight: 5, Port: 443, Target: zone}}
	}
	return nil
}

func soa(name string, ttl uint32) dns.RR {
	return &dns.SOA{Hdr: header(name, dns.TypeSOA, ttl), Ns: "x-ns1." + zone, Mbox: "hostmaster." + zone, Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: ttl}
}

// pointing is an answer whose name is a pointer to itself.
func pointing(answer *dns.Msg) []byte {
	bare := answer.Copy()
	bare.Answer, bare.Ns, bare.Extra = nil, nil, nil
	out, err := bare.Pack()
	if err != nil {
		return nil
	}
	binary.BigEndian.PutUint16(out[6:], 1)                            // one answer
	out = binary.BigEndian.AppendUint16(out, 0xc000|uint16(len(out))) // its name is here
	return append(out, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1)   // A, IN, 60 s, four bytes
}
