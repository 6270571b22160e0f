//go:build bench

package historybench

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const probersPerRegion = 2

func regions() [3]string { return [...]string{"ap-southeast", "eu-central", "us-east"} }

func proberName(region, n int) string {
	return regions()[region] + [probersPerRegion]string{"-prober-1", "-prober-2"}[n]
}

// site is a target as its checks see it.
type site struct {
	id       int64
	https    bool
	rtt      [3]float64 // µs, from each region
	wait     float64    // µs the server thinks
	thinks   float64    // spread of that
	dns      float64    // µs of a look-up
	transfer float64
	body     uint32
	dynamic  bool // the body is of another size each time
	cert     time.Time
	address  netip.Addr
	protocol string
}

// fleet is who is checked: the same ones in every run.
type fleet struct{ sites []site }

func newFleet(targets int, end time.Time) *fleet {
	rng := rand.New(rand.NewPCG(1, 1))
	spread := func(middle, sigma float64) float64 { return middle * math.Exp(sigma*rng.NormFloat64()) }
	f := &fleet{}
	for id := range targets {
		s := site{
			id: int64(id + 1), https: rng.IntN(5) > 0, wait: spread(60_000, .9), thinks: .1 + .3*rng.Float64(), dns: spread(6000, .7),
			transfer: spread(1500, 1), body: uint32(spread(20_000, 1.2)), dynamic: rng.IntN(2) == 0,
			address: netip.AddrFrom4([4]byte{198, 51, byte(id >> 8), byte(id)}), protocol: "HTTP/1.1",
		}
		near := rng.IntN(3)
		for region := range s.rtt {
			s.rtt[region] = spread(90_000, .4)
			if region == near {
				s.rtt[region] = spread(9000, .6)
			}
		}
		if s.https {
			s.cert = end.Add(time.Duration(rng.IntN(90)) * day).Truncate(time.Second)
			s.protocol = "HTTP/2.0"
		}
		f.sites = append(f.sites, s)
	}
	return f
}

// results of a region with slots in [from, to), by the prober that made them. Asking again
// gives the same rows.
func (f *fleet) results(region int, from, to time.Time) (by [probersPerRegion][]uptime.Result) {
	rng := rand.New(rand.NewPCG(uint64(from.UnixMilli()), uint64(region)))
	for i := range f.sites {
		s := &f.sites[i]
		for slot := uptime.NextSlot(s.id, interval, from); slot.Before(to); slot = slot.Add(interval) {
			prober := rng.IntN(probersPerRegion)
			r := s.visit(rng, region, slot)
			r.Prober = proberName(region, prober)
			by[prober] = append(by[prober], r)
		}
	}
	return by
}

// visit is what became of a check: of a thousand, five fail, two are slow and one has no
// measurement.
func (s *site) visit(rng *rand.Rand, region int, slot time.Time) uptime.Result {
	r := uptime.Result{TargetID: s.id, Region: regions()[region], ScheduledAt: slot, Attempt: 1, SpecVersion: 3 + s.id%5}
	dice := rng.IntN(1000)
	if dice == 0 {
		r.Status, r.Reason, r.IngestedAt = uptime.StatusMissed, uptime.ReasonExpired, slot.Add(time.Minute+after(rng, 2e6))
		return r
	}
	late := time.Duration(1+rng.ExpFloat64()*2) * time.Millisecond
	r.CheckedAt, r.Status, r.HTTPStatus, r.Address, r.CertNotAfter = slot.Add(late), uptime.StatusUp, 200, s.address, s.cert
	noisy := func(middle, sigma float64) uint32 { return uint32(middle * math.Exp(sigma*rng.NormFloat64())) }
	rtt := s.rtt[region]
	p := &r.Phases
	p.DNS, p.Connect, p.Wait, p.Transfer = noisy(s.dns, .5), noisy(rtt, .03), noisy(rtt, .03)+noisy(s.wait, s.thinks), noisy(s.transfer, .4)
	r.Seen = uptime.Seen{Protocol: s.protocol, Hops: 1, WireBytes: s.body, BodyBytes: s.body * 4}
	if s.https {
		p.TLS, r.Seen.TLSVersion = noisy(rtt, .03)+noisy(1500, .15), 0x0304
	}
	if s.dynamic {
		r.Seen.WireBytes += rng.Uint32N(200)
		r.Seen.BodyBytes += rng.Uint32N(800)
	}
	switch {
	case dice <= 2:
		r.Status, r.Failure, r.Message = uptime.StatusDegraded, uptime.FailureLatency, "it took longer than 1000 ms"
		p.Wait += 1_000_000
	case dice <= 5:
		r.Status, r.Failure, r.HTTPStatus, r.Message, r.Evidence = uptime.StatusDown, uptime.FailureStatusCode, 503, "HTTP 503: want 200-399", s.evidence(r)
	case dice <= 7:
		r.Status, r.Failure, r.HTTPStatus, r.Message = uptime.StatusDown, uptime.FailureTimeout, 0, "no answer within 10000 ms"
		r.Phases.Wait, r.Phases.Transfer, r.Seen.WireBytes, r.Seen.BodyBytes = 10_000_000, 0, 0, 0
	}
	r.TotalUS = p.DNS + p.Connect + p.TLS + p.Wait + p.Transfer + 20 + rng.Uint32N(80)
	r.IngestedAt = r.CheckedAt.Add(time.Duration(r.TotalUS)*time.Microsecond + after(rng, 300))
	return r
}

// after is some time, in µs on average.
func after(rng *rand.Rand, us float64) time.Duration {
	return time.Duration(rng.ExpFloat64()*us) * time.Microsecond
}

// evidence is what is kept of a visit that failed.
func (s *site) evidence(r uptime.Result) *uptime.Evidence {
	return &uptime.Evidence{
		Hops:       []uptime.Hop{{URL: "https://www.example.com/", Address: s.address, Protocol: s.protocol, Status: r.HTTPStatus, Phases: r.Phases}},
		StatusLine: s.protocol + " 503 Service Unavailable",
		Headers: []uptime.Header{
			{Name: "Content-Type", Value: "text/html; charset=utf-8"}, {Name: "Date", Value: r.CheckedAt.Format(time.RFC1123)},
			{Name: "Retry-After", Value: "30"}, {Name: "Server", Value: "nginx"},
		},
		Body:    "<html><head><title>503 Service Temporarily Unavailable</title></head><body><center><h1>503 Service Temporarily Unavailable</h1></center></body></html>",
		Command: "curl -sv --max-time 10 https://www.example.com/",
	}
}
