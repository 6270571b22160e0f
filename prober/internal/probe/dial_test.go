package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// A connection that never comes about ends with the visit, whether or not whoever waits for
// it can call it off.
func TestConnectingEndsInTime(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for name, ctx := range map[string]context.Context{"cannot be called off": context.Background(), "can be": t.Context()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := brief(checkOf("http://" + labAt(t, l, "full")))
			begin := time.Now()
			o := e.Look(ctx, check)
			verify(t, o, uptime.FailureConnectTimeout, 0)
			endsInTime(t, check, begin)
		})
	}
}

// Nobody waits for the timeout of a check that was called off.
func TestConnectingCanBeCalledOff(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	check := checkOf("http://" + labAt(t, l, "full"))
	check.Timeout = 2 * hang
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begin := time.Now()
	if New(options(l)).Look(ctx, check); time.Since(begin) > hang {
		t.Errorf("over after %v", time.Since(begin))
	}
}

// What vouches for thousands of sites is parsed once: it stays in memory from visit to
// visit, also of one site.
func TestIssuersStayParsed(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	d := newDialer(options(l))
	addr := labAt(t, l, "chain")
	issuer := func() weak.Pointer[x509.Certificate] {
		conn, err := tls.Dial("tcp", addr, d.tlsOf(nil, "127.0.0.1"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return weak.Make(conn.ConnectionState().PeerCertificates[1])
	}
	first := issuer()
	for range 3 { // finalizers and what they let go
		runtime.GC()
	}
	if second := issuer(); first != second {
		t.Error("the issuer was parsed again")
	}
	runtime.KeepAlive(d)
}

// patient is a resolver that waits for as long as it may.
type patient struct{}

func (patient) Lookup(ctx context.Context, _ string, _ resolve.Family) (resolve.Answer, error) {
	<-ctx.Done()
	return resolve.Answer{}, &resolve.Trouble{What: "no server answered"}
}

func (p patient) LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return p.Lookup(ctx, host, family)
}

func (p patient) LookupElsewhere(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return p.Lookup(ctx, host, family)
}

func (patient) Exchange(ctx context.Context, _ dns.Question) (*dns.Msg, error) {
	<-ctx.Done()
	return nil, &resolve.Trouble{What: "no server answered"}
}

// Who looks names up is not waited for beyond the timeout.
func TestResolverEndsInTime(t *testing.T) {
	t.Parallel()
	for _, check := range []uptime.Check{checkOf("http://example.com/"), dnsCheck("dns:/example.com", uptime.Spec{})} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			o := New(options(nil, func(o *Options) { o.Resolver, o.Questions = patient{}, patient{} })).Look(t.Context(), check)
			if verify(t, o, uptime.ReasonProbeDNS, 0); time.Since(begin) != check.Timeout {
				t.Errorf("%s: over after %v", check.URL, time.Since(begin))
			}
		})
	}
}

// Where nobody answers, the result and its hop say at which address, and that is where the second look does not begin.
func TestFailedConnectionsHaveAnAddress(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l, func(o *Options) { o.Resolver = names{"lab.test": {"127.0.0.1"}} }))
	for server, want := range map[string]uptime.Failure{"refused": uptime.FailureConnectRefused, "full": uptime.FailureConnectTimeout} {
		_, port, _ := net.SplitHostPort(labAt(t, l, server))
		for _, check := range []uptime.Check{
			checkOf("http://lab.test:" + port + "/"),
			checkOf(l.URL() + "/redirect-to?url=http://lab.test:" + port + "/"),
			checkAt("tcp://lab.test:"+port, uptime.Spec{}),
			checkAt("tls://lab.test:"+port, uptime.Spec{}),
		} {
			t.Run(server+" "+check.URL, func(t *testing.T) {
				t.Parallel()
				o := e.Look(t.Context(), steady(check))
				verify(t, o, want, 0)
				last := o.Evidence.Hops[len(o.Evidence.Hops)-1]
				if local := netip.MustParseAddr("127.0.0.1"); o.Address != local || last.Address != local {
					t.Errorf("address %v, hop %+v", o.Address, last)
				}
			})
		}
	}
}
