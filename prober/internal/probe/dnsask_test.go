package probe

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
)

// serveUDP answers each packet with what answer says of it, in a port of its own.
func serveUDP(t *testing.T, answer func(count int, query *dns.Msg) []*dns.Msg) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for count := 1; ; count++ {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			query := new(dns.Msg)
			if err := query.Unpack(buffer[:n]); err != nil {
				t.Error(err)
			}
			for _, m := range answer(count, query) {
				packed, err := m.Pack()
				if err != nil {
					t.Error(err)
				}
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// sound is an answer with one address.
func sound(query *dns.Msg) *dns.Msg {
	m := new(dns.Msg).SetReply(query)
	m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: query.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(192, 0, 2, 1)}}
	return m
}

func TestDNSOverUDP(t *testing.T) {
	t.Parallel()
	lost := serveUDP(t, func(count int, query *dns.Msg) []*dns.Msg {
		if count == 1 {
			return nil
		}
		return []*dns.Msg{sound(query)}
	})
	old := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg {
		if query.IsEdns0() != nil {
			return []*dns.Msg{{MsgHdr: dns.MsgHdr{Id: query.Id, Response: true, Rcode: dns.RcodeFormatError}}}
		}
		return []*dns.Msg{sound(query)}
	})
	flood := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg {
		m := sound(query)
		m.Id++
		return slices.Repeat([]*dns.Msg{m}, maxStranger)
	})
	echo := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg { return []*dns.Msg{query} })
	large := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg {
		m := sound(query)
		m.Answer = slices.Repeat(m.Answer, 300)
		return []*dns.Msg{m}
	})
	badVersion := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg {
		m := new(dns.Msg).SetReply(query)
		m.SetEdns0(1232, false)
		m.Rcode = dns.RcodeBadVers
		return []*dns.Msg{m}
	})
	reason := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg {
		m := new(dns.Msg).SetRcode(query, dns.RcodeServerFailure)
		m.SetEdns0(1232, false).IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeDNSBogus}}
		return []*dns.Msg{m}
	})
	referral := serveUDP(t, func(_ int, query *dns.Msg) []*dns.Msg {
		m := new(dns.Msg).SetReply(query)
		m.Ns = []dns.RR{&dns.NS{Hdr: dns.RR_Header{Name: "test.", Rrtype: dns.TypeNS, Class: dns.ClassINET}, Ns: "ns.test."}}
		return []*dns.Msg{m}
	})
	e := New(options(nil))
	for _, c := range []struct {
		name, server string
		want         any
		message      string
		hops         int
	}{
		{"a lost question is sent again", lost, nil, "", 1},
		{"a server without EDNS", old, nil, "", 2},
		{"messages of strangers without end", flood, uptime.FailureProtocol, "100 messages came and none belongs to the question", 1},
		{"the question comes back", echo, uptime.FailureTimeout, "because it was no DNS answer", 1},
		{"more than was offered", large, uptime.FailureTooLarge, "larger than 4 KiB", 1},
		{"BADVERS", badVersion, uptime.FailureDNS, "the server answered BADVERS", 2},
		{"the server's reason", reason, uptime.FailureDNS, "the server answered SERVFAIL: DNSSEC Bogus", 1},
		{"referral", referral, uptime.FailureDNS, "the server knows no A record and refers to others", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := e.Look(t.Context(), dnsCheck("dns://"+c.server+"/a.test", uptime.Spec{}))
			verify(t, o, c.want, 0)
			if !strings.Contains(o.Message, c.message) || int(o.Seen.Hops) != c.hops {
				t.Errorf("%q after %d hops", o.Message, o.Seen.Hops)
			}
		})
	}
}
