package resolve

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func BenchmarkHit(b *testing.B) {
	for name, c := range map[string]struct {
		family Family
		host   string
	}{"both": {Both, "www.a.example"}, "v4": {V4, "www.a.example"}} {
		b.Run(name, func(b *testing.B) {
			r := rigged(b, newScript(sound))
			for i := range 10_000 { // a full house
				r.cache.put(fmt.Sprintf("a%d.example", i), 0, part{})
			}
			if _, err := r.Lookup(b.Context(), c.host, c.family); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Lookup(context.Background(), c.host, c.family); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMiss asks a real server on loopback, whose side is included.
func BenchmarkMiss(b *testing.B) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := address(q.Question[0], "60")
		m.Id = q.Id
		_ = w.WriteMsg(m)
	})}
	go func() { _ = server.ActivateAndServe() }()
	defer server.Shutdown()
	at := netip.MustParseAddrPort(conn.LocalAddr().String())
	r := New(Config{Servers: []Server{{Protocol: UDP, Host: at.Addr().String(), Port: at.Port()}}}, options())
	defer r.Close()
	for name, family := range map[string]Family{"both": Both, "v4": V4} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := r.Lookup(context.Background(), fmt.Sprintf("a%d.%s%d.example", i, name, b.N), family); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFullCache says how much memory a name takes, in a cache that is full.
func BenchmarkFullCache(b *testing.B) {
	label := strings.Repeat("a", 60)
	for name, c := range map[string]struct {
		host, final string
		addresses   int
	}{"ordinary": {"www.shop-%d.example", "", 2}, "worst": {"%06d." + label + "." + label + "." + label + "." + label, "b%06d." + label + "." + label + "." + label + "." + label, maxAddresses}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := rigged(b, newScript(sound))
				before := heap()
				for i := range maxNames {
					host := fmt.Sprintf(c.host, i)
					for at := range 2 {
						got := reading{outcome: answered, addrs: make([]netip.Addr, c.addresses), final: host + "."}
						if c.final != "" {
							got.final = fmt.Sprintf(c.final, i) + "."
						}
						r.cache.put(host, at, r.partOf(&flight{question: question{host, at}}, "10.0.0.1:53", got))
					}
				}
				b.ReportMetric(float64(heap()-before)/maxNames, "B/name")
				runtime.KeepAlive(r)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
