package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

func TestOneHostIsAskedForOnce(t *testing.T) {
	t.Parallel()
	for _, ttl := range []string{"60", "0"} { // what nobody may keep serves those who wait all the same
		synctest.Test(t, func(t *testing.T) {
			s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				return after(ctx, 100*time.Millisecond, address(q, ttl))
			})
			r := rigged(t, s)
			var checks sync.WaitGroup
			for i := range 1000 {
				checks.Go(func() {
					family := []Family{Both, V4, V6}[i%3]
					if got := want(t, r, "a.example", family, []string{"2600::1 9.9.9.9", "9.9.9.9", "2600::1"}[family]); got.Cached {
						t.Error("waited, and cached")
					}
				})
			}
			checks.Wait()
			if s.count("a.example. A") != 1 || s.count("a.example. AAAA") != 1 {
				t.Errorf("asked %v", s.asked)
			}
		})
	}
}

func TestGivingUpDisturbsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return after(ctx, time.Second, address(q, "60"))
		})
		r := rigged(t, s)
		impatient, cancel := context.WithCancel(t.Context())
		var patient sync.WaitGroup
		patient.Go(func() {
			time.Sleep(50 * time.Millisecond)
			want(t, r, "a.example", Both, "2600::1 9.9.9.9")
		})
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err := r.Lookup(impatient, "a.example", Both) // it asked first
		if trouble, ok := errors.AsType[*Trouble](err); !ok || !errors.Is(trouble, context.Canceled) {
			t.Error(err)
		}
		patient.Wait()
		if s.total() != 2 {
			t.Errorf("asked %v", s.asked)
		}
	})
}

func TestOneFamilyDoesNotSpoilTheOther(t *testing.T) {
	t.Parallel()
	late := func(d time.Duration) func(context.Context, dns.Question) (*dns.Msg, error) {
		return func(ctx context.Context, q dns.Question) (*dns.Msg, error) { return after(ctx, d, address(q, "60")) }
	}
	cases := []struct {
		name     string
		six      func(context.Context, dns.Question) (*dns.Msg, error)
		deadline time.Duration
		addrs    string
		took     time.Duration
		later    string // after two seconds
	}{
		{"AAAA a little late", late(300 * time.Millisecond), time.Minute, "2600::1 9.9.9.9", 300 * time.Millisecond, "2600::1 9.9.9.9"},
		{"AAAA late", late(700 * time.Millisecond), time.Minute, "9.9.9.9", 500 * time.Millisecond, "2600::1 9.9.9.9"},
		{"AAAA late, caller in a hurry", late(300 * time.Millisecond), 400 * time.Millisecond, "9.9.9.9", 100 * time.Millisecond, "2600::1 9.9.9.9"},
		{"AAAA silent", func(ctx context.Context, _ dns.Question) (*dns.Msg, error) { return never(ctx) }, time.Minute, "9.9.9.9", 500 * time.Millisecond, "9.9.9.9"},
		{"AAAA in trouble", func(_ context.Context, q dns.Question) (*dns.Msg, error) {
			return answerTo(q, dns.RcodeServerFailure), nil
		}, time.Minute, "9.9.9.9", 0, "9.9.9.9"},
		{"AAAA no such name", func(_ context.Context, q dns.Question) (*dns.Msg, error) { return answerTo(q, dns.RcodeNameError), nil }, time.Minute, "9.9.9.9", 0, "9.9.9.9"},
	}
	for _, c := range cases {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				switch q.Qtype {
				case dns.TypeNS:
					return root(q), nil
				case dns.TypeAAAA:
					return c.six(ctx, q)
				}
				return address(q, "60"), nil
			})
			r := rigged(t, s)
			ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
			defer cancel()
			began := time.Now()
			got, err := r.Lookup(ctx, "a.example", Both)
			if took := time.Since(began); err != nil || written(got.Addrs) != c.addrs || took != c.took {
				t.Errorf("%s: %s, %v, after %v", c.name, written(got.Addrs), err, took)
			}
			time.Sleep(2 * time.Second)
			began = time.Now()
			want(t, r, "a.example", Both, c.later)
			if c.name == "AAAA silent" && time.Since(began) != 0 {
				t.Errorf("%s: waited %v for a question that had its time", c.name, time.Since(began))
			}
			if s.count("a.example. A") != 1 {
				t.Errorf("%s: A was asked for %d times", c.name, s.count("a.example. A"))
			}
		})
	}
}

func TestNoAddressOfOneFamilyIsNoAnswerForBoth(t *testing.T) {
	t.Parallel()
	for six, wanted := range map[int][2]string{
		dns.RcodeServerFailure: {"broken", "its name servers do not answer (SERVFAIL)"},
		dns.RcodeRefused:       {"trouble", "REFUSED"},
		dns.RcodeNameError:     {"not found", "no such host name"},
		dns.RcodeSuccess:       {"not found", "the host name has no address"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := rigged(t, newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				switch q.Qtype {
				case dns.TypeNS:
					return root(q), nil
				case dns.TypeAAAA:
					return answerTo(q, six), nil
				}
				return withSOA(answerTo(q, 0), soa), nil
			}))
			if kind, what := fails(t, r, t.Context(), "a.example", Both); kind != wanted[0] || what != wanted[1] {
				t.Errorf("%s: %s, %s", dns.RcodeToString[six], kind, what)
			}
		})
	}
}

func TestNextServer(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		first func(context.Context, dns.Question, int) (*dns.Msg, error)
		took  time.Duration
		stays bool // with the first server
	}{
		{"silent", func(ctx context.Context, _ dns.Question, _ int) (*dns.Msg, error) { return never(ctx) }, 2 * time.Second, false},
		{"unreachable", func(context.Context, dns.Question, int) (*dns.Msg, error) { return nil, errLost }, 0, false},
		{"refusing", func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return answerTo(q, dns.RcodeRefused), nil
		}, 0, false},
		{"talking nonsense", func(context.Context, dns.Question, int) (*dns.Msg, error) { return nil, errMalformed }, 0, false},
		{"failing with this name", func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if starts(q, "a.") {
				return answerTo(q, dns.RcodeServerFailure), nil
			}
			return sound(context.Background(), q, 0)
		}, 0, true},
	}
	for _, c := range cases {
		synctest.Test(t, func(t *testing.T) {
			first, second := newScript(c.first), newScript(sound)
			r := rigged(t, first, second)
			began := time.Now()
			if got := want(t, r, "a.example", V4, "9.9.9.9"); got.Server != "10.0.0.2:53" || time.Since(began) != c.took {
				t.Errorf("%s: %+v after %v", c.name, got, time.Since(began))
			}
			before := first.total()
			if got := want(t, r, "b.example", V4, "9.9.9.9"); (got.Server == "10.0.0.1:53") != c.stays || (first.total() != before) != c.stays {
				t.Errorf("%s: then %+v", c.name, got)
			}
			time.Sleep(3 * time.Second) // a control question has its time
			if states := r.State(); states[0].OK != c.stays || !states[1].OK {
				t.Errorf("%s: %+v", c.name, states)
			}
		})
	}
}

func TestLostDatagramIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, count int) (*dns.Msg, error) {
			if count == 1 && !isRoot(q) {
				return never(ctx)
			}
			return sound(ctx, q, count)
		}))
		began := time.Now()
		want(t, r, "a.example", Both, "2600::1 9.9.9.9")
		if took := time.Since(began); took != 2*time.Second {
			t.Error(took)
		}
	})
}

func TestALookupEndsWhateverTheServersDo(t *testing.T) {
	t.Parallel()
	for servers, longest := range map[int]time.Duration{1: 4 * time.Second, 2: 6 * time.Second, 3: 8 * time.Second, 8: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var scripts []*script
			for range servers {
				scripts = append(scripts, newScript(func(ctx context.Context, _ dns.Question, _ int) (*dns.Msg, error) { return never(ctx) }))
			}
			r := rigged(t, scripts...)
			began := time.Now()
			if kind, what := fails(t, r, context.Background(), "a.example", Both); kind != "trouble" || time.Since(began) > longest {
				t.Errorf("%d servers: %s, %s after %v", servers, kind, what, time.Since(began))
			}
		})
	}
}

func TestQuestionsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, most := 0, 0
		var mu sync.Mutex
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			mu.Lock()
			out++
			most = max(most, out)
			mu.Unlock()
			defer func() { mu.Lock(); out--; mu.Unlock() }()
			return after(ctx, time.Second, address(q, "60"))
		}))
		r.slots = make(chan struct{}, 10)
		var checks sync.WaitGroup
		for i := range 50 {
			checks.Go(func() { want(t, r, fmt.Sprintf("a%d.example", i), V4, "9.9.9.9") })
		}
		checks.Wait()
		if most != 10 {
			t.Errorf("%d at once", most)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return after(ctx, time.Second, address(q, "60"))
		}))
		r.slots = make(chan struct{}) // no room, ever
		if kind, what := fails(t, r, t.Context(), "a.example", V4); kind != "trouble" || what != "too many look-ups are under way" {
			t.Error(kind, what)
		}
	})
}

func TestNobodyIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newScript(sound)
	r := rigged(t, s)
	for host, addrs := range map[string]string{
		"9.9.9.9": "9.9.9.9", "::1": "::1", "2600:0::1": "2600::1", "::ffff:9.9.9.9": "9.9.9.9",
		"localhost": "::1 127.0.0.1", "a.localhost.": "::1 127.0.0.1",
	} {
		if got := want(t, r, host, Both, addrs); !got.Cached {
			t.Errorf("%s: %+v", host, got)
		}
	}
	want(t, r, "localhost", V4, "127.0.0.1")
	for host, what := range map[string]string{
		"": "not a host name: it is empty", "a..b": "not a host name: a label is empty", "a b": "not a host name: it has other characters than letters, digits, - and _",
		"9.9.9.9": "the host name has no IPv6 address",
	} {
		if kind, got := fails(t, r, t.Context(), host, V6); kind != "not found" || got != what {
			t.Errorf("%q: %s, %s", host, kind, got)
		}
	}
	if s.total() != 0 || r.cached() != 0 {
		t.Errorf("asked %v, cached %d", s.asked, r.cached())
	}
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if starts(q, "good") {
				return address(q, "60"), nil
			}
			return never(ctx)
		}))
		want(t, r, "good.example", V4, "9.9.9.9")
		var check sync.WaitGroup
		check.Go(func() {
			_, err := r.Lookup(t.Context(), "a.example", Both)
			if _, ours := errors.AsType[*Trouble](err); !ours || !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		time.Sleep(2500 * time.Millisecond) // a control question is out as well
		began := time.Now()
		r.Close()
		check.Wait()
		if time.Since(began) != 0 {
			t.Error("waited", time.Since(began))
		}
		if _, err := r.Lookup(t.Context(), "b.example", Both); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		want(t, r, "good.example", V4, "9.9.9.9")
		r.Close()
	})
}

func TestAsNetResolver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			switch {
			case starts(q, "nx"):
				return answerTo(q, dns.RcodeNameError), nil
			case starts(q, "broken"):
				return answerTo(q, dns.RcodeServerFailure), nil
			case starts(q, "silent"):
				return never(ctx)
			case starts(q, "refused"):
				return answerTo(q, dns.RcodeRefused), nil
			}
			return sound(ctx, q, 0)
		}))
		for network, addrs := range map[string]string{"ip": "2600::1 9.9.9.9", "ip4": "9.9.9.9", "ip6": "2600::1"} {
			got, err := r.LookupNetIP(t.Context(), network, "a.example")
			if err != nil || written(got) != addrs {
				t.Errorf("%s: %v, %v", network, got, err)
			}
		}
		for host, wanted := range map[string]net.DNSError{
			"nx.example":      {Err: "no such host name", IsNotFound: true},
			"broken.example":  {Err: "its name servers do not answer (SERVFAIL)", IsNotFound: true},
			"refused.example": {Err: "REFUSED", IsTemporary: true, Server: "10.0.0.1:53"},
			"silent.example":  {Err: "no answer in time", IsTemporary: true, IsTimeout: true},
		} {
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := r.LookupNetIP(short, "ip", host)
			cancel()
			told, ok := errors.AsType[*net.DNSError](err)
			if !ok || told.UnwrapErr == nil {
				t.Errorf("%s: %v", host, err)
				continue
			}
			got := *told
			got.UnwrapErr, wanted.Name = nil, host
			if got != wanted {
				t.Errorf("%s: %+v", host, got)
			}
		}
		if _, err := r.LookupNetIP(t.Context(), "tcp", "a.example"); err == nil {
			t.Error("looked up a network that is none")
		}
	})
}
