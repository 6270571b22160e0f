package resolve

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, label}, ".")
	for name, good := range map[string]bool{
		"a": true, "example.com": true, "_dmarc.xn--bcher-kva.example": true, "1.2.3": true, label + ".b": true, long[:253]: true,
		"": false, ".": false, "a..b": false, ".a": false, "a.b..": false, label + "a.b": false, long[:254]: false,
		"a b": false, `a\.b`: false, "a\x00b": false, "bücher.example": false, "*.example": false, "a/b": false, "fe80::1%eth0 ": false,
	} {
		if why := misnamed(normal(name)); (why == "") != good {
			t.Errorf("%q: %q", name, why)
		}
	}
	if got := normal("WWW.Example.COM."); got != "www.example.com" {
		t.Error(got)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"www.example.com", "api.v1.example.com", true}, {"example.com", "www.example.com", true}, {"a", "a", true},
		{"example.com", "example.org", false}, {"a.co.uk", "b.co.uk", true}, {"www.badexample.com", "example.com", false}, {"com", "example.com", false},
	} {
		if sameDomain(c.a, c.b) != c.same {
			t.Error(c)
		}
	}
}
