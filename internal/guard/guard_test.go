package guard

import (
	"errors"
	"net/netip"
	"testing"
)

// dangerous has one address of each kind that a fetched URL must not reach.
var dangerous = map[string]string{
	"unspecified":               "0.0.0.0",
	"this network":              "0.1.2.3",
	"private 10":                "10.1.2.3",
	"private 172":               "172.31.255.254",
	"private 192":               "192.168.1.1",
	"carrier-grade NAT":         "100.64.0.1",
	"loopback":                  "127.0.0.53",
	"link-local metadata":       "169.254.169.254",
	"protocol assignments":      "192.0.0.170",
	"documentation 1":           "192.0.2.1",
	"documentation 3":           "203.0.113.9",
	"benchmarking":              "198.19.0.1",
	"6to4 relay":                "192.88.99.1",
	"multicast":                 "224.0.0.1",
	"reserved":                  "240.0.0.1",
	"broadcast":                 "255.255.255.255",
	"azure host":                "168.63.129.16",
	"alibaba metadata":          "100.100.100.200",
	"ipv6 unspecified":          "::",
	"ipv6 loopback":             "::1",
	"ipv4-mapped":               "::ffff:10.0.0.1",
	"ipv4-compatible":           "::10.0.0.1",
	"nat64 of private":          "64:ff9b::10.0.0.1",
	"local nat64":               "64:ff9b:1::10.0.0.1",
	"6to4":                      "2002:0a00:0001::1",
	"teredo":                    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
	"unique local":              "fd12:3456::1",
	"link-local v6":             "fe80::1",
	"link-local v6 zone":        "fe80::1%eth0",
	"site-local":                "fec0::1",
	"multicast v6":              "ff02::1",
	"documentation v6":          "2001:db8::1",
	"discard":                   "100::1",
	"segment routing":           "5f00::1",
	"aws metadata v6":           "fd00:ec2::254",
	"ipv4-translated":           "::ffff:0:10.0.0.1",
	"benchmarking v6":           "2001:2::1",
	"new documentation v6":      "3fff::1",
	"global prefix with a zone": "2606:4700::1%eth0",
}

// Promise: private, special and metadata addresses are refused
func TestGuardRefusesEveryDangerousKind(t *testing.T) {
	t.Parallel()
	closed := New(nil)
	for kind, text := range dangerous {
		if closed.Allows(netip.MustParseAddr(text)) {
			t.Errorf("%s (%s) is let through", kind, text)
		}
	}
	if closed.Allows(netip.Addr{}) {
		t.Error("no address at all is let through")
	}
	for _, public := range []string{"1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "100.63.255.255", "172.32.0.1", "198.20.0.1"} {
		if !closed.Allows(netip.MustParseAddr(public)) {
			t.Errorf("public %s is refused", public)
		}
	}
}

func TestGuardOpensWhatTheOperatorOpened(t *testing.T) {
	t.Parallel()
	cases := []struct {
		allow, addr string
		want        bool
	}{
		{"127.0.0.1/32", "127.0.0.1", true},
		{"127.0.0.1/32", "::ffff:127.0.0.1", true},
		{"::ffff:127.0.0.0/104", "127.0.0.2", true},
		{"127.0.0.1/32", "127.0.0.2", false},
		{"127.0.0.1/32", "64:ff9b::127.0.0.1", true},
		{"fd00::/8", "fd12::1", true},
		{"fd00::/8", "fd00:ec2::254", false},
		{"2002::/16", "2002:0a00:0001::1", true},
		{"2002::/16", "2002:a9fe:a9fe::1", false},
		{"0.0.0.0/0", "10.0.0.1", true},
		{"0.0.0.0/0", "169.254.169.254", false},
		{"0.0.0.0/0", "168.63.129.16", false},
		{"::/0", "64:ff9b::169.254.169.254", false},
		{"::/0", "64:ff9b:1::169.254.169.254", false},
		{"::/0", "::169.254.169.254", false},
		{"::/0", "::1", true},
	}
	for _, c := range cases {
		guard := New([]netip.Prefix{netip.MustParsePrefix(c.allow)})
		if got := guard.Allows(netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("allow %s, dial %s: %v, want %v", c.allow, c.addr, got, c.want)
		}
	}
}

func TestGuardControl(t *testing.T) {
	t.Parallel()
	guard := New(nil)
	for _, address := range []string{"127.0.0.1:80", "[::1]:80", "nonsense", "", "localhost:80"} {
		if err := guard.Control(t.Context(), "tcp", address, nil); !errors.Is(err, ErrBlocked) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if err := guard.Control(t.Context(), "tcp4", "1.1.1.1:443", nil); err != nil {
		t.Error(err)
	}
}

// FuzzGuard holds what must be true of every address, however it is wrapped, and of every
// range that an operator may open.
func FuzzGuard(f *testing.F) {
	for _, text := range dangerous {
		b := netip.MustParseAddr(text).WithZone("").As16()
		f.Add(b[:], b[:], uint8(128))
		f.Add(b[:], make([]byte, 16), uint8(0))
		f.Add(b[:], append(make([]byte, 10), 0xff, 0xff, 0, 0, 0, 0), uint8(96))
	}
	metadata := netip.MustParseAddr("169.254.169.254").As16()
	for _, wrapped := range []string{"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:1:2:3:4:5601:5601", "::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "1.1.1.1", "2606:4700::1111"} {
		b := netip.MustParseAddr(wrapped).As16()
		f.Add(b[:], metadata[:], uint8(112))
		f.Add(b[:], b[:], uint8(64))
	}
	closed := New(nil)
	f.Fuzz(func(t *testing.T, raw, ranged []byte, bits uint8) {
		if len(raw) != 16 || len(ranged) != 16 {
			return
		}
		addr := netip.AddrFrom16([16]byte(raw))
		plain := addr.Unmap()
		allowed := closed.Allows(addr)
		if allowed && (plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified()) {
			t.Fatalf("%v is let through", addr)
		}
		if inner, wraps := embedded(plain); allowed && wraps && (!nat64.Contains(plain) || !closed.Allows(inner)) {
			t.Fatalf("%v is let through, and leads to %v", addr, inner)
		}
		if closed.Allows(addr.WithZone("eth0")) && addr.WithZone("eth0").Zone() != "" || closed.Opened(addr) {
			t.Fatalf("%v with a zone, or that nobody opened", addr)
		}
		if err := closed.Control(t.Context(), "tcp", netip.AddrPortFrom(addr, 443).String(), nil); (err == nil) != allowed {
			t.Fatalf("%v: %v when it is dialled", addr, err)
		}
		v4 := netip.AddrFrom4([4]byte(raw[12:16]))
		wrapped := append(append([]byte{0, 0x64, 0xff, 0x9b}, make([]byte, 8)...), raw[12:16]...)
		mapped := netip.AddrFrom16(v4.As16())
		if want := closed.Allows(v4); closed.Allows(mapped) != want || closed.Allows(netip.AddrFrom16([16]byte(wrapped))) != want {
			t.Fatalf("%v: verdict changes with the wrapping", v4)
		}
		judgeOpened(t, closed, addr, netip.PrefixFrom(netip.AddrFrom16([16]byte(ranged)), int(bits%129)))
	})
}

// judgeOpened holds what one opened range may change.
func judgeOpened(t *testing.T, closed *Guard, addr netip.Addr, prefix netip.Prefix) {
	t.Helper()
	open := New([]netip.Prefix{prefix})
	if prefix.Addr().Is4In6() && prefix.Bits() >= 96 { // as operators mean it
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	plain := addr.Unmap()
	inner, _ := embedded(plain)
	switch within := prefix.Contains(plain); {
	case closed.Allows(addr) && !open.Allows(addr):
		t.Fatalf("%v: %v closes it", addr, prefix)
	case open.Allows(addr) && (contains(floor, plain) || contains(floor, inner)):
		t.Fatalf("%v: %v lifts the floor under it, or %v", addr, prefix, inner)
	case open.Allows(addr) && !closed.Allows(addr) && !within && (!nat64.Contains(plain) || !prefix.Contains(inner)):
		t.Fatalf("%v is let through by %v", addr, prefix)
	case open.Opened(addr) != within:
		t.Fatalf("%v is opened by %v: %v", addr, prefix, open.Opened(addr))
	case within && !open.Allows(addr) && !contains(floor, plain) && !contains(floor, inner):
		t.Fatalf("%v is not opened by %v", addr, prefix)
	}
}

func TestOpenedByTheOperatorAlone(t *testing.T) {
	t.Parallel()
	open := New([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::ffff:192.168.7.0/120")})
	for text, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "192.168.7.9": true, "10.2.0.1": false, "8.8.8.8": false, "::1": false,
	} {
		if got := open.Opened(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if open.Opened(netip.Addr{}) || New(nil).Opened(netip.MustParseAddr("127.0.0.1")) {
		t.Error("something is open that nobody opened")
	}
}
