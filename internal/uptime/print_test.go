package uptime

import (
	"slices"
	"testing"
)

func TestWhatOfAHeaderIsSteady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{"Server", "nginx/1.25", "nginx/1.25"},
		{"Server", "", ""},
		{"Cache-Control", "public, max-age=571, s-maxage=9", "public, max-age=, s-maxage="},
		{"Cache-Control", "no-store", "no-store"},
		{"Cache-Control", "60", ""},
		{"Content-Security-Policy", "script-src 'nonce-a1b2' 'self'; style-src 'nonce-c3'", "script-src 'nonce-' 'self'; style-src 'nonce-'"},
		{"Content-Security-Policy", "script-src 'nonce-cut", "script-src 'nonce-"},
		{"Location", "https://a.example/in?state=1#x", "https://a.example/in"},
		{"Location", "/in#x", "/in"},
		{"Strict-Transport-Security", "max-age=300", "max-age=300"},
	} {
		if got := SteadyValue(c.name, c.value); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

// FuzzSteadyValue ends for every text, and what it gives is steady itself.
func FuzzSteadyValue(f *testing.F) {
	f.Add(uint8(0), "max-age=1, s-maxage=22")
	f.Add(uint8(2), "'nonce-'nonce-x''nonce-")
	f.Fuzz(func(t *testing.T, n uint8, value string) {
		name := PrintHeaders[int(n)%len(PrintHeaders)]
		got := SteadyValue(name, value)
		if len(got) > len(value) || name != "Content-Security-Policy" && SteadyValue(name, got) != got {
			t.Errorf("%s: %q is %q", name, value, got)
		}
	})
}

func TestPrintHeadersAreInOrder(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(PrintHeaders[:]) {
		t.Error(PrintHeaders)
	}
}

func TestPrintOfEvidence(t *testing.T) {
	t.Parallel()
	if (*Evidence)(nil).Print() != nil {
		t.Error("a print of nothing")
	}
	e := &Evidence{
		Hops:         []Hop{{URL: "http://a.example/"}, {URL: "https://a.example/"}},
		Certificates: []Certificate{{SHA256: "leaf"}, {SHA256: "above"}},
		Headers:      []Header{{Name: "Date", Value: "x"}, {Name: "Server", Value: "one"}, {Name: "Server", Value: "two"}, {Name: "Set-Cookie", Value: "[secret]"}},
	}
	p := e.Print()
	if p.URL != "https://a.example/" || p.Certificate.SHA256 != "leaf" || !slices.Equal(p.Headers, []Header{{Name: "Server", Value: "one"}, {Name: "Server", Value: "two"}}) || p.Unsteady != Steady {
		t.Errorf("%+v", p)
	}
	if p := (&Evidence{}).Print(); p == nil || p.URL != "" || p.Certificate != nil || p.Headers != nil {
		t.Errorf("of an empty one: %+v", p)
	}
}
