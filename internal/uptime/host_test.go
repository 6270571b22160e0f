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
