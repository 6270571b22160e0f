package resolve

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func records(texts ...string) []dns.RR {
	list := make([]dns.RR, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = dns.NewRR(text); err != nil {
			panic(err)
		}
	}
	return list
}

func asked(name string, qtype uint16) dns.Question {
	return dns.Question{Name: dns.Fqdn(name), Qtype: qtype, Qclass: dns.ClassINET}
}

// answerTo is an answer of a resolver as they are.
func answerTo(q dns.Question, code int, answer ...string) *dns.Msg {
	m := &dns.Msg{Question: []dns.Question{q}, Answer: records(answer...)}
	m.Response, m.RecursionDesired, m.RecursionAvailable, m.Rcode = true, true, true, code
	return m
}

func withSOA(m *dns.Msg, soa string) *dns.Msg {
	m.Ns = records(soa)
	return m
}

const soa = "example. 300 IN SOA ns.example. mail.example. 1 2 3 4 7"

func chain(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("%s 60 IN CNAME a%d.example.", []string{"a.example.", fmt.Sprintf("a%d.example.", i)}[min(i, 1)], i+1))
	}
	return append(texts, fmt.Sprintf("a%d.example. 60 IN A 9.9.9.9", n))
}

func TestReadAnswers(t *testing.T) {
	t.Parallel()
	v4, v6 := asked("a.example", dns.TypeA), asked("a.example", dns.TypeAAAA)
	hundred := []string{}
	for i := range 100 {
		hundred = append(hundred, fmt.Sprintf("a.example. 60 IN A 9.9.9.%d", i))
	}
	ede := answerTo(v4, dns.RcodeServerFailure)
	ede.SetEdns0(1232, false)
	ede.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeDNSBogus, ExtraText: "\x1b[31mfree text"}}
	lame := answerTo(v4, dns.RcodeSuccess)
	lame.RecursionAvailable, lame.Ns = false, records("example. 300 IN NS ns.example.")
	far := withSOA(answerTo(v4, dns.RcodeSuccess), "elsewhere. 300 IN SOA a. b. 1 2 3 4 300")
	cases := []struct {
		name    string
		q       dns.Question
		m       *dns.Msg
		outcome outcome
		addrs   string
		final   string
		ttl     time.Duration
		detail  string
	}{
		{"one address", v4, answerTo(v4, 0, "a.example. 30 IN A 9.9.9.9"), answered, "9.9.9.9", "a.example.", 30 * time.Second, ""},
		{"the shortest TTL counts", v4, answerTo(v4, 0, "a.example. 30 IN A 9.9.9.9", "a.example. 20 IN A 9.9.9.8"), answered, "9.9.9.9 9.9.9.8", "a.example.", 20 * time.Second, ""},
		{"upper case", v4, answerTo(v4, 0, "A.EXAMPLE. 30 IN A 9.9.9.9"), answered, "9.9.9.9", "a.example.", 30 * time.Second, ""},
		{"an alias", v4, answerTo(v4, 0, "a.example. 10 IN CNAME b.example.", "b.example. 30 IN A 9.9.9.9"), answered, "9.9.9.9", "b.example.", 10 * time.Second, ""},
		{"an alias in any order", v4, answerTo(v4, 0, "b.example. 30 IN A 9.9.9.9", "a.example. 50 IN CNAME b.example."), answered, "9.9.9.9", "b.example.", 30 * time.Second, ""},
		{"somebody else's address", v4, answerTo(v4, 0, "b.example. 30 IN A 9.9.9.9"), noData, "", "a.example.", 0, ""},
		{"the other family", v4, answerTo(v4, 0, "a.example. 30 IN AAAA 2600::1"), noData, "", "a.example.", 0, ""},
		{"another class", v4, answerTo(v4, 0, "a.example. 30 CH A 9.9.9.9"), noData, "", "a.example.", 0, ""},
		{"IPv6", v6, answerTo(v6, 0, "a.example. 30 IN AAAA 2600::1"), answered, "2600::1", "a.example.", 30 * time.Second, ""},
		{"IPv4 in disguise", v6, answerTo(v6, 0, "a.example. 30 IN AAAA ::ffff:10.0.0.1", "a.example. 30 IN AAAA 2600::1"), answered, "2600::1", "a.example.", 30 * time.Second, ""},
		{"the same twice", v4, answerTo(v4, 0, "a.example. 30 IN A 9.9.9.9", "a.example. 30 IN A 9.9.9.9"), answered, "9.9.9.9", "a.example.", 30 * time.Second, ""},
		{"a negative TTL", v4, answerTo(v4, 0, "a.example. 4294967295 IN A 9.9.9.9"), answered, "9.9.9.9", "a.example.", 0, ""},
		{"no such name", v4, withSOA(answerTo(v4, dns.RcodeNameError), soa), noName, "", "a.example.", 7 * time.Second, ""},
		{"no such name behind an alias", v4, withSOA(answerTo(v4, dns.RcodeNameError, "a.example. 5 IN CNAME b.example."), soa), noName, "", "b.example.", 5 * time.Second, ""},
		{"no address", v4, withSOA(answerTo(v4, 0), soa), noData, "", "a.example.", 7 * time.Second, ""},
		{"no address behind an alias", v4, withSOA(answerTo(v4, 0, "a.example. 5 IN CNAME b.example."), soa), noData, "", "b.example.", 5 * time.Second, ""},
		{"no address, and no SOA", v4, answerTo(v4, 0), noData, "", "a.example.", 0, ""},
		{"no address, and the SOA of another zone", v4, far, noData, "", "a.example.", 0, ""},
		{"eight aliases", v4, answerTo(v4, 0, chain(8)...), answered, "9.9.9.9", "a8.example.", time.Minute, ""},
		{"nine aliases", v4, answerTo(v4, 0, chain(9)...), misaliased, "", "", 0, "it has more than 8 aliases"},
		{"a circle", v4, answerTo(v4, 0, "a.example. 5 IN CNAME b.example.", "b.example. 5 IN CNAME A.example."), misaliased, "", "", 0, "its aliases go round in a circle"},
		{"an alias of itself", v4, answerTo(v4, 0, "a.example. 5 IN CNAME a.example.", "a.example. 5 IN A 9.9.9.9"), misaliased, "", "", 0, "its aliases go round in a circle"},
		{"a hundred addresses", v4, answerTo(v4, 0, hundred...), answered, "9.9.9.0 9.9.9.1 9.9.9.2 9.9.9.3 9.9.9.4 9.9.9.5 9.9.9.6 9.9.9.7 9.9.9.8 9.9.9.9 9.9.9.10 9.9.9.11 9.9.9.12 9.9.9.13 9.9.9.14 9.9.9.15", "a.example.", time.Minute, ""},
		{"SERVFAIL", v4, answerTo(v4, dns.RcodeServerFailure), servfail, "", "", 0, "SERVFAIL"},
		{"SERVFAIL with a reason", v4, ede, servfail, "", "", 0, "SERVFAIL: DNSSEC Bogus"},
		{"REFUSED", v4, answerTo(v4, dns.RcodeRefused), refused, "", "", 0, "REFUSED"},
		{"NOTIMP", v4, answerTo(v4, dns.RcodeNotImplemented), otherCode, "", "", 0, "NOTIMP"},
		{"a code without a name", v4, answerTo(v4, 3000), otherCode, "", "", 0, "response code 3000"},
		{"a referral", v4, lame, referral, "", "", 0, "a referral instead of an answer"},
	}
	for _, c := range cases {
		r := read(c.q, c.m)
		if r.outcome != c.outcome || written(r.addrs) != c.addrs || r.final != c.final || r.ttl != c.ttl || r.detail != c.detail {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestOnlyTheAnswerToTheQuestionIsTaken(t *testing.T) {
	t.Parallel()
	q := asked("a.example", dns.TypeA)
	query := newQuery(q, true)
	cases := map[string]struct {
		change func(*dns.Msg)
		want   bool
	}{
		"as asked":               {func(*dns.Msg) {}, true},
		"upper case":             {func(m *dns.Msg) { m.Question[0].Name = "A.eXample." }, true},
		"another id":             {func(m *dns.Msg) { m.Id++ }, false},
		"a query":                {func(m *dns.Msg) { m.Response = false }, false},
		"another operation":      {func(m *dns.Msg) { m.Opcode = dns.OpcodeUpdate }, false},
		"another name":           {func(m *dns.Msg) { m.Question[0].Name = "b.example." }, false},
		"another type":           {func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA }, false},
		"another class":          {func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, false},
		"two questions":          {func(m *dns.Msg) { m.Question = append(m.Question, q) }, false},
		"no question":            {func(m *dns.Msg) { m.Question = nil }, false},
		"SERVFAIL to nothing":    {func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeServerFailure }, false},
		"no such name, nothing":  {func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeNameError }, false},
		"FORMERR to nothing":     {func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeFormatError }, true},
		"REFUSED without a word": {func(m *dns.Msg) { m.Question, m.Rcode = nil, dns.RcodeRefused }, true},
	}
	for name, c := range cases {
		m := answerTo(q, dns.RcodeSuccess, "a.example. 30 IN A 9.9.9.9")
		m.Id = query.Id
		c.change(m)
		if belongs(query, m) != c.want {
			t.Error(name)
		}
	}
}

func TestHoldingTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome outcome
		ttl     time.Duration
		want    time.Duration
	}{
		{answered, 0, 0}, {answered, time.Second, time.Second}, {answered, 30 * time.Second, 30 * time.Second}, {answered, time.Hour, time.Minute}, {answered, math.MaxInt64, time.Minute},
		{noName, 0, 0}, {noName, 5 * time.Second, 5 * time.Second}, {noName, time.Hour, 10 * time.Second}, {noData, time.Hour, 10 * time.Second},
		{servfail, time.Hour, time.Second}, {silence, time.Hour, time.Second}, {misaliased, time.Hour, time.Second}, {tooLarge, 0, time.Second},
	} {
		if got := hold(c.outcome, c.ttl); got != c.want {
			t.Errorf("%s for %v: %v", c.outcome, c.ttl, got)
		}
	}
}

// FuzzAnswer feeds what a server may send to everything that reads it.
func FuzzAnswer(f *testing.F) {
	v4, v6 := asked("a.example", dns.TypeA), asked("a.example", dns.TypeAAAA)
	bogus := answerTo(v4, dns.RcodeServerFailure)
	bogus.SetEdns0(1232, false)
	bogus.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: 6}}
	for _, m := range []*dns.Msg{
		answerTo(v4, 0, chain(3)...), answerTo(v4, 0, chain(9)...), answerTo(v6, 0, "a.example. 30 IN AAAA 2600::1", "a.example. 30 IN AAAA ::ffff:1.2.3.4"),
		answerTo(v4, 0, "a.example. 5 IN CNAME a.example."), withSOA(answerTo(v4, dns.RcodeNameError), soa), bogus,
	} {
		raw, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, m.Question[0].Qtype == dns.TypeAAAA)
	}
	f.Fuzz(func(t *testing.T, raw []byte, six bool) {
		q, family := v4, V4
		if six {
			q, family = v6, V6
		}
		query := newQuery(q, true)
		var m dns.Msg
		err := m.Unpack(raw)
		query.Id = m.Id
		if !belongs(query, &m) || err != nil {
			return
		}
		_ = KnowsNoEDNS(&m)
		r := read(q, &m)
		if (r.outcome == answered) != (len(r.addrs) > 0) || len(r.addrs) > maxAddresses || r.ttl < 0 {
			t.Fatalf("%+v", r)
		}
		for i, addr := range r.addrs {
			if !addr.IsValid() || addr.Is6() != six || addr.Is4In6() || addr.Zone() != "" || slices.Contains(r.addrs[:i], addr) {
				t.Fatalf("%v of %v", addr, r.addrs)
			}
		}
		if strings.ContainsFunc(r.final+r.detail, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Fatalf("%q, %q", r.final, r.detail)
		}
		if kept := hold(r.outcome, r.ttl); kept < 0 || kept > ceiling || kept == 0 && !r.outcome.settles() {
			t.Fatal(kept)
		}
		p := (&Resolver{reachable: func(a netip.Addr) bool { return a.Is4() }, base: time.Now()}).partOf(&flight{question: question{"a.example", int(family) - 1}}, "s", r)
		if (p.err == nil) != (len(p.addrs) > 0) {
			if r.outcome.settles() {
				t.Fatalf("%+v", p)
			}
		}
		if p.final != "" && misnamed(p.final) != "" {
			t.Fatalf("%q", p.final)
		}
	})
}
