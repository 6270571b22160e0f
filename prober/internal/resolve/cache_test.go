package resolve

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

func TestAnswersAreHeldForTheirTTL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ttl  int
		held time.Duration
	}{{0, 0}, {1, time.Second}, {30, 30 * time.Second}, {60, time.Minute}, {3600, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				return address(q, strconv.Itoa(c.ttl)), nil
			})
			r := rigged(t, s)
			first := want(t, r, "a.example", Both, "2600::1 9.9.9.9")
			if first.Cached || first.TTL != c.held || first.Server != "10.0.0.1:53" || first.Name != "a.example" {
				t.Errorf("ttl %d: %+v", c.ttl, first)
			}
			if c.held > 0 {
				time.Sleep(c.held - time.Millisecond)
				second := want(t, r, "A.Example.", Both, "2600::1 9.9.9.9")
				if !second.Cached || second.TTL != time.Millisecond || s.total() != 2 {
					t.Errorf("ttl %d: %+v after %d questions", c.ttl, second, s.total())
				}
				time.Sleep(time.Millisecond)
			}
			if third := want(t, r, "a.example", Both, "2600::1 9.9.9.9"); third.Cached || s.total() != 4 {
				t.Errorf("ttl %d: held too long: %+v after %d questions", c.ttl, third, s.total())
			}
		})
	}
}

func TestWhatIsNotThereIsHeldAsTheZoneSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code int
		soa  string
		held time.Duration
		what string
	}{
		{dns.RcodeNameError, "example. 300 IN SOA a. b. 1 2 3 4 5", 5 * time.Second, "no such host name"},
		{dns.RcodeNameError, "example. 4 IN SOA a. b. 1 2 3 4 300", 4 * time.Second, "no such host name"},
		{dns.RcodeNameError, "example. 3600 IN SOA a. b. 1 2 3 4 3600", 10 * time.Second, "no such host name"},
		{dns.RcodeNameError, "example. 0 IN SOA a. b. 1 2 3 4 0", 0, "no such host name"},
		{dns.RcodeNameError, "", 0, "no such host name"},
		{dns.RcodeSuccess, "example. 300 IN SOA a. b. 1 2 3 4 5", 5 * time.Second, "the host name has no address"},
		{dns.RcodeSuccess, "", 0, "the host name has no address"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
				m := answerTo(q, c.code)
				if c.soa != "" {
					m.Ns = records(c.soa)
				}
				return m, nil
			})
			r := rigged(t, s)
			lookUp := func(asked int) {
				t.Helper()
				if kind, what := fails(t, r, t.Context(), "a.example", Both); kind != "not found" || what != c.what || s.total() != asked {
					t.Errorf("%+v: %s, %s after %d questions", c, kind, what, s.total())
				}
			}
			lookUp(2)
			if c.held > 0 {
				time.Sleep(c.held - time.Millisecond)
				lookUp(2)
				time.Sleep(time.Millisecond)
			}
			lookUp(4)
		})
	}
}

func TestTroubleIsHeldForASecond(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(ctx context.Context, q dns.Question) (*dns.Msg, error){
		"SERVFAIL": func(_ context.Context, q dns.Question) (*dns.Msg, error) {
			return answerTo(q, dns.RcodeServerFailure), nil
		},
		"REFUSED": func(_ context.Context, q dns.Question) (*dns.Msg, error) { return answerTo(q, dns.RcodeRefused), nil },
		"silence": func(ctx context.Context, _ dns.Question) (*dns.Msg, error) { return never(ctx) },
		"lost":    func(context.Context, dns.Question) (*dns.Msg, error) { return nil, errLost },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript(func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) { return answer(ctx, q) })
			r := rigged(t, s)
			fails(t, r, t.Context(), "a.example", V4)
			asked := s.total()
			time.Sleep(time.Second - time.Millisecond)
			fails(t, r, t.Context(), "a.example", V4)
			if s.total() != asked {
				t.Errorf("%s: asked again within the second", name)
			}
			time.Sleep(time.Millisecond)
			fails(t, r, t.Context(), "a.example", V4)
			if s.total() != 2*asked {
				t.Errorf("%s: held for more than a second", name)
			}
		})
	}
}

// A name that changes its address at every look-up (DNS rebinding) is taken at its word.
func TestRebindingNameIsAskedAgainAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(_ context.Context, q dns.Question, count int) (*dns.Msg, error) {
			return answerTo(q, 0, q.Name+" 0 IN A "+[]string{"9.9.9.9", "127.0.0.1"}[(count-1)%2]), nil
		}))
		want(t, r, "rebind.example", V4, "9.9.9.9")
		want(t, r, "rebind.example", V4, "127.0.0.1")
	})
}

func TestFamiliesShareWhatIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			if starts(q, "only4") && q.Qtype == dns.TypeAAAA {
				return withSOA(answerTo(q, 0), soa), nil
			}
			return address(q, "60"), nil
		})
		r := rigged(t, s)
		want(t, r, "a.example", V4, "9.9.9.9")
		want(t, r, "a.example", V6, "2600::1")
		if got := want(t, r, "a.example", Both, "2600::1 9.9.9.9"); !got.Cached || s.total() != 2 {
			t.Errorf("%+v after %d questions", got, s.total())
		}
		want(t, r, "only4.example", Both, "9.9.9.9")
		if kind, what := fails(t, r, t.Context(), "only4.example", V6); kind != "not found" || what != "the host name has no IPv6 address" {
			t.Error(kind, what)
		}
		time.Sleep(7 * time.Second) // the zone's word for what is not there
		if got := want(t, r, "only4.example", Both, "9.9.9.9"); got.TTL != 53*time.Second || s.count("only4.example. A") != 1 || s.count("only4.example. AAAA") != 2 {
			t.Errorf("%+v; asked %v", got, s.asked)
		}
		got := want(t, r, "only4.example", Both, "9.9.9.9")
		got.Addrs[0] = got.Addrs[0].Next() // the caller's own
		want(t, r, "only4.example", Both, "9.9.9.9")
	})
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(sound)
		r := rigged(t, s)
		r.cache = newCache(3)
		for _, host := range []string{"a", "b", "c", "a", "d"} { // b has not been used for the longest time
			want(t, r, host+".example", V4, "9.9.9.9")
		}
		for host, cached := range map[string]bool{"a": true, "c": true, "d": true} {
			if got := want(t, r, host+".example", V4, "9.9.9.9"); got.Cached != cached {
				t.Errorf("%s: %+v", host, got)
			}
		}
		if got := want(t, r, "b.example", V4, "9.9.9.9"); got.Cached || r.cached() != 3 {
			t.Errorf("%+v among %d", got, r.cached())
		}
	})
}

func TestCacheKeepsItsOrder(t *testing.T) {
	t.Parallel()
	c := newCache(100)
	for i := range 1000 {
		c.put(strconv.Itoa(i), i%2, part{expires: time.Duration(i)})
		c.get(strconv.Itoa(i - i%100)) // a favourite
	}
	if len(c.entries) != 100 {
		t.Fatal(len(c.entries))
	}
	n := 0
	for e := c.ends.next; e != &c.ends; e = e.next {
		if e.next.previous != e || c.entries[e.name] != e {
			t.Fatalf("entry %s is not linked", e.name)
		}
		n++
	}
	if n != 100 || c.entries["900"] == nil {
		t.Errorf("%d linked", n)
	}
}

// Who wants to know how it is now asks, whatever the cache has; what is learned serves all.
func TestLookupAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead := false
		s := newScript(func(ctx context.Context, q dns.Question, count int) (*dns.Msg, error) {
			if dead {
				return never(ctx)
			}
			return sound(ctx, q, count)
		})
		r := rigged(t, s)
		want(t, r, "a.example", Both, "2600::1 9.9.9.9")
		answer, err := r.LookupAnew(t.Context(), "A.example.", Both)
		if err != nil || answer.Cached || s.total() != 4 {
			t.Errorf("%+v, %v after %d questions", answer, err, s.total())
		}
		if answer, err = r.LookupAnew(t.Context(), "9.9.9.9", Both); err != nil || written(answer.Addrs) != "9.9.9.9" {
			t.Errorf("%+v, %v", answer, err)
		}
		dead = true
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if answer, err = r.LookupAnew(ctx, "a.example", Both); err == nil {
			t.Errorf("a dead server resolved %+v", answer)
		}
	})
}

// Who doubts an answer is answered by another server, if there is one; for all others the order
// of servers stays.
func TestLookupElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		liar := newScript(func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return answerTo(q, dns.RcodeNameError), nil
		})
		honest := newScript(sound)
		r := rigged(t, liar, honest)
		if kind, _ := fails(t, r, t.Context(), "a.example", Both); kind != "not found" {
			t.Errorf("%s", kind)
		}
		if _, err := r.LookupAnew(t.Context(), "a.example", Both); err == nil {
			t.Error("the first server was not asked")
		}
		answer, err := r.LookupElsewhere(t.Context(), "a.example", Both)
		if err != nil || written(answer.Addrs) != "2600::1 9.9.9.9" || answer.Cached {
			t.Errorf("%+v, %v", answer, err)
		}
		if _, err := r.LookupElsewhere(t.Context(), "a.example", Both); err == nil { // now the honest one is doubted
			t.Error("the second server was asked again")
		}
		asked := honest.total()
		if kind, _ := fails(t, r, t.Context(), "b.example", Both); kind != "not found" || honest.total() != asked {
			t.Errorf("%s: another name was asked elsewhere", kind)
		}
	})
	synctest.Test(t, func(t *testing.T) { // the only server is asked all the same
		r := rigged(t, newScript(sound))
		want(t, r, "a.example", Both, "2600::1 9.9.9.9")
		if answer, err := r.LookupElsewhere(t.Context(), "a.example", Both); err != nil || written(answer.Addrs) != "2600::1 9.9.9.9" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}
