package probe

import (
	"bytes"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// placeOf is where a visitor goes; empty when it asks the prober's own name servers.
func placeOf(t *testing.T, v visitor) (to endpoint, shown string) {
	t.Helper()
	switch v := v.(type) {
	case *httpVisitor:
		return endpoint{host: v.first.at.host, ip: v.first.at.ip, port: v.first.at.port}, v.first.shown
	case *tcpVisitor:
		return v.to, v.shown
	case *tlsVisitor:
		return v.to, v.shown
	case *pingVisitor:
		return v.to, v.shown
	case *grpcVisitor:
		return v.at, v.shown
	case *wsVisitor:
		return v.at, v.shown
	case *dnsVisitor:
		return v.target.at, v.target.shown
	}
	t.Fatalf("nobody knows %T", v)
	return endpoint{}, ""
}

// FuzzTargetURL makes visitors of any text: what may be saved can be visited, at the very
// place that was judged; and whatever a text is, it cannot break out of a request or a line.
func FuzzTargetURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/a?b#c", "http://[2606:4700::1111]:8080", "http://bücher.example/ü?ü", "tcp://example.com:25", "tls://example.com", "icmp://1.1.1.1", "grpc://example.com:1/a.B", "grpcs://example.com",
		"wss://example.com/feed?x", "ws://a_b.example./", "dns:///example.com?type=MX", "dns://1.1.1.1:53/a.b?type=txt;class=in", "dns://ns.example/_sip._udp.x", "dns:.", "http://a.example./", "http://-a.example/",
		"http://u:hunter2@a.example/", "http://a\r\nb/", "http://a.example/\\", "tcp://[fe80::1%25eth0]:1", "tls://a'b:1", "http://a.example/%0d%0a", "ws://a/ b", "dns:a\\.b", "grpc://a:1/\x00", "tls://１.1.1.1", "http://a.example:/", "http://a.example:080/", "http://a.example:0/", "tcp://a:0", "tcp://a:65536",
	} {
		f.Add(seed)
	}
	for _, kind := range []string{"A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT", "PTR", "ANY"} {
		f.Add("dns:///a.example?type=" + kind)
	}
	closed := guard.New(nil)
	o := options(nil, func(o *Options) { o.Guard, o.Questions = closed, nobodyAsked{} })
	all := compilers(o)
	asserts, err := assertion.Compile(nil)
	if err != nil {
		f.Fatal(err)
	}
	compiled := func(kind uptime.Kind, text string) (visitor, error) {
		return all[kind](blueprint{url: text, asserts: asserts, follow: true, secrets: &keyring{unseal: o.Open}})
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > spec.MaxURL {
			return
		}
		for kind := range all {
			v, err := compiled(kind, text)
			if err == nil {
				judgeVisitor(t, text, v)
			} else if message := err.Error(); strings.ContainsFunc(message, unicode.IsControl) || len(message) > maxMessage {
				t.Fatalf("%q: %q", text, message)
			}
		}
		cleaned, kind, bad := spec.URL(text, nil)
		if bad != nil {
			return
		}
		v, err := compiled(kind, cleaned)
		if err != nil {
			t.Fatalf("%q may be saved as %q, and not be visited: %v", text, cleaned, err)
		}
		u, err := url.Parse(cleaned)
		if err != nil {
			t.Fatal(err)
		}
		to, _ := placeOf(t, v)
		if literal, err := netip.ParseAddr(u.Hostname()); err == nil && (literal != to.ip || !closed.Allows(to.ip)) || err != nil && (to.ip.IsValid() || to.host != u.Hostname()) {
			t.Fatalf("%q leads to %+v", cleaned, to)
		}
	})
}

// judgeVisitor holds what must be true of whatever is made ready.
func judgeVisitor(t *testing.T, text string, v visitor) {
	t.Helper()
	to, shown := placeOf(t, v)
	if to.host == "" != (to.port == 0 && !to.ip.IsValid()) && !isPing(v) || strings.ContainsFunc(to.host, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || strings.ContainsAny(to.host, "/?#@\"\\[]") || to.ip.Zone() != "" && strings.Contains(to.host, "%") {
		t.Fatalf("%q leads to %+v", text, to)
	}
	if strings.ContainsFunc(shown, unicode.IsControl) || strings.ContainsFunc(v.command(), unicode.IsControl) {
		t.Fatalf("%q is shown as %q, %q", text, shown, v.command())
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		if password, set := u.User.Password(); set && len(password) > 8 && strings.Contains(shown+v.command(), password) && !strings.Contains(u.Host+u.Path, password) {
			t.Fatalf("%q shows its password: %q, %q", text, shown, v.command())
		}
	}
	switch v := v.(type) {
	case *httpVisitor:
		judgeRequest(t, v, v.first)
	case *wsVisitor:
		judgeHead(t, text, v.head, v.tail)
	case *dnsVisitor:
		if len(v.queries[0].message) > 0 {
			var m dns.Msg
			if err := m.Unpack(v.queries[0].message); err != nil || len(m.Question) != 1 || m.Question[0] != v.target.question {
				t.Fatalf("%q asks %v: %v", text, m.Question, err)
			}
		}
	}
}

func isPing(v visitor) bool {
	_, is := v.(*pingVisitor)
	return is
}

// judgeHead holds that a handshake has as many lines as it should.
func judgeHead(t *testing.T, text string, head, tail []byte) {
	t.Helper()
	whole := append(append(bytes.Clone(head), "x"...), tail...)
	if bytes.Count(whole, []byte("\n")) != 8 || bytes.Count(whole, []byte("\r")) != 8 || bytes.ContainsAny(whole, "\x00") {
		t.Fatalf("%q asks %q", text, whole)
	}
}

// FuzzUnescaped reads texts of zone files: what is written with escapes comes back.
func FuzzUnescaped(f *testing.F) {
	for _, text := range []string{"v=spf1 -all", `say \"hi\" \\ \195\164`, `\`, `\2`, `\256`, `\000`, "\xff", `\\\`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := unescaped(text); len(got) > len(text) {
			t.Fatalf("%q became %q", text, got)
		}
		raw := text[:min(len(text), 255)]
		m := &dns.TXT{Hdr: dns.RR_Header{Name: "a.", Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{escaped(raw)}}
		wire := make([]byte, 1024)
		n, err := dns.PackRR(m, wire, 0, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := dns.UnpackRR(wire[:n], 0)
		if err != nil || dataOf(back) != raw {
			t.Fatalf("%q came back as %q, %v", raw, dataOf(back), err)
		}
	})
}

// escaped writes a text as zone files do (RFC 1035 §5.1), each byte by its number.
func escaped(text string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteByte('\\')
		out.WriteByte('0' + text[i]/100)
		out.WriteByte('0' + text[i]/10%10)
		out.WriteByte('0' + text[i]%10)
	}
	return out.String()
}
