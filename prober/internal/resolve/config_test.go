package resolve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string][]Server{
		"":                                  nil,
		"system":                            nil,
		" SYSTEM ":                          nil,
		"1.1.1.1,[2606:4700::1111]:53":      {{UDP, "1.1.1.1", 53, "", ""}, {UDP, "2606:4700::1111", 53, "", ""}},
		"127.0.0.53:5353 , 2606:4700::1111": {{UDP, "127.0.0.53", 5353, "", ""}, {UDP, "2606:4700::1111", 53, "", ""}},
		"[::1],::ffff:10.0.0.1,[fe80::1%eth0]:53": {{UDP, "::1", 53, "", ""}, {UDP, "10.0.0.1", 53, "", ""}, {UDP, "fe80::1%eth0", 53, "", ""}},
		"tls://1.1.1.1":                            {{TLS, "1.1.1.1", 853, "1.1.1.1", ""}},
		"tls://1.1.1.1#Cloudflare-DNS.com":         {{TLS, "1.1.1.1", 853, "cloudflare-dns.com", ""}},
		"tls://[2606:4700::1111]:8853#one.one":     {{TLS, "2606:4700::1111", 8853, "one.one", ""}},
		"tls://dns.google/":                        {{TLS, "dns.google", 853, "dns.google", ""}},
		"https://dns.google/dns-query":             {{HTTPS, "dns.google", 443, "dns.google", "/dns-query"}},
		"https://[2606:4700::1111]:8443/a/b":       {{HTTPS, "2606:4700::1111", 8443, "2606:4700::1111", "/a/b"}},
		"10.0.0.1,tls://9.9.9.9,https://d.ns/q%20": {{UDP, "10.0.0.1", 53, "", ""}, {TLS, "9.9.9.9", 853, "9.9.9.9", ""}, {HTTPS, "d.ns", 443, "d.ns", "/q%20"}},
	}
	for text, want := range cases {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, c.Servers); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		again, err := Parse(c.String())
		if err != nil {
			t.Errorf("%q prints as %q: %v", text, c, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("%q prints as %q: %s", text, c, diff)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"1.1.1.1,":                   "an empty place",
		"1.1.1.1,system":             "stands alone",
		"dns.google":                 "asked by tls:// or https://",
		"1.1.1.1:0":                  "port 0",
		"1.1.1.1:65536":              "not an address",
		"0.0.0.0":                    "nobody's address",
		"ff02::1":                    "nobody's address",
		"1.1.1.1,1.1.1.1:53":         "named twice",
		"http://dns.google/q":        "use https://",
		"quic://dns.google":          "not spoken",
		"tls://dns.google/path":      "a path is no part",
		"tls://":                     "neither an address nor a host name",
		"tls://1.1.1.1#":             "name of the certificate",
		"tls://1.1.1.1#a..b":         "name of the certificate",
		"tls://1.1.1.1:0":            "0 is no port",
		"tls://bad host":             "not a URL",
		"https://dns.google":         "path is missing",
		"https://dns.google/":        "path is missing",
		"https://dns.google/q{?dns}": "a query cannot be sent",
		"https://dns.google/{q}":     "template",
		"https://dns.google/q?a=b":   "a query cannot be sent",
		"https://dns.google/q#name":  "no #name",
		"https://u:p@dns.google/q":   "password",
		"https://:443/q":             "neither an address nor a host name",
		"1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8,1.1.1.9": "more than 8",
	}
	for text, want := range cases {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := Parse("dns.google,1.1.1.1:0,https://dns.google")
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes are told as %v", err)
	}
	if _, err := Parse("https://user:hunter2@h%zz/q"); err == nil || strings.Contains(strings.SplitN(err.Error(), ": ", 2)[1], "hunter2") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"system", "1.1.1.1,[::1]:53", "tls://1.1.1.1:853#one.one.one.one", "https://dns.google/dns-query", "[fe80::1%eth0]:53"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(c.String())
		if err != nil || !cmp.Equal(c, again) {
			t.Fatalf("%q is read as %+v, which prints as %q: %+v, %v", text, c, c, again, err)
		}
	})
}
