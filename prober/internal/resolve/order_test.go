package resolve

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func addrsOf(text string) (v4, v6 []netip.Addr) {
	for _, field := range strings.Fields(text) {
		if addr := netip.MustParseAddr(field); addr.Is4() {
			v4 = append(v4, addr)
		} else {
			v6 = append(v6, addr)
		}
	}
	return v4, v6
}

func written(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, addr := range addrs {
		texts[i] = addr.String()
	}
	return strings.Join(texts, " ")
}

func TestOrder(t *testing.T) {
	t.Parallel()
	any := func(netip.Addr) bool { return true }
	only4 := netip.Addr.Is4
	cases := []struct {
		name      string
		reachable func(netip.Addr) bool
		in, want  string
	}{
		{"IPv6 first, each as the server has them", any, "9.9.9.9 1.1.1.1 2600::2 2600::1", "2600::2 2600::1 9.9.9.9 1.1.1.1"},
		{"no route to IPv6", only4, "9.9.9.9 1.1.1.1 2600::2 2600::1", "9.9.9.9 1.1.1.1 2600::2 2600::1"},
		{"by precedence", any, "1.1.1.1 fd00::1 2001::1 2002::1 2600::1 ::1 3ffe::1", "::1 2600::1 1.1.1.1 2002::1 2001::1 fd00::1 3ffe::1"},
		{"one family alone", only4, "2600::2 2600::1", "2600::2 2600::1"},
		{"one kind of IPv6 without a route", func(a netip.Addr) bool { return !strings.HasPrefix(a.String(), "26") }, "1.1.1.1 2600::1 fd00::1", "1.1.1.1 fd00::1 2600::1"},
	}
	for _, c := range cases {
		v4, v6 := addrsOf(c.in)
		if got := written(merge(rank(v4, c.reachable), rank(v6, c.reachable))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNeitherFamilyIsCrowdedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n4, n6, want4, want6 int }{{16, 16, 8, 8}, {16, 3, 13, 3}, {3, 16, 3, 13}, {16, 0, 16, 0}, {0, 16, 0, 16}, {8, 8, 8, 8}, {9, 9, 8, 8}, {2, 1, 2, 1}} {
		v4, v6 := make([]ranked, c.n4), make([]ranked, c.n6)
		for i := range v4 {
			v4[i] = ranked{netip.AddrFrom4([4]byte{1, 1, 1, byte(i)}), 15}
		}
		for i := range v6 {
			v6[i] = ranked{netip.AddrFrom16([16]byte{0x26, 15: byte(i)}), 10}
		}
		all := merge(v4, v6)
		got4 := len(slices.DeleteFunc(slices.Clone(all), netip.Addr.Is6))
		if got4 != c.want4 || len(all)-got4 != c.want6 {
			t.Errorf("%d and %d: %d and %d", c.n4, c.n6, got4, len(all)-got4)
		}
	}
}

func TestKernelIsAskedForRoutes(t *testing.T) {
	t.Parallel()
	if !routed(netip.MustParseAddr("127.0.0.1")) {
		t.Error("loopback has no route")
	}
}
