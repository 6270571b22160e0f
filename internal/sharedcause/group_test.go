package sharedcause

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// outage is one on a host and an address of their own.
func outage(id int64) Outage {
	return Outage{TargetID: id, Slot: noon.Add(time.Duration(id%60) * time.Second), Interval: time.Minute, Failure: uptime.FailureConnectTimeout,
		Host: fmt.Sprint("h", id, ".example"), Address: netip.AddrFrom4([4]byte{10, byte(id >> 8), byte(id), 1})}
}

// some are n outages from id on, each changed.
func some(id int64, n int, change func(i int, o *Outage)) (all []Outage) {
	for i := range n {
		o := outage(id + int64(i))
		change(i, &o)
		all = append(all, o)
	}
	return all
}

func at(address string) func(int, *Outage) {
	return func(_ int, o *Outage) { o.Address = netip.MustParseAddr(address) }
}

func plain(int, *Outage) {}

func told(groups []Group, alone []int64) string {
	var all []string
	for _, g := range groups {
		all = append(all, fmt.Sprintf("%s %s %d", g.Kind, g.Value.Value, len(g.Members)))
	}
	slices.Sort(all)
	return strings.Join(append(all, fmt.Sprint(len(alone), " alone")), ", ")
}

func TestFind(t *testing.T) {
	t.Parallel()
	join := slices.Concat[[]Outage]
	network := func(n int) []Outage {
		return some(1, 30, func(i int, o *Outage) { o.Address = netip.AddrFrom4([4]byte{192, 0, 2, byte(i % n)}) })
	}
	tls := func(_ int, o *Outage) { o.Failure, o.Issuer = uptime.FailureTLSUntrusted, "CA One" }
	dns := func(_ int, o *Outage) {
		o.Failure, o.DNSServer, o.Address = uptime.FailureDNS, "ns1.example", netip.Addr{}
	}
	for name, c := range map[string]struct {
		outages []Outage
		healthy Healthy
		want    string
	}{
		"nothing":   {nil, Healthy{}, "0 alone"},
		"unrelated": {some(1, 20, plain), Healthy{Total: 100}, "20 alone"},
		"400 on three addresses beside 20 others": {join(some(1, 133, at("192.0.2.1")), some(200, 133, at("192.0.2.2")), some(400, 134, at("2001:db8::3")), some(1000, 20, plain)), Healthy{Total: 580},
			"address 192.0.2.1 133, address 192.0.2.2 133, address 2001:db8::3 134, 20 alone"},
		"two are no group":                            {some(1, 2, at("192.0.2.1")), Healthy{Total: 10}, "2 alone"},
		"three are":                                   {some(1, 3, at("192.0.2.1")), Healthy{Total: 10}, "address 192.0.2.1 3, 0 alone"},
		"one host, one address: the host":             {some(1, 5, func(_ int, o *Outage) { at("192.0.2.1")(0, o); o.Host = "shop.example" }), Healthy{Total: 10}, "host shop.example 5, 0 alone"},
		"many hosts of one address: the address":      {some(1, 30, func(i int, o *Outage) { at("192.0.2.1")(0, o); o.Host = fmt.Sprint("h", i%6) }), Healthy{Total: 100}, "address 192.0.2.1 30, 0 alone"},
		"a host of an address where all else is well": {some(1, 5, func(_ int, o *Outage) { at("192.0.2.1")(0, o); o.Host = "shop.example" }), Healthy{map[Value]int{{KindAddress, "192.0.2.1"}: 300}, 500}, "host shop.example 5, 0 alone"},
		"a common address where all else is well":     {some(1, 20, at("192.0.2.1")), Healthy{map[Value]int{{KindAddress, "192.0.2.1"}: 21}, 500}, "20 alone"},
		"half of them fail":                           {some(1, 20, at("192.0.2.1")), Healthy{map[Value]int{{KindAddress, "192.0.2.1"}: 20}, 500}, "address 192.0.2.1 20, 0 alone"},
		"a network":                                   {network(30), Healthy{Total: 100}, "network 192.0.2.0/24 30, 0 alone"},
		"of which half are well":                      {network(30), Healthy{map[Value]int{{KindNetwork, "192.0.2.0/24"}: 31}, 100}, "30 alone"},
		"four addresses are no network":               {network(4), Healthy{Total: 100}, "address 192.0.2.0 8, address 192.0.2.1 8, address 192.0.2.2 7, address 192.0.2.3 7, 0 alone"},
		"a network of IPv6":                           {some(1, 6, func(i int, o *Outage) { o.Address = netip.MustParseAddr(fmt.Sprintf("2001:db8:7:%x::1", i)) }), Healthy{Total: 100}, "network 2001:db8:7::/48 6, 0 alone"},
		"IPv4 written as IPv6":                        {append(some(1, 2, at("192.0.2.1")), some(5, 1, at("::ffff:192.0.2.1"))...), Healthy{Total: 10}, "address 192.0.2.1 3, 0 alone"},
		"an issuer":                                   {some(1, 9, tls), Healthy{Total: 100}, "issuer CA One 9, 0 alone"},
		"an issuer whose others are well":             {some(1, 9, tls), Healthy{map[Value]int{{KindIssuer, "CA One"}: 90}, 100}, "9 alone"},
		"an issuer has no part in a timeout":          {some(1, 9, func(_ int, o *Outage) { o.Issuer = "CA One" }), Healthy{Total: 100}, "9 alone"},
		"a name server":                               {some(1, 9, dns), Healthy{Total: 100}, "dns_server ns1.example 9, 0 alone"},
		"an address has no part in DNS":               {some(1, 9, func(i int, o *Outage) { dns(i, o); o.DNSServer = ""; at("192.0.2.1")(i, o) }), Healthy{Total: 100}, "9 alone"},
		"a failure that everybody has":                {some(1, 50, plain), Healthy{Total: 50}, "failure connect_timeout 50, 0 alone"},
		"not together":                                {some(1, 6, func(i int, o *Outage) { at("192.0.2.1")(i, o); o.Slot = noon.Add(time.Duration(i) * 10 * time.Minute) }), Healthy{Total: 10}, "6 alone"},
		"together, as far as hourly checks can tell": {some(1, 6, func(i int, o *Outage) {
			at("192.0.2.1")(i, o)
			o.Slot, o.Interval = noon.Add(time.Duration(i)*10*time.Minute), time.Hour
		}), Healthy{Total: 10}, "address 192.0.2.1 6, 0 alone"},
		"two waves: the larger": {join(some(1, 6, at("192.0.2.1")), some(10, 5, func(i int, o *Outage) { at("192.0.2.1")(i, o); o.Slot = o.Slot.Add(time.Hour) })), Healthy{Total: 100}, "address 192.0.2.1 5, address 192.0.2.1 6, 0 alone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := told(Find(c.outages, c.healthy)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Whatever it is given: each target is in one group or alone, groups are what they claim
// to be, keys are never used twice, and the order changes nothing.
func TestGroupsAreSound(t *testing.T) {
	t.Parallel()
	grouped, seeds := 0, 500
	if testing.Short() {
		seeds = 50
	}
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(1, seed))
		healthy := Healthy{With: map[Value]int{}, Total: random.IntN(200)}
		outages := some(1, random.IntN(80), func(_ int, o *Outage) {
			if random.IntN(2) == 0 {
				o.Host = fmt.Sprint("h", random.IntN(5))
			}
			if random.IntN(2) == 0 {
				o.Address = netip.AddrFrom4([4]byte{192, 0, byte(random.IntN(2)), byte(random.IntN(6))})
			}
			o.Slot = noon.Add(time.Duration(random.IntN(400)) * time.Second)
			o.Failure = uptime.Failures()[random.IntN(8)]
			o.Issuer, o.DNSServer = fmt.Sprint("ca", random.IntN(3)), fmt.Sprint("ns", random.IntN(3))
			for _, v := range o.Values() {
				healthy.With[v] = random.IntN(12)
			}
		})
		groups, alone := Find(outages, healthy)
		seen, keys := map[int64]bool{}, map[string]bool{}
		for _, id := range alone {
			seen[id] = true
		}
		for _, g := range groups {
			key := fmt.Sprint(g.Value, g.Slot)
			if keys[key] || len(g.Members) < fewest || g.Kind != KindFailure && healthy.With[g.Value] > len(g.Members) {
				t.Fatalf("seed %d: %+v", seed, g)
			}
			keys[key] = true
			for _, id := range g.Members {
				o := outages[slices.IndexFunc(outages, func(o Outage) bool { return o.TargetID == id })]
				if seen[id] || !slices.Contains(o.Causes(), g.Value) || o.Slot.Before(g.Slot) {
					t.Fatalf("seed %d: %+v in %+v", seed, o, g)
				}
				seen[id] = true
				grouped++
			}
		}
		if len(seen) != len(outages) {
			t.Fatalf("seed %d: %d of %d", seed, len(seen), len(outages))
		}
		shuffled := append(slices.Clone(outages), outages[:len(outages)/2]...)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again, aloneAgain := Find(shuffled, healthy)
		if fmt.Sprint(groups, alone) != fmt.Sprint(again, aloneAgain) {
			t.Fatalf("seed %d: in another order\n%v\n%v", seed, groups, again)
		}
	}
	if grouped < 4*seeds {
		t.Errorf("%d in groups: this proves little", grouped)
	}
}

func BenchmarkFind(b *testing.B) {
	outages := slices.Concat(some(1, 133, at("192.0.2.1")), some(200, 133, at("192.0.2.2")), some(400, 134, at("2001:db8::3")), some(1000, 20, plain))
	for b.Loop() {
		Find(outages, Healthy{Total: 10_000})
	}
}
