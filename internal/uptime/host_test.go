package uptime

import "testing"

func TestHostOfAURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://Example.COM/a":               "example.com",
		"HTTPS://user:pw@example.com:8443":   "example.com",
		"https://example.com.":               "example.com",
		"tcp://example.com:25":               "example.com",
		"tls://example.com":                  "example.com",
		"icmp://Example.com.":                "example.com",
		"grpcs://example.com:443/a.B":        "example.com",
		"wss://example.com/ws?x=y":           "example.com",
		"dns://ns1.Example.com/example.org":  "ns1.example.com",
		"dns://192.0.2.53:5353/a?type=MX":    "192.0.2.53",
		"dns:///example.com?type=A":          "",
		"https://bücher.example/":            "xn--bcher-kva.example",
		"https://b%C3%BCcher.example/":       "xn--bcher-kva.example",
		"https://_sip.example.com/":          "_sip.example.com",
		"http://[2001:DB8:0:0:0:0:0:1]:80/":  "2001:db8::1",
		"http://[fe80::1%25eth0]/":           "fe80::1",
		"http://[::ffff:192.0.2.1]/":         "192.0.2.1",
		"http://192.0.2.1:81/?host=b":        "192.0.2.1",
		"http://192.0.2.01/":                 "192.0.2.01",
		"http://example.com/%zz":             "",
		"http://%zz/":                        "",
		"":                                   "",
		"not a url at all":                   "",
		"mailto:someone@example.com":         "",
		"https://example.com@evil.example/":  "evil.example",
		"https://evil.example#@example.com/": "evil.example",
	} {
		if got := HostOf(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// The quick way gives what the long way gives.
func FuzzHostOf(f *testing.F) {
	for _, seed := range []string{
		"http://example.com/a", "https://example.com", "https://example.com:8443/a?b#c", "http://192.0.2.1:81/", "http://192.0.2.01/", "http://1/", "tcp://a.b:25",
		"dns:///example.com", "http://example.com:/", "http://a..b/", "http://-a/", "http://.a/", "http://a:b/", "http:///a", "://a", "http://a/:%", "http://a#%zz", "http://a?%zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		if host, plain := plainHost(target); plain && host != parsedHost(target) {
			t.Errorf("%q: %q, the long way %q", target, host, parsedHost(target))
		}
	})
}

func BenchmarkHostOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		HostOf("https://www.example.com:8443/health?deep=1")
	}
}

func TestLoopbackNames(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost.": true, "a.localhost": true, "localhost.example": false, "notlocalhost": false, "": false, "127.0.0.1": false,
	} {
		if LoopbackName(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}
