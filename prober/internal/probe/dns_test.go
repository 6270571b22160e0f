package probe

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

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

// inTime wants a visit that nobody answered to end with its timeout.
func inTime(t *testing.T, o Outcome, check uptime.Check) {
	t.Helper()
	if took := time.Duration(o.TotalUS) * time.Microsecond; o.Failure == uptime.FailureTimeout && (took < check.Timeout-10*time.Millisecond || took > check.Timeout+2*time.Second) {
		t.Errorf("it took %v of %v", took, check.Timeout)
	}
}

const lossy = time.Second // until a visit that nobody answers ends

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
		{"refused", "dns://" + nobody(t) + "/lab.test", uptime.Spec{}, uptime.FailureConnectRefused, "", 1},
		{"silence over TCP", udp + "/silent.lab.test", tcp, uptime.FailureTimeout, "timed out waiting for an answer", 1},
		{"silence of TLS", "dns://" + labAt(t, l, "tls-silent") + "/lab.test", dot, uptime.FailureTimeout, "no TLS handshake", 1},
		{"reset", "dns://" + labAt(t, l, "tcp-reset") + "/lab.test", tcp, uptime.FailureReset, "connection reset", 1},
		{"wrong id", udp + "/wrong-id.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureTimeout, "because it had another id", 1},
		{"wrong id over TCP", udp + "/wrong-id.a-192-0-2-1.lab.test", tcp, uptime.FailureTimeout, "because it had another id", 1},
		{"wrong id over HTTPS", dohURL + "/wrong-id.a-192-0-2-1.lab.test", doh, uptime.FailureProtocol, "it had another id", 1},
		{"wrong question", udp + "/wrong-name.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureTimeout, "because it answered another question", 1},
		{"garbage", udp + "/garbage.lab.test", uptime.Spec{}, uptime.FailureTimeout, "none belongs to the question", 1},
		{"a header", udp + "/header.lab.test", uptime.Spec{}, uptime.FailureTimeout, "because it answered another question", 1},
		{"pointer loop", udp + "/pointer-loop.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureProtocol, "the answer is malformed", 1},
		{"always truncated", udp + "/always-truncated.a-192-0-2-1.lab.test", uptime.Spec{}, uptime.FailureProtocol, "the answer is marked as cut, although it came over TCP", 2},

		{"assertion met", udp + "/lab.test?type=MX", wanting("dns MX contains backup", "rcode - equals NOERROR"), nil, "", 1},
		{"assertion not met", udp + "/lab.test?type=MX", wanting("dns MX equals 10 mail.example"), uptime.FailureDNS, "DNS MX", 1},
		{"NXDOMAIN wanted", udp + "/gone.lab.test", wanting("rcode - equals NXDOMAIN"), nil, "", 1},
		{"NXDOMAIN not wanted", udp + "/gone.lab.test", wanting("rcode - in NOERROR,SERVFAIL"), uptime.FailureDNS, "NXDOMAIN", 1},
		{"no record wanted", udp + "/nodata.lab.test", wanting("dns A absent"), nil, "", 1},
		{"SERVFAIL wanted", udp + "/servfail.lab.test", wanting("rcode - equals SERVFAIL"), nil, "", 1},
		{"no record wanted of a server that fails", udp + "/servfail.lab.test", wanting("dns A absent"), uptime.FailureDNS, "the server answered SERVFAIL", 1},
		{"another record wanted of a server that refuses", udp + "/example.com", wanting("dns A not_equals 192.0.2.1"), uptime.FailureDNS, "the server answered REFUSED", 1},
		{"no record wanted, no such name", udp + "/gone.lab.test", wanting("dns A absent"), nil, "", 1},
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
			failure, _ := c.want.(uptime.Failure)
			check.Timeout = timeoutFor(failure)
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, 0)
			inTime(t, o, check)
			if !strings.Contains(o.Message, c.message) || int(o.Seen.Hops) != c.hops {
				t.Errorf("%q after %d hops, want %q after %d", o.Message, o.Seen.Hops, c.message, c.hops)
			}
		})
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

// cancelled ends a visit once the lab has seen it.
func cancelled(t *testing.T, l *lab.Lab, e *Engine, check uptime.Check, path string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check.Timeout = 2 * hang
	ended := make(chan struct{})
	go func() { defer close(ended); e.Look(ctx, check) }()
	for l.RequestsTo(path) == 0 {
		pause(t.Context(), time.Millisecond)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(hang):
		t.Fatalf("the visit to %s outlived its context", check.URL)
	}
}
