package resolve

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	patience  = 2 * time.Second // with one server, for one answer
	tries     = 4               // whole ones that a question may take at most
	grace     = 500 * time.Millisecond
	maxFlying = 1024 // questions out at once
)

// Family is which addresses a caller can use.
type Family uint8

// Families.
const (
	Both Family = iota
	V4
	V6
)

// includes says whether the family at place is asked for.
func (f Family) includes(place int) bool { return f == Both || int(f) == place+1 }

// Answer is what a name resolves to now.
type Answer struct {
	Addrs  []netip.Addr  // in the order to try them, at least one, at most 16; the caller's own
	Cached bool          // nothing was waited for
	Name   string        // what the name's aliases end in, the name itself without any; "" if that is no host name
	TTL    time.Duration // how long it will be answered like this from the cache
	Server string        // who said so, as Config has it, or "hosts file"; "" when nobody was asked
}

// Options are what a resolver needs besides its servers.
type Options struct {
	Roots   *x509.CertPool // of servers that are asked over TLS and HTTPS; nil: the system's
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Resolver looks names up. It is safe for concurrent use.
type Resolver struct {
	log       *slog.Logger
	metrics   *metrics
	dial      func(Server) transport
	reachable func(netip.Addr) bool
	patience  time.Duration
	base      time.Time
	slots     chan struct{} // one for each question that is out

	servers    atomic.Pointer[servers]
	system     bool // the files below are honoured
	resolvConf watched
	hostsFile  watched
	hosts      atomic.Pointer[hosts]

	within  func(time.Duration) (context.Context, context.CancelFunc) // until Close
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	cache   *cache
	flights map[question]*flight
	closed  bool
}

// New makes a resolver that asks the servers of c. Close ends it.
func New(c Config, o Options) *Resolver {
	return build(c, o, func(s Server) transport { return newTransport(s, o.Roots, patience) })
}

func build(c Config, o Options, dial func(Server) transport) *Resolver {
	r := &Resolver{
		log: o.Log, reachable: routed, patience: patience, base: time.Now(), slots: make(chan struct{}, maxFlying),
		dial: dial, system: len(c.Servers) == 0,
		resolvConf: watched{path: "/etc/resolv.conf"}, hostsFile: watched{path: "/etc/hosts"},
		cache: newCache(maxNames), flights: map[question]*flight{},
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.within = func(d time.Duration) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	chosen := new(servers)
	for _, s := range c.Servers {
		chosen.list = append(chosen.list, newServer(s.String(), r.dial(s)))
	}
	r.servers.Store(chosen)
	if r.system {
		r.followSystem()
		r.followHosts()
	}
	r.metrics = newMetrics(o.Metrics, r)
	return r
}

// Close ends the look-ups under way with Trouble, and waits for all that was started.
func (r *Resolver) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	r.running.Wait()
	for _, s := range r.servers.Load().list {
		s.transport.close()
	}
}

// State tells how each server is, in the order of Config.
func (r *Resolver) State() []ServerState {
	list := r.servers.Load().list
	states := make([]ServerState, len(list))
	for i, s := range list {
		states[i] = s.current()
	}
	return states
}

// Lookup gives the addresses of a name, or an address itself. Names are as IDNA leaves
// them, with or without a dot at their end. The error is a *NotFound or *Broken when it is
// the target's, else a *Trouble.
func (r *Resolver) Lookup(ctx context.Context, host string, family Family) (Answer, error) {
	name := normal(host)
	if r.system {
		if answer, err, known := r.fromHosts(name, family); known {
			return answer, err
		}
	}
	now := r.now()
	r.mu.Lock()
	if e := r.cache.get(name); e != nil && (!family.includes(0) || e.parts[0].fresh(now)) && (!family.includes(1) || e.parts[1].fresh(now)) {
		answer, err := combine(name, family, &e.parts, now)
		r.mu.Unlock()
		r.metrics.hits.Inc()
		answer.Cached = true
		return answer, err
	}
	r.mu.Unlock()
	if answer, err, settled := r.withoutAsking(name, family); settled {
		return answer, err
	}
	return r.miss(ctx, name, family, kept)
}

// LookupAnew is Lookup for who wants to know how it is now: the cache is not asked, only
// filled. Questions that are out already are shared as ever.
func (r *Resolver) LookupAnew(ctx context.Context, host string, family Family) (Answer, error) {
	return r.anew(ctx, host, family, fresh)
}

// LookupElsewhere is LookupAnew for who doubts the last answer: of several servers, the one that
// gave it is asked last.
func (r *Resolver) LookupElsewhere(ctx context.Context, host string, family Family) (Answer, error) {
	return r.anew(ctx, host, family, elsewhere)
}

func (r *Resolver) anew(ctx context.Context, host string, family Family, how source) (Answer, error) {
	name := normal(host)
	if r.system {
		if answer, err, known := r.fromHosts(name, family); known {
			return answer, err
		}
	}
	if answer, err, settled := r.withoutAsking(name, family); settled {
		return answer, err
	}
	return r.miss(ctx, name, family, how)
}

func (r *Resolver) miss(ctx context.Context, name string, family Family, how source) (Answer, error) {
	r.metrics.misses.Inc()
	if r.system {
		r.followSystem()
	}
	return r.ask(ctx, name, family, how)
}

// now counts from the resolver's beginning, by the monotonic clock.
func (r *Resolver) now() time.Duration { return time.Since(r.base) }

func (r *Resolver) cached() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.cache.entries)
}

// start runs work until it ends, the time is over, or Close; it says whether it does.
func (r *Resolver) start(limit time.Duration, work func(context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.startLocked(limit, work)
}

func (r *Resolver) startLocked(limit time.Duration, work func(context.Context)) bool {
	if r.closed {
		return false
	}
	r.running.Go(func() {
		ctx, cancel := r.within(limit)
		defer cancel()
		work(ctx)
	})
	return true
}

// followHosts takes over a changed hosts file.
func (r *Resolver) followHosts() {
	if content, changed := r.hostsFile.changed(r.now()); changed {
		known := parseHosts(content)
		r.hosts.Store(&known)
	}
}

// fromHosts answers what the hosts file knows.
func (r *Resolver) fromHosts(name string, family Family) (Answer, error, bool) {
	r.followHosts()
	addrs, found := (*r.hosts.Load())[name]
	if !found {
		return Answer{}, nil, false
	}
	answer, err := r.given(name, family, addrs[0], addrs[1])
	answer.Server = hostsLabel
	return answer, err, true
}

// withoutAsking answers what needs no server: addresses, what cannot be a name, and localhost.
func (r *Resolver) withoutAsking(name string, family Family) (Answer, error, bool) {
	if addr, err := netip.ParseAddr(name); err == nil {
		if addr = addr.Unmap(); addr.Is4() {
			answer, err := r.given(name, family, []netip.Addr{addr}, nil)
			return answer, err, true
		}
		answer, err := r.given(name, family, nil, []netip.Addr{addr})
		return answer, err, true
	}
	if why := misnamed(name); why != "" {
		return Answer{}, &NotFound{Host: name, What: "not a host name: " + why}, true
	}
	if isLocalhost(name) {
		answer, err := r.given(name, family, []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, []netip.Addr{netip.IPv6Loopback()})
		return answer, err, true
	}
	return Answer{}, nil, false
}

// given makes an answer of addresses that nobody was asked for.
func (r *Resolver) given(name string, family Family, v4, v6 []netip.Addr) (Answer, error) {
	var lists [2][]ranked
	for at, addrs := range [...][]netip.Addr{v4, v6} {
		if family.includes(at) {
			lists[at] = rank(addrs, r.reachable)
		}
	}
	answer := Answer{Addrs: merge(lists[0], lists[1]), Cached: true, Name: name}
	if len(answer.Addrs) == 0 {
		return Answer{}, &NotFound{Host: name, What: noAddress(family)}
	}
	return answer, nil
}

// noAddress says in one clause what is missing.
func noAddress(family Family) string {
	return "the host name has no " + [...]string{"", "IPv4 ", "IPv6 "}[family] + "address"
}

// question is what one flight is about.
type question struct {
	name  string
	place int
}

func (q question) wire() dns.Question {
	return dns.Question{Name: q.name + ".", Qtype: questionTypes[q.place], Qclass: dns.ClassINET}
}
