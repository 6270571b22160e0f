package probe

import (
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

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
		check := dnsCheck(c.url, c.spec)
		p := e.plans.of(&check)
		if !p.bad.none() {
			t.Fatal(c.url, p.bad)
		}
		if got := p.visitor.command(); got != c.want {
			t.Errorf("%s: %s", c.url, got)
		}
	}
}
