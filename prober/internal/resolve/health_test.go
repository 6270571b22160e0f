package resolve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A name in trouble is the target's when the server works for others, and else ours.
func TestWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	type behaviour = func(ctx context.Context, q dns.Question) (*dns.Msg, error)
	code := func(c int) behaviour {
		return func(_ context.Context, q dns.Question) (*dns.Msg, error) { return answerTo(q, c), nil }
	}
	quiet := func(ctx context.Context, _ dns.Question) (*dns.Msg, error) { return never(ctx) }
	broken := func(err error) behaviour {
		return func(context.Context, dns.Question) (*dns.Msg, error) { return nil, err }
	}
	knows := func(_ context.Context, q dns.Question) (*dns.Msg, error) { return root(q), nil }
	cases := []struct {
		name          string
		target, other behaviour
		kind, what    string
		took          time.Duration
	}{
		{"SERVFAIL of one name", code(dns.RcodeServerFailure), knows, "broken", "its name servers do not answer (SERVFAIL)", 0},
		{"SERVFAIL of everything", code(dns.RcodeServerFailure), code(dns.RcodeServerFailure), "trouble", "SERVFAIL", 0},
		{"SERVFAIL, then silence", code(dns.RcodeServerFailure), quiet, "trouble", "SERVFAIL", 2 * time.Second},
		{"SERVFAIL, and no root", code(dns.RcodeServerFailure), code(dns.RcodeSuccess), "trouble", "SERVFAIL", 0},
		{"silence over one name", quiet, knows, "broken", "its name servers do not answer in time", 4 * time.Second},
		{"silence over everything", quiet, quiet, "trouble", "no answer in time", 4 * time.Second},
		{"REFUSED of one name", code(dns.RcodeRefused), knows, "trouble", "REFUSED", 0},
		{"NOTIMP of one name", code(dns.RcodeNotImplemented), knows, "trouble", "NOTIMP", 0},
		{"nonsense about one name", broken(errMalformed), knows, "trouble", "an answer that cannot be read", 0},
		{"unreachable", broken(errLost), broken(errLost), "trouble", "the connection was lost", 0},
		{"too large an answer", broken(errTooLarge), quiet, "broken", "its answer is larger than 4096 bytes", 0},
	}
	for _, c := range cases {
		synctest.Test(t, func(t *testing.T) {
			r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				if isRoot(q) {
					return c.other(ctx, q)
				}
				return c.target(ctx, q)
			}))
			began := time.Now()
			kind, what := fails(t, r, context.Background(), "a.example", V4)
			if took := time.Since(began); kind != c.kind || what != c.what || took != c.took {
				t.Errorf("%s: %s, %q after %v", c.name, kind, what, took)
			}
		})
	}
}

// One server of two that works is enough to hold a name to account.
func TestOneWorkingServerVouches(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error){
		"unreachable": func(context.Context, dns.Question, int) (*dns.Msg, error) { return nil, errLost },
		"silent":      func(ctx context.Context, _ dns.Question, _ int) (*dns.Msg, error) { return never(ctx) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := rigged(t, newScript(first), newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				if isRoot(q) {
					return root(q), nil
				}
				return answerTo(q, dns.RcodeServerFailure), nil
			}))
			if kind, what := fails(t, r, t.Context(), "a.example", V4); kind != "broken" {
				t.Errorf("%s: %s, %s", name, kind, what)
			}
		})
	}
}

// The control question must have been sent after the name's own: what a server did
// before says nothing.
func TestServerThatJustDiedIsNotVouchedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		r := rigged(t, newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if isRoot(q) && !dead.Load() {
				return root(q), nil
			}
			return answerTo(q, dns.RcodeServerFailure), nil
		}))
		if kind, _ := fails(t, r, t.Context(), "a.example", V4); kind != "broken" {
			t.Error(kind)
		}
		time.Sleep(300 * time.Millisecond)
		dead.Store(true)
		began := time.Now()
		if kind, _ := fails(t, r, t.Context(), "b.example", V4); kind != "trouble" || time.Since(began) != 700*time.Millisecond {
			t.Errorf("%s after %v", kind, time.Since(began))
		}
	})
}

func TestControlQuestionsAreRare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if isRoot(q) {
				return root(q), nil
			}
			return answerTo(q, dns.RcodeServerFailure), nil
		})
		r := rigged(t, s)
		for i := range 100 {
			go func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				if kind, _ := fails(t, r, context.Background(), fmt.Sprintf("a%d.example", i), V4); kind != "broken" {
					t.Error(kind)
				}
			}()
		}
		time.Sleep(12 * time.Second)
		sent := s.times(". NS")
		if len(sent) < 9 || len(sent) > 11 {
			t.Errorf("%d control questions in ten seconds", len(sent))
		}
		for i, at := range sent[1:] {
			if at-sent[i] < time.Second {
				t.Errorf("control questions at %v and %v", sent[i], at)
			}
		}
	})
}

// However many names are in trouble, each learns whose fault it is from the first round
// of control questions after its own.
func TestManyNamesInTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if isRoot(q) {
				return after(ctx, 300*time.Millisecond, root(q))
			}
			return answerTo(q, dns.RcodeServerFailure), nil
		}))
		var checks sync.WaitGroup
		for i := range 1000 {
			checks.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				began := time.Now()
				kind, what := fails(t, r, context.Background(), fmt.Sprintf("a%d.example", i), V4)
				if took := time.Since(began); kind != "broken" || took > 1300*time.Millisecond {
					t.Errorf("%d: %s, %s after %v", i, kind, what, took)
				}
			})
		}
		checks.Wait()
	})
}

// Checks that go well say as much about the server as control questions do.
func TestOtherChecksVouch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			switch {
			case isRoot(q): // never asked: it would be held against the server
				return answerTo(q, dns.RcodeRefused), nil
			case starts(q, "silent"):
				return never(ctx)
			}
			return address(q, "1"), nil
		})
		r := rigged(t, s)
		want(t, r, "a.one.test", V4, "9.9.9.9")
		want(t, r, "a.two.test", V4, "9.9.9.9")
		go func() {
			for range 5 {
				time.Sleep(2100 * time.Millisecond)
				want(t, r, "a.one.test", V4, "9.9.9.9")
			}
		}()
		time.Sleep(3 * time.Second)
		if kind, what := fails(t, r, t.Context(), "silent.example", V4); kind != "broken" {
			t.Errorf("%s, %s", kind, what)
		}
		if s.count("a.two.test. A") != 1 || s.count(". NS") != 0 {
			t.Errorf("needless control questions: two.test %d, root %d", s.count("a.two.test. A"), s.count(". NS"))
		}
		time.Sleep(12 * time.Second)
	})
}

// A server that does not tell the root's name servers is not for ever out of order.
func TestServerThatRefusesTheRoot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			switch {
			case isRoot(q):
				return answerTo(q, dns.RcodeRefused), nil
			case starts(q, "bad"):
				return answerTo(q, dns.RcodeServerFailure), nil
			}
			return address(q, "5"), nil
		}))
		want(t, r, "a.example", V4, "9.9.9.9")
		if kind, _ := fails(t, r, t.Context(), "bad.test", V4); kind != "trouble" || r.State()[0].OK {
			t.Errorf("%s, %+v", kind, r.State())
		}
		time.Sleep(10 * time.Second)
		want(t, r, "a.example", V4, "9.9.9.9")
		if kind, _ := fails(t, r, t.Context(), "bad.test", V4); kind != "broken" || !r.State()[0].OK {
			t.Errorf("%s, %+v", kind, r.State())
		}
	})
}

func TestPanicStaysInItsQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if starts(q, "boom") {
				panic("boom")
			}
			return sound(ctx, q, 0)
		}))
		if kind, what := fails(t, r, t.Context(), "boom.example", Both); kind != "trouble" || what != errMalformed.Error() {
			t.Errorf("%s, %s", kind, what)
		}
		want(t, r, "a.example", Both, "2600::1 9.9.9.9")
	})
}

// A resolver behind a dead uplink still answers from its cache, the root's name servers
// among it. A name that it resolved before, and must resolve anew, gives it away.
func TestResolverThatLostItsUplinkIsOurs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cut atomic.Bool
		s := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if isRoot(q) {
				return root(q), nil
			}
			if cut.Load() {
				return answerTo(q, dns.RcodeServerFailure), nil
			}
			return address(q, "30"), nil
		})
		r := rigged(t, s)
		want(t, r, "a.one.example", V4, "9.9.9.9")
		want(t, r, "b.two.example", V4, "9.9.9.9")
		time.Sleep(31 * time.Second)
		cut.Store(true)
		if kind, what := fails(t, r, t.Context(), "a.one.example", V4); kind != "trouble" || what != "SERVFAIL" {
			t.Errorf("%s, %s: the server's cache vouched for it", kind, what)
		}
		if s.count("b.two.example. A") != 2 || s.count("a.one.example. A") != 2 || s.count(". NS") != 0 || r.State()[0].OK {
			t.Errorf("asked %v, %+v", s.asked, r.State())
		}
		// Once a name resolves again, so does the server.
		cut.Store(false)
		time.Sleep(time.Second)
		want(t, r, "a.one.example", V4, "9.9.9.9")
		synctest.Wait()
		if state := r.State()[0]; !state.OK || state.LastError != "SERVFAIL" {
			t.Errorf("%+v", state)
		}
	})
}

func TestWitnessesOfBrokenZonesArePassedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gone sync.Map
		s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if isRoot(q) {
				return never(ctx)
			}
			if _, broken := gone.Load(q.Name); broken {
				return answerTo(q, dns.RcodeServerFailure), nil
			}
			return address(q, "5"), nil
		})
		r := rigged(t, s)
		for _, host := range []string{"a.one.example", "b.one.example", "a.three.test", "a.four.test"} {
			want(t, r, host, V4, "9.9.9.9")
		}
		time.Sleep(6 * time.Second)
		for _, name := range []string{"a.one.example.", "b.one.example.", "a.three.test."} {
			gone.Store(name, true)
		}
		if kind, what := fails(t, r, t.Context(), "a.one.example", V4); kind != "broken" {
			t.Errorf("%s, %s", kind, what)
		}
		if s.count("b.one.example. A") != 1 {
			t.Error("a name of the same domain was asked to vouch")
		}
		if left := r.servers.Load().list[0].witnesses; len(left) != 3 {
			t.Errorf("the one that failed is still among %v", left)
		}
	})
}

func TestWitnessesAreThoseThatRunOutFirst(t *testing.T) {
	t.Parallel()
	s := newServer("s", nil)
	for i := range 100 {
		s.remember(asked(fmt.Sprintf("a.z%d.test", i), dns.TypeA), 0, time.Duration((i*37)%100)*time.Second)
	}
	if len(s.witnesses) != maxWitnesses {
		t.Fatal(len(s.witnesses))
	}
	for _, w := range s.witnesses {
		if w.runsOut >= maxWitnesses*time.Second {
			t.Errorf("%+v was kept", w)
		}
	}
	again := s.witnesses[3].question
	if s.remember(again, s.witnesses[3].runsOut+rounding-1, time.Hour) || !s.remember(again, time.Hour+rounding, time.Hour) {
		t.Error("what may have come out of the server's cache is a proof, or what did not is none")
	}
	if len(s.witnesses) != maxWitnesses || s.witnesses[3].runsOut != time.Hour {
		t.Error("a name is there twice")
	}
	if qs := s.controls("x.test", time.Minute); len(qs) != maxControls {
		t.Errorf("%v", qs)
	}
	if qs := s.controls("x.test", -1); len(qs) != 1 || !isRoot(qs[0]) {
		t.Errorf("%v vouches out of the cache", qs)
	}
}

// Whoever has less time than a question takes still learns whose fault it is, if a whole
// try went by.
func TestCallersDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deadline time.Duration
		works    bool
		kind     string
	}{{3 * time.Second, true, "broken"}, {3 * time.Second, false, "trouble"}, {1500 * time.Millisecond, true, "trouble"}} {
		synctest.Test(t, func(t *testing.T) {
			r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				if isRoot(q) && c.works {
					return root(q), nil
				}
				return never(ctx)
			}))
			ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
			defer cancel()
			began := time.Now()
			_, err := r.Lookup(ctx, "a.example", Both)
			_, broken := errors.AsType[*Broken](err)
			trouble, ours := errors.AsType[*Trouble](err)
			if broken != (c.kind == "broken") || ours == broken || time.Since(began) != c.deadline {
				t.Errorf("%+v: %v after %v", c, err, time.Since(began))
			}
			if ours && (!trouble.Silent || !errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("%+v", trouble)
			}
		})
	}
}

func TestStateOfServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if dead.Load() {
				return nil, errLost
			}
			return sound(ctx, q, 0)
		}))
		start := time.Now()
		if s := r.State()[0]; s != (ServerState{Server: "10.0.0.1:53", OK: true, Since: start}) {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Minute)
		dead.Store(true)
		fails(t, r, t.Context(), "a.example", V4)
		died := time.Now()
		synctest.Wait()
		if s := r.State()[0]; s != (ServerState{Server: "10.0.0.1:53", Since: died, LastError: "the connection was lost", LastErrorAt: died}) {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Minute)
		dead.Store(false)
		want(t, r, "a.example", V4, "9.9.9.9")
		synctest.Wait()
		if s := r.State()[0]; !s.OK || s.Since != time.Now() || s.LastErrorAt != died {
			t.Errorf("%+v", s)
		}
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options()
		s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if starts(q, "nx") {
				return answerTo(q, dns.RcodeNameError), nil
			}
			return sound(ctx, q, 0)
		})
		r := build(Config{Servers: []Server{{Protocol: UDP, Host: "10.0.0.1", Port: 53}}}, o, func(Server) transport { return s })
		defer r.Close()
		want(t, r, "a.example", V4, "9.9.9.9")
		want(t, r, "a.example", V4, "9.9.9.9")
		want(t, r, "9.9.9.9", V4, "9.9.9.9")
		fails(t, r, t.Context(), "nx.example", Both)
		text := exposed(o)
		for _, line := range []string{
			`probefleet_prober_dns_cache_misses_total 2`, `probefleet_prober_dns_cache_hits_total 1`, `probefleet_prober_dns_cached_names 2`, `probefleet_prober_dns_queries_in_flight 0`,
			`probefleet_prober_dns_queries_total{outcome="answer",server="10.0.0.1:53"} 1`, `probefleet_prober_dns_queries_total{outcome="nxdomain",server="10.0.0.1:53"} 2`,
			`probefleet_prober_dns_query_seconds_count{server="10.0.0.1:53"} 3`, `probefleet_prober_dns_server_up{server="10.0.0.1:53"} 1`,
		} {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("no %s in\n%s", line, text)
			}
		}
	})
}

// exposed is what a scrape sees.
func exposed(o Options) string {
	page := httptest.NewRecorder()
	promhttp.HandlerFor(o.Metrics.(*prometheus.Registry), promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return page.Body.String()
}
