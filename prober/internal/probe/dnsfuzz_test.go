package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
)

// nobodyAsked is a resolver that must not be asked.
type nobodyAsked struct{}

func (nobodyAsked) Exchange(context.Context, dns.Question) (*dns.Msg, error) {
	return nil, errors.New("nobody is to be asked")
}

// askers are visitors that ask for each type of record.
func askers(f *testing.F) []*dnsVisitor {
	f.Helper()
	e := New(options(nil))
	var all []*dnsVisitor
	for _, kind := range dnsTypes {
		p := e.plans.of(new(dnsCheck("dns://127.0.0.1/a.test?type="+kind, uptime.Spec{})))
		if !p.bad.none() {
			f.Fatal(p.bad)
		}
		all = append(all, p.visitor.(*dnsVisitor))
	}
	return all
}

// dnsAnswers are messages that answer the question for a.test with the id 0.
func dnsAnswers(f *testing.F, kind uint16) [][]byte {
	f.Helper()
	var all [][]byte
	for i, lines := range [][]string{
		{"a.test. 60 IN A 192.0.2.1", "a.test. 4294967295 IN A 192.0.2.2"}, {"A.test. 60 IN CNAME b.TEST.", "b.test. 1 IN AAAA 2001:db8::1", "evil.test. 60 IN A 192.0.2.66"},
		{`a.test. 60 IN TXT "say \"hi\" \\ \195\164" "` + canary + `"`, "a.test. 60 CH TXT x"}, {"a.test. 5 IN CNAME a.test."}, {"a.test. 9 IN MX 10 mail.test.", "a.test. 9 IN CAA 0 issue \"ca.test\""},
		{"a.test. 9 IN SOA ns.test. me.test. 1 2 3 4 5", "a.test. 9 IN NS ns.test.", "a.test. 9 IN SRV 1 2 3 x.test."}, {`a.test. 9 IN TYPE65400 \# 4 00ff1b0a`, `a.test. 9 IN HINFO "x" "\027[31m"`}, nil,
	} {
		m := &dns.Msg{Question: []dns.Question{{Name: "a.test.", Qtype: kind, Qclass: dns.ClassINET}}}
		m.Response, m.RecursionAvailable = true, true
		for _, line := range lines {
			record, err := dns.NewRR(line)
			if err != nil {
				f.Fatal(err)
			}
			m.Answer = append(m.Answer, record)
		}
		m.SetEdns0(1232, false)
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: 6, ExtraText: "\x1b[31m"}}
		for _, code := range []int{0, 2, 3, 16}[:max(1, 4-4*i)] {
			m.Rcode = code
			raw, err := m.Pack()
			if err != nil {
				f.Fatal(err)
			}
			all = append(all, raw)
		}
	}
	return all
}

// FuzzDNSAnswer reads what a server may send: only what belongs to the question counts, and
// only records of its name and of what its aliases lead to.
func FuzzDNSAnswer(f *testing.F) {
	visitors := askers(f)
	for i, kind := range dnsTypes {
		for _, raw := range dnsAnswers(f, dns.StringToType[kind]) {
			f.Add(raw, uint8(i), uint16(0))
		}
	}
	f.Add(dnsAnswers(f, dns.TypeA)[0], uint8(0), uint16(7)) // another id
	f.Add(dnsAnswers(f, dns.TypeA)[0], uint8(1), uint16(0)) // another question
	f.Add([]byte{0, 0, 0x82, 0}, uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, raw []byte, which uint8, id uint16) {
		v := visitors[int(which)%len(visitors)]
		before := allocated()
		m, err := readAnswer(raw, id, v.target.question)
		if cost := allocated() - before; cost > 4<<20+200*uint64(len(raw)) {
			t.Fatalf("%d bytes were allocated for a message of %d", cost, len(raw))
		}
		if err != nil {
			return
		}
		if len(raw) < 12 || binary.BigEndian.Uint16(raw) != id || raw[2]&0x80 == 0 {
			t.Fatalf("%x is taken for an answer to %d", raw, id)
		}
		if asked := v.target.question; len(m.Question) > 1 || len(m.Question) == 1 && (m.Question[0].Qtype != asked.Qtype || !strings.EqualFold(m.Question[0].Name, asked.Name)) || len(m.Question) == 0 && m.Rcode == dns.RcodeSuccess {
			t.Fatalf("%v is taken for an answer to %v", m, asked)
		}
		judgeAnswer(t, v, m)
	})
}

// judgeAnswer holds what must be true of an answer that was taken in.
func judgeAnswer(t *testing.T, v *dnsVisitor, m *dns.Msg) {
	t.Helper()
	var s sighting
	s.Secrets = []string{canary}
	s.sawAnswer(m, v.target.question)
	bad := v.uninformed(m, &s)
	if bad.none() {
		bad = v.expected(m, &s)
	}
	if bad.reason != uptime.ReasonNone || len(bad.message) > maxMessage || strings.ContainsFunc(bad.message, unicode.IsControl) {
		t.Fatalf("%+v", bad)
	}
	if bad.none() && (m.Rcode != dns.RcodeSuccess || len(s.Records[v.target.kind]) == 0) {
		t.Fatalf("%v is good enough", m)
	}
	reached := ownersOf(v.target.question.Name, m.Answer)
	if len(reached) > maxAliases+1 {
		t.Fatalf("%d names", len(reached))
	}
	count := 0
	for _, list := range s.Records {
		count += len(list)
	}
	for _, record := range m.Answer {
		if header := record.Header(); header.Class == dns.ClassINET && reached[strings.ToLower(header.Name)] {
			count--
		}
	}
	if count != 0 {
		t.Fatalf("%d records too many of %v: %v", count, m.Answer, s.Records)
	}
	shown := s.shownRecords()
	if len(shown) > maxEvidenceRecords {
		t.Fatalf("%d records are shown", len(shown))
	}
	for _, r := range shown {
		if len(r.Data) > uptime.MaxEvidenceValue || !utf8.ValidString(r.Data) || strings.ContainsFunc(r.Data, unicode.IsControl) || strings.Contains(r.Data, canary) || r.TTL > 1<<31-1 || strings.ContainsFunc(r.Type, unicode.IsControl) {
			t.Fatalf("%+v is shown", r)
		}
	}
}

// answering is a server over a stream that gives every message the id of the question, if it
// is to.
type answering struct {
	scriptedServer
	script []byte
	knows  bool
	slowly bool
}

func (c *answering) Write(p []byte) (int, error) {
	if c.in == nil {
		sent := bytes.Clone(c.script)
		for at := 0; c.knows && at+4 <= len(sent); at += 2 + int(binary.BigEndian.Uint16(sent[at:])) {
			copy(sent[at+2:at+4], p[2:4])
		}
		c.in = bytes.NewReader(sent)
		if c.slowly {
			c.in = iotest.OneByteReader(c.in)
		}
	}
	return len(p), nil
}

var _ net.Conn = (*answering)(nil)

// FuzzDNSStream reads messages over TCP and TLS until one is the answer, and no more than
// there may be.
func FuzzDNSStream(f *testing.F) {
	visitors := askers(f)
	for i, kind := range dnsTypes {
		var stream []byte
		for _, raw := range dnsAnswers(f, dns.StringToType[kind]) {
			framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(raw))), raw...)
			f.Add(framed, uint8(i), true, false)
			stream = append(stream, framed...)
		}
		f.Add(stream, uint8(i), false, true)
	}
	f.Add([]byte(strings.Repeat("\x00\x00", 200)), uint8(0), true, true)
	f.Add([]byte(strings.Repeat("\xff\xff"+strings.Repeat("x", 0xffff), 3)), uint8(0), true, false)
	f.Fuzz(func(t *testing.T, script []byte, which uint8, knows, slowly bool) {
		v := visitors[int(which)%len(visitors)]
		server := &answering{script: script, knows: knows, slowly: slowly}
		var s sighting
		begin := time.Now()
		m, bad := v.overStream(server, s.hop("x"), v.queries[0].message)
		if server.taken > maxStreamed {
			t.Fatalf("%d bytes were taken", server.taken)
		}
		if (m == nil) == bad.none() || bad.reason != uptime.ReasonNone || len(bad.message) > maxMessage || strings.ContainsFunc(bad.message, unicode.IsControl) {
			t.Fatalf("%v, %+v", m, bad)
		}
		if took := time.Since(begin); took > hang {
			t.Fatalf("took %v", took)
		}
		if m != nil {
			judgeAnswer(t, v, m)
		}
	})
}

// FuzzDoHAnswer reads answers over HTTP/1.1, which cost no more than they may.
func FuzzDoHAnswer(f *testing.F) {
	for _, seed := range httpAnswers() {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(1))
	}
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\nContent-Length: 12\r\n\r\n\x00\x00\x80\x05\x00\x00\x00\x00\x00\x00\x00\x00"), uint8(2))
	f.Fuzz(func(t *testing.T, sent []byte, ending uint8) {
		const limit = 4 << 10
		server := &scriptedServer{in: ioMulti(sent, endings(ending))}
		begun := 0
		reply, bad := askH1(server, []byte("x"), limit, func() { begun++ })
		if begun != 1 || server.taken > maxHeaders+limit+framing {
			t.Fatalf("begun %d times, %d bytes were taken", begun, server.taken)
		}
		if !bad.none() {
			if bad.reason != uptime.ReasonNone || len(bad.message) > maxMessage || strings.ContainsFunc(bad.message, unicode.IsControl) {
				t.Fatalf("%+v", bad)
			}
			return
		}
		if len(reply.body) > limit || reply.status < 0 || reply.status > 999 {
			t.Fatalf("%d bytes with the status %d", len(reply.body), reply.status)
		}
		_, _ = readAnswer(reply.body, 0, dns.Question{Name: "a.test.", Qtype: dns.TypeA, Qclass: dns.ClassINET})
	})
}
