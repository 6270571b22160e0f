package probe

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// labAt gives the address of a server of the lab.
func labAt(tb testing.TB, l *lab.Lab, name string) string {
	tb.Helper()
	addr, err := l.Addr(name)
	if err != nil {
		tb.Fatal(err)
	}
	return addr
}

func dnsCheck(url string, spec uptime.Spec) uptime.Check {
	check := checkOf(url)
	check.Kind, check.Spec = uptime.KindDNS, spec.Text()
	return check
}

// over is a spec with nothing but a transport.
func over(transport uptime.DNSTransport) uptime.Spec {
	return uptime.Spec{DNS: &uptime.DNSSpec{Transport: transport}}
}

// wanting is a spec with assertions, each as "source name op value".
func wanting(texts ...string) uptime.Spec {
	var spec uptime.Spec
	for _, text := range texts {
		words := strings.SplitN(text, " ", 4)
		spec.Assertions = append(spec.Assertions, uptime.Assertion{
			Source: uptime.Source(words[0]), Name: strings.Trim(words[1], "-"), Op: uptime.Op(words[2]), Value: strings.Join(words[3:], ""),
		})
	}
	return spec
}

// own is the resolver of a prober that asks the lab.
func own(tb testing.TB, servers string, o Options) *resolve.Resolver {
	tb.Helper()
	config, err := resolve.Parse(servers)
	if err != nil {
		tb.Fatal(err)
	}
	r := resolve.New(config, resolve.Options{Roots: o.Roots, Log: o.Log, Metrics: prometheus.NewRegistry()})
	tb.Cleanup(r.Close)
	return r
}

// nobody is the address of a port that refuses.
func nobody(tb testing.TB) string {
	tb.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.LocalAddr().String()
}

const lossy = 400 * time.Millisecond // until a visit that nobody answers ends

func TestDNS(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	_, port, _ := net.SplitHostPort(labAt(t, l, "dns"))
	o := options(l, func(o *Options) {
		o.Resolver = names{"ns.test": {"127.0.0.1"}, "inside.test": {"127.0.0.2"}, "both.test": {"127.0.0.2", "127.0.0.1"}}
	})
	o.Questions = own(t, "127.0.0.1:"+port, o)
	e := New(o)
	udp, tcp, dot, doh := "dns://127.0.0.1:"+port, over(uptime.DNSOverTCP), over(uptime.DNSOverTLS), over(uptime.DNSOverHTTPS)
	dotURL, dohURL := "dns://"+labAt(t, l, "dot"), "dns://"+labAt(t, l, "h2")
	cases := []struct {
		name, url string
		spec      uptime.Spec
		want      any
		message   string // a part of it
		hops      int
	}{
		{"A", udp + "/a-192-0-2-1.lab.test", uptime.Spec{}, nil, "", 1},
		{"AAAA", udp + "/aaaa-2001-db8--1.lab.test?type=AAAA", uptime.Spec{}, nil, "", 1},
		{"MX", udp + "/lab.test?type=MX", uptime.Spec{}, nil, "", 1},
		{"in lower case, with a class", udp + "/lab.test?TYPE=mx;CLASS=in", uptime.Spec{}, nil, "", 1},
		{"alias", udp + "/cname-3.lab.test", uptime.Spec{}, nil, "", 1},
		{"server by name", "dns://ns.test:" + port + "/lab.test?type=TXT", uptime.Spec{}, nil, "", 1},
		{"second address of the server", "dns://both.test:" + port + "/lab.test?type=TXT", uptime.Spec{}, nil, "", 1},
		{"over TCP", udp + "/lab.test?type=NS", tcp, nil, "", 1},
		{"over TLS", dotURL + "/lab.test?type=SOA", dot, nil, "", 1},
		{"over HTTPS", dohURL + "/lab.test?type=SRV", doh, nil, "", 1},
		{"over HTTPS 1.1", "dns://" + strings.TrimPrefix(l.TLSURL(), "https://") + "/lab.test?type=CAA", doh, nil, "", 1},
		{"truncated", udp + "/truncated.a-192-0-2-1.lab.test", uptime.Spec{}, nil, "", 2},
		{"large", udp + "/many-200.lab.test", uptime.Spec{}, nil, "", 2},
		{"spoofed", udp + "/spoofed.a-192-0-2-1.lab.test", wanting("dns A equals 192.0.2.1"), nil, "", 1},
		{"slow", udp + "/slow-50ms.a-192-0-2-1.lab.test", uptime.Spec{}, nil, "", 1},
		{"own servers", "dns:///lab.test?type=MX", uptime.Spec{}, nil, "", 1},
		{"own servers, without an authority", "dns:lab.test?type=MX", uptime.Spec{}, nil, "", 1},
		{"own servers, truncated", "dns:truncated.a-192-0-2-1.lab.test", uptime.Spec{}, nil, "", 1},

		{"no such name", udp + "/gone.lab.test", uptime.Spec{}, uptime.FailureDNS, "NXDOMAIN: there is no such name", 1},
		{"SERVFAIL", udp + "/servfail.lab.test", uptime.Spec{}, uptime.FailureDNS, "the server answered SERVFAIL", 1},
		{"REFUSED", udp + "/example.com", uptime.Spec{}, uptime.FailureDNS, "the server answered REFUSED", 1},
		{"FORMERR", udp + "/formerr.lab.test", uptime.Spec{}, uptime.FailureDNS, "the server answered FORMERR", 2},
		{"NOTIMP over TLS", dotURL + "/notimp.lab.test", dot, uptime.FailureDNS, "the server answered NOTIMP", 2},
		{"no data", udp + "/nodata.lab.test?type=MX", uptime.Spec{}, uptime.FailureDNS, "the name has no MX record", 1},
		{"alias to nothing", udp + "/cname-1.nodata.lab.test", uptime.Spec{}, uptime.FailureDNS, "the name is an alias that leads to no A record", 1},
		{"aliases in a circle", udp + "/loop.lab.test", uptime.Spec{}, uptime.FailureDNS, "alias", 1},
		{"own servers, no such name", "dns:///gone.lab.test", uptime.Spec{}, uptime.FailureDNS, "NXDOMAIN", 1},

		{"blocked", "dns://127.0.0.2:" + port + "/lab.test", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"blocked over TCP", "dns://127.0.0.2:" + port + "/lab.test", tcp, uptime.ReasonBlockedAddress, "", 0},
		{"blocked name", "dns://inside.test:" + port + "/lab.test", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"blocked v6", "dns://[::1]:" + port + "/lab.test", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"metadata", "dns://169.254.169.254/lab.test", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"no such server", "dns://gone.test/lab.test", uptime.Spec{}, uptime.FailureDNS, "no such host name", 1},
		{"refused", "dns://" + nobody(t) + "/lab.test", uptime.Spec{}, uptime.FailureConnectRefused, "", 1},
		{"refused over TCP", "dns://" + labAt(t, l, "refused") + "/lab.test", tcp, uptime.FailureConnectRefused, "", 1},
		{"silence", udp + "/silent.lab.test", uptime.Spec{}, uptime.FailureTimeout, "no answer within the timeout", 1},
		{"silence over TCP", udp + "/silent.lab.test", tcp, uptime.FailureTimeout, "timed out waiting for an answer", 1},
		{"silence over HTTPS", dohURL + "/silent.lab.test", doh, uptime.FailureTimeout, "timed out waiting for an answer", 1},
		{"silence of TLS", "dns://" + labAt(t, l, "tls-silent") + "/lab.test", dot, uptime.FailureTimeout, "no TLS handshake", 1},
		{"closed", "dns://" + labAt(t, l, "tcp-close") + "/lab.test", tcp, uptime.FailureReset, "connection closed waiting for an answer", 1},
		{"reset", "dns://" + labAt(t, l, "tcp-reset") + "/lab.test", tcp, uptime.FailureReset, "connection reset", 1},
		{"wrong id", udp + "/wrong-id.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureTimeout, "because it had another id", 1},
		{"wrong id over TCP", udp + "/wrong-id.a-192-0-2-1.lab.test", tcp, uptime.FailureTimeout, "because it had another id", 1},
		{"wrong id over HTTPS", dohURL + "/wrong-id.a-192-0-2-1.lab.test", doh, uptime.FailureProtocol, "it had another id", 1},
		{"wrong question", udp + "/wrong-name.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureTimeout, "because it answered another question", 1},
		{"garbage", udp + "/garbage.lab.test", uptime.Spec{}, uptime.FailureTimeout, "none belongs to the question", 1},
		{"a header", udp + "/header.lab.test", uptime.Spec{}, uptime.FailureTimeout, "because it answered another question", 1},
		{"half", udp + "/half.a-192-0-2-1.a-192-0-2-2.a-192-0-2-3.a-192-0-2-4.a-192-0-2-5.a-192-0-2-6.a-192-0-2-7.lab.test", uptime.Spec{}, uptime.FailureProtocol, "the answer is malformed", 1},
		{"pointer loop", udp + "/pointer-loop.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureProtocol, "the answer is malformed", 1},
		{"always truncated", udp + "/always-truncated.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureProtocol, "the answer is marked as cut, although it came over TCP", 2},
		{"untrusted", "dns://" + labAt(t, l, "untrusted") + "/lab.test", dot, uptime.FailureTLSUntrusted, "", 1},
		{"expired", "dns://" + strings.TrimPrefix(l.ExpiredURL(), "https://") + "/lab.test", doh, uptime.FailureTLSExpired, "", 1},
		{"a flood over TCP", "dns://" + labAt(t, l, "tcp-flood") + "/lab.test", tcp, uptime.FailureTooLarge, "more than an answer may have", 1},

		{"assertion met", udp + "/lab.test?type=MX", wanting("dns MX contains backup", "rcode - equals NOERROR"), nil, "", 1},
		{"assertion not met", udp + "/lab.test?type=MX", wanting("dns MX equals 10 mail.example"), uptime.FailureDNS, "DNS MX", 1},
		{"NXDOMAIN wanted", udp + "/gone.lab.test", wanting("rcode - equals NXDOMAIN"), nil, "", 1},
		{"NXDOMAIN not wanted", udp + "/gone.lab.test", wanting("rcode - in NOERROR,SERVFAIL"), uptime.FailureDNS, "NXDOMAIN", 1},
		{"no record wanted", udp + "/nodata.lab.test", wanting("dns A absent"), nil, "", 1},
		{"SERVFAIL wanted", udp + "/servfail.lab.test", wanting("rcode - equals SERVFAIL"), nil, "", 1},
		{"another assertion leaves the rule", udp + "/gone.lab.test", wanting("latency - lt 5000"), uptime.FailureDNS, "NXDOMAIN", 1},
		{"too slow", udp + "/slow-50ms.a-192-0-2-1.lab.test", wanting("phase wait lt 20"), uptime.FailureLatency, "", 1},

		{"another scheme", "https://lab.test/", uptime.Spec{}, uptime.ReasonInternal, "the scheme is not dns", 0},
		{"transport without a server", "dns:///lab.test", tcp, uptime.ReasonInternal, "the URL must name a server", 0},
		{"unknown transport", udp + "/lab.test", over("doq"), uptime.ReasonInternal, "knows no DNS over", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := dnsCheck(c.url, c.spec)
			check.Timeout = 5 * time.Second
			if c.want == uptime.FailureTimeout {
				check.Timeout = lossy
			}
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, 0)
			if !strings.Contains(o.Message, c.message) || int(o.Seen.Hops) != c.hops {
				t.Errorf("%q after %d hops, want %q after %d", o.Message, o.Seen.Hops, c.message, c.hops)
			}
		})
	}
}

func TestDNSRecords(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	server := "dns://" + labAt(t, l, "dns") + "/"
	e := New(options(l))
	record := func(kind, data string, ttl uint32) uptime.Record {
		return uptime.Record{Type: kind, Data: data, TTL: ttl}
	}
	for name, want := range map[string][]uptime.Record{
		"a-192-0-2-1.a-192-0-2-2.ttl-7.lab.test": {record("A", "192.0.2.2", 7), record("A", "192.0.2.1", 7)},
		"aaaa-2001-db8--1.lab.test?type=AAAA":    {record("AAAA", "2001:db8::1", 60)},
		"cname-2.a-192-0-2-1.lab.test": {
			record("CNAME", "cname-1.a-192-0-2-1.lab.test.", 60), record("CNAME", "a-192-0-2-1.lab.test.", 60), record("A", "192.0.2.1", 60),
		},
		"cname-1.lab.test?type=CNAME":       {record("CNAME", "lab.test.", 60)},
		"lab.test?type=MX":                  {record("MX", "10 lab.test.", 60), record("MX", "20 x-backup.lab.test.", 60)},
		"txt-one.txt-two.lab.test?type=TXT": {record("TXT", "onetwo", 60)},
		"lab.test?type=NS":                  {record("NS", "x-ns1.lab.test.", 60), record("NS", "x-ns2.lab.test.", 60)},
		"lab.test?type=SOA":                 {record("SOA", "x-ns1.lab.test. hostmaster.lab.test. 1 3600 600 86400 60", 60)},
		"lab.test?type=CAA":                 {record("CAA", `0 issue "ca.lab.test"`, 60)},
		"_sip._udp.lab.test?type=SRV":       {record("SRV", "10 5 443 lab.test.", 60)},
	} {
		o := e.Look(t.Context(), dnsCheck(server+name, uptime.Spec{}))
		if o.Evidence == nil || o.Evidence.Rcode != "NOERROR" {
			t.Fatalf("%s: %+v", name, o)
		}
		got := slices.Clone(o.Evidence.Records)
		if strings.HasPrefix(name, "a-192") { // in whichever order
			slices.SortFunc(got, func(a, b uptime.Record) int { return strings.Compare(b.Data, a.Data) })
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	o := e.Look(t.Context(), dnsCheck(server+"many-300.lab.test", wanting("dns A in 198.18.0.0/15")))
	if o.Status != uptime.StatusUp || len(o.Evidence.Records) != maxEvidenceRecords || o.Evidence.Hops[1].Protocol != "TCP" || o.Seen.Protocol != "TCP" {
		t.Errorf("%+v", o)
	}
}

// What a server adds about names that nobody asked for is not believed.
func TestDNSStrangersRecordsAreLeftOut(t *testing.T) {
	t.Parallel()
	m := new(dns.Msg)
	for _, line := range []string{
		"A.test. 60 IN CNAME b.TEST.", "b.test. 60 IN CNAME c.test.", "c.test. 4294967295 IN A 192.0.2.1", "evil.test. 60 IN A 192.0.2.66", "c.test. 60 CH A 192.0.2.67",
		`b.test. 60 IN TXT "say \"hi\" \\ \195\164"`,
	} {
		record, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		m.Answer = append(m.Answer, record)
	}
	var s sighting
	s.sawAnswer(m, dns.Question{Name: "a.test."})
	want := map[string][]string{"CNAME": {"b.TEST.", "c.test."}, "A": {"192.0.2.1"}, "TXT": {`say "hi" \ ä`}}
	if diff := cmp.Diff(want, s.Records); diff != "" {
		t.Error(diff)
	}
	if s.records[2].TTL != 0 {
		t.Errorf("a TTL of %d s", s.records[2].TTL)
	}
}

func TestDNSPhases(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	const name = "/slow-60ms.a-192-0-2-1.lab.test"
	for server, spec := range map[string]uptime.Spec{"dns": {}, "dns ": over(uptime.DNSOverTCP), "dot": over(uptime.DNSOverTLS), "h2": over(uptime.DNSOverHTTPS)} {
		o := e.Look(t.Context(), dnsCheck("dns://"+labAt(t, l, strings.TrimSpace(server))+name, spec))
		udp, secure := server == "dns", strings.TrimSpace(server) != "dns"
		if o.Status != uptime.StatusUp || o.Phases.Wait < 60_000 || (o.Phases.Connect == 0) != udp || (o.Phases.TLS > 0) != secure || o.CertNotAfter.IsZero() == secure {
			t.Errorf("%s: %+v", server, o)
		}
		if want := netip.MustParseAddr("127.0.0.1"); o.Address != want {
			t.Errorf("%s: at %v", server, o.Address)
		}
	}
}

func TestDNSCommand(t *testing.T) {
	t.Parallel()
	e := New(options(nil, func(o *Options) { o.Questions = silentServers{} }))
	for _, c := range []struct {
		url  string
		spec uptime.Spec
		want string
	}{
		{"dns:lab.test?type=MX", uptime.Spec{}, `dig -t MX -q 'lab.test.'`},
		{"dns://NS.test/-x'y.test", uptime.Spec{Family: uptime.FamilyV6}, `dig -6 '@NS.test' -p 53 -t A -q '-x\'\''y.test.'`},
		{"dns://[2001:db8::1]:5353/lab.test", over(uptime.DNSOverTCP), `dig '@2001:db8::1' -p 5353 +tcp -t A -q 'lab.test.'`},
		{"dns://ns.test/lab.test", over(uptime.DNSOverTLS), `dig '@ns.test' -p 853 +tls -t A -q 'lab.test.'`},
		{"dns://ns.test/192.0.2.1?type=PTR", over(uptime.DNSOverHTTPS), `dig '@ns.test' -p 443 +https=/dns-query -t PTR -q '1.2.0.192.in-addr.arpa.'`},
	} {
		p := e.plans.of(dnsCheck(c.url, c.spec))
		if !p.bad.none() {
			t.Fatal(c.url, p.bad)
		}
		if got := p.visitor.command(); got != c.want {
			t.Errorf("%s: %s", c.url, got)
		}
	}
}

// silentServers are a prober's own servers that are dead.
type silentServers struct{}

func (silentServers) Exchange(context.Context, dns.Question) (*dns.Msg, error) {
	return nil, &resolve.Trouble{What: "no server answered"}
}

func TestDNSSilenceOfOwnServersIsOurs(t *testing.T) {
	t.Parallel()
	e := New(options(nil, func(o *Options) { o.Questions = silentServers{} }))
	verify(t, e.Look(t.Context(), dnsCheck("dns:///example.com", uptime.Spec{})), uptime.ReasonProbeDNS, 0)
	o := options(nil)
	o.Questions = own(t, nobody(t), o)
	verify(t, New(o).Look(t.Context(), dnsCheck("dns:///example.com", uptime.Spec{})), uptime.ReasonProbeDNS, 0)
	verify(t, New(options(nil)).Look(t.Context(), dnsCheck("dns:///example.com", uptime.Spec{})), uptime.ReasonInternal, 0)
}

func TestDNSURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"dns://192.0.2.1/example.com":                "dns://192.0.2.1/example.com?type=A",
		"dns://[2001:db8::1]:5353/example.com?type=": "",
		"dns://[2001:db8::1]:5353/Example.com.":      "dns://[2001:db8::1]:5353/Example.com?type=A",
		"dns:example.com?TYPE=txt":                   "dns:///example.com?type=TXT",
		"dns:///example.com?type=CAA":                "dns:///example.com?type=CAA",
		"dns:/example.com":                           "dns:///example.com?type=A",
		"dns:///_dmarc.bücher.example?type=TXT":      "dns:///_dmarc.xn--bcher-kva.example?type=TXT",
		"dns:///.?type=NS":                           "dns:///?type=NS",
		"dns:///2001:db8::1?type=PTR":                "dns:///1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa?type=PTR",
		"dns:///a%5C.b.example":                      `dns:///a%5C.b.example?type=A`,
		"dns:///*.example.com":                       "dns:///%2A.example.com?type=A",
		"dns://ns.test/":                             "",
		"dns://ns.test":                              "",
		"dns:":                                       "",
		"dns://user:secret@ns.test/example.com":      "",
		"dns://ns.test:0/example.com":                "",
		"dns://ns.test:70000/example.com":            "",
		"dns://ns%20x/example.com":                   "",
		"dns:///example..com":                        "",
		"dns:///example.com?type=ANY":                "",
		"dns:///example.com?type=A;type=MX":          "",
		"dns:///example.com?class=CH":                "",
		"dns:///example.com?x=1":                     "",
		"dns:///" + strings.Repeat("a", 64):          "",
		"dns:///" + strings.Repeat("abcdefg.", 32):   "",
		"http://example.com/":                        "",
		"dns://%zz/":                                 "",
	} {
		got, err := parseDNS(url)
		if got.shown != want || (err == nil) != (want != "") {
			t.Errorf("%s is read as %q, %v", url, got.shown, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

func TestCancelledDNSVisitEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	o := options(l)
	o.Questions = own(t, labAt(t, l, "dns"), o)
	e := New(o)
	dnsAt := labAt(t, l, "dns")
	for i, c := range []uptime.Check{
		dnsCheck("dns://"+dnsAt+"/silent.x-0.lab.test", uptime.Spec{}),
		dnsCheck("dns://"+dnsAt+"/silent.x-1.lab.test", over(uptime.DNSOverTCP)),
		dnsCheck("dns://"+labAt(t, l, "h2")+"/silent.x-2.lab.test", over(uptime.DNSOverHTTPS)),
		dnsCheck("dns:///silent.x-3.lab.test", uptime.Spec{}),
	} {
		cancelled(t, l, e, c, "silent.x-"+string(rune('0'+i))+".lab.test")
	}
}

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

// cancelled ends a visit once the lab has seen it.
func cancelled(t *testing.T, l *lab.Lab, e *Engine, check uptime.Check, path string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check.Timeout = time.Minute
	ended := make(chan struct{})
	go func() { defer close(ended); e.Look(ctx, check) }()
	for l.RequestsTo(path) == 0 {
		pause(t.Context(), time.Millisecond)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Fatalf("the visit to %s outlived its context", check.URL)
	}
}
