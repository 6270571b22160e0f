package spec

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestURLsAreStoredInOneSpelling(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 60)
	name := strings.Join([]string{long, long, long, long}, ".") // 243 bytes
	for _, c := range []struct {
		text, want string
		kind       uptime.Kind
	}{
		{"https://example.com/a?b#c", "https://example.com/a?b#c", uptime.KindHTTP},
		{" HTTP://Example.com ", "HTTP://Example.com", uptime.KindHTTP},
		{"https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe", uptime.KindHTTP},
		{"https://example.com/?topic=tokens&page=2&token=&session", "https://example.com/?topic=tokens&page=2&token=&session", uptime.KindHTTP},
		{"tcp://mail.example.com:25", "tcp://mail.example.com:25", uptime.KindTCP},
		{"TCP://bücher.example:25/", "tcp://xn--bcher-kva.example:25", uptime.KindTCP},
		{"tcp://[2606:4700::1111]:53", "tcp://[2606:4700::1111]:53", uptime.KindTCP},
		{"tls://example.com", "tls://example.com", uptime.KindTLS},
		{"tls://example.com:8443/", "tls://example.com:8443", uptime.KindTLS},
		{"icmp://1.1.1.1", "icmp://1.1.1.1", uptime.KindICMP},
		{"icmp://my_host.example.", "icmp://my_host.example.", uptime.KindICMP},
		{"grpc://example.com:50051", "grpc://example.com:50051", uptime.KindGRPC},
		{"grpcs://example.com:443/pkg.v1.Service", "grpcs://example.com:443/pkg.v1.Service", uptime.KindGRPC},
		{"ws://example.com/chat?room=1", "ws://example.com/chat?room=1", uptime.KindWebSocket},
		{"wss://bücher.example", "wss://xn--bcher-kva.example", uptime.KindWebSocket},
		{"dns:///example.com", "dns:///example.com?type=A", uptime.KindDNS},
		{"dns:example.com.?clAsS=IN;tYpE=mx", "dns:///example.com?type=MX", uptime.KindDNS},
		{"dns:/example.com?type=TXT", "dns:///example.com?type=TXT", uptime.KindDNS},
		{"dns://1.1.1.1/_sip._tcp.example.com?type=SRV", "dns://1.1.1.1/_sip._tcp.example.com?type=SRV", uptime.KindDNS},
		{"dns://[2606:4700::1111]:53/Bücher.example?type=AAAA&class=in", "dns://[2606:4700::1111]:53/xn--bcher-kva.example?type=AAAA", uptime.KindDNS},
		{"dns://dns.example:853/.?type=NS", "dns://dns.example:853/.?type=NS", uptime.KindDNS},
		{"dns:///4.3.2.1.in-addr.arpa?type=SOA", "dns:///4.3.2.1.in-addr.arpa?type=SOA", uptime.KindDNS},
		{"dns:///localhost", "dns:///localhost?type=A", uptime.KindDNS}, // a question, not a place to go
		{"icmp://" + name, "icmp://" + name, uptime.KindICMP},
	} {
		got, kind, bad := URL(c.text, nil)
		if bad != nil || got != c.want || kind != c.kind {
			t.Errorf("%s is %q of kind %q (%+v), want %q of kind %q", c.text, got, kind, bad, c.want, c.kind)
		}
		if again, _, bad := URL(got, nil); bad != nil || again != got {
			t.Errorf("%s becomes %q when it is given back (%+v)", got, again, bad)
		}
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  CodeURLScheme,
		"example.com":                       CodeURLScheme,
		"ftp://example.com":                 CodeURLScheme,
		"file:///etc/passwd":                CodeURLScheme,
		"unix:///run/x":                     CodeURLScheme,
		"tcp://":                            CodeInvalidURL,
		"tcp:example.com:25":                CodeInvalidURL,
		"tcp://example.com":                 CodeInvalidURL,
		"tcp://example.com:0":               CodeInvalidURL,
		"tcp://example.com:65536":           CodeInvalidURL,
		"tcp://example.com:25/x":            CodeInvalidURL,
		"tcp://example.com:25?":             CodeInvalidURL,
		"tcp://example.com:25#":             CodeInvalidURL,
		"tcp://[2606:4700::1111%25eth0]:25": CodeInvalidURL,
		"tcp://u@example.com:25":            CodeURLCredentials,
		"tcp://127.0.0.1:25":                CodePrivateAddress,
		"tcp://localhost:25":                CodePrivateAddress,
		"tcp://127.1:25":                    CodeInvalidURL,
		"tcp://１０.０.０.１:25":                 CodePrivateAddress,
		"tls://example.com/x":               CodeInvalidURL,
		"tls://10.0.0.1":                    CodePrivateAddress,
		"tls://a b":                         CodeInvalidURL,
		"icmp://example.com:7":              CodeInvalidURL,
		"icmp://169.254.169.254":            CodePrivateAddress,
		"icmp://[::1]":                      CodePrivateAddress,
		"icmp://example..com":               CodeInvalidURL,
		"grpc://example.com":                CodeInvalidURL,
		"grpc://example.com:1/a%2fb":        CodeInvalidURL,
		"grpc://example.com:1//":            CodeInvalidURL,
		"grpc://example.com:1/a?b":          CodeInvalidURL,
		"grpc://example.com:1/" + strings.Repeat("a", MaxService+1): CodeInvalidURL,
		"grpcs://192.168.0.1:1":             CodePrivateAddress,
		"ws://example.com/#":                CodeInvalidURL,
		"ws://u:p@example.com/":             CodeURLCredentials,
		"wss://[64:ff9b::7f00:1]/":          CodePrivateAddress,
		"https://example.com/?token=x":      CodeURLSecret,
		"http://a.test?b=c&API%5FKEY=x#d":   CodeURLSecret,
		"wss://example.com/?access_token=x": CodeURLSecret,
		"dns:":                              CodeInvalidURL,
		"dns://":                            CodeInvalidURL,
		"dns://example.com":                 CodeInvalidURL,
		"dns://example.com?type=MX":         CodeInvalidURL,
		"dns:///":                           CodeInvalidURL,
		"dns:///a..":                        CodeInvalidURL,
		"icmp://a..":                        CodeInvalidURL,
		"icmp://é..":                        CodeInvalidURL,
		"dns:///a..b":                       CodeInvalidURL,
		"dns:///" + strings.Repeat("a", 64): CodeInvalidURL,
		"dns:///a/b":                        CodeInvalidURL,
		"dns:///a#b":                        CodeInvalidURL,
		"dns:///1.2.3.4":                    CodeInvalidURL,
		"dns:1.2.3.4.":                      CodeInvalidURL,
		"dns:///１.2.3.4":                    CodeInvalidURL,
		"dns:///a?type=ANY":                 CodeInvalidURL,
		"dns:///a?type=AXFR":                CodeInvalidURL,
		"dns:///a?type=A&type=MX":           CodeInvalidURL,
		"dns:///a?class=CH":                 CodeInvalidURL,
		"dns:///a?ttl=1":                    CodeInvalidURL,
		"dns://:53/a":                       CodeInvalidURL,
		"dns://127.0.0.53/a":                CodePrivateAddress,
		"dns://localhost/a":                 CodePrivateAddress,
		"dns://u@1.1.1.1/a":                 CodeURLCredentials,
		"dns:%zz":                           CodeInvalidURL,
		"https://example.com/" + strings.Repeat("a", MaxURL): CodeTooLong,
		"https://é.example/" + strings.Repeat("é", 400):      CodeTooLong, // 2424 bytes once it is ASCII
		"\xff":            CodeInvalidURL,
		"https://a\x00b/": CodeInvalidURL,
	} {
		if got, _, bad := URL(text, nil); bad == nil || bad.Code != want || bad.Pointer != "/url" || bad.Message == "" || got != "" {
			t.Errorf("%.80q: %q %+v, want %s", text, got, bad, want)
		}
	}
}

func TestOpenedRangesAreOpenForEveryKind(t *testing.T) {
	t.Parallel()
	open := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16")}
	for _, text := range []string{"tcp://127.0.0.1:1", "tls://localhost", "icmp://127.0.0.1", "grpc://127.0.0.1:1", "ws://127.0.0.1/", "dns://127.0.0.1:53/a", "http://a.localhost/"} {
		if _, _, bad := URL(text, open); bad != nil {
			t.Errorf("%s: %+v", text, bad)
		}
	}
	for _, text := range []string{"tcp://169.254.169.254:80", "dns://169.254.169.254/a"} {
		if _, _, bad := URL(text, open); bad == nil || bad.Code != CodePrivateAddress {
			t.Errorf("an open range lifted the floor under %s", text)
		}
	}
}

// FuzzURL holds what must be true of every URL that is stored.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/", "http://[::ffff:7f00:1]/", "http://１０。０.０.１/", "tcp://example.com:25", "tls://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "dns:example.com?type=mx;class=in", "dns://1.1.1.1:53/bücher.example?TYPE=A",
		"grpcs://a:1/x.Y", "wss://a/%zz", "dns:a..", "icmp://0x7f.1", "http://a%2eb/", "https://example.com:/", "http://[fe80::1%25eth0]/", "dns:///..?type=NS", "https://a..", "http://xn--/",
	} {
		f.Add(seed)
	}
	closed := guard.New(nil)
	f.Fuzz(func(t *testing.T, text string) {
		got, kind, bad := URL(text, nil)
		if bad != nil {
			if got != "" || bad.Code == "" || bad.Message == "" || bad.Pointer != pointerURL {
				t.Fatalf("%q: %q %+v", text, got, bad)
			}
			return
		}
		again, sameKind, bad := URL(got, nil)
		if bad != nil || again != got || sameKind != kind || kind == "" {
			t.Fatalf("%q is stored as %q, which is stored as %q of kind %s and %s (%+v)", text, got, again, kind, sameKind, bad)
		}
		u, err := url.Parse(got)
		if err != nil || u.User != nil || len(got) > MaxURL || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			t.Fatalf("%q is stored as %q (%v)", text, got, err)
		}
		host := u.Hostname()
		if host == "" && kind == uptime.KindDNS {
			return
		}
		addr, err := netip.ParseAddr(host)
		switch {
		case err == nil && !closed.Allows(addr):
			t.Fatalf("%q leads to %v", text, addr)
		case err == nil:
		case !asciiName(host), uptime.LoopbackName(host), endsInNumber(host):
			t.Fatalf("%q leads to %q", text, host)
		}
	})
}
