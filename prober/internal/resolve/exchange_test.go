package resolve

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

func rawly(name string, kind uint16) dns.Question {
	return dns.Question{Name: name, Qtype: kind, Qclass: dns.ClassINET}
}

// servfails resolves the root and nothing else.
func servfails(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
	if isRoot(q) {
		return after(ctx, time.Millisecond, root(q))
	}
	return after(ctx, time.Millisecond, answerTo(q, dns.RcodeServerFailure))
}

func TestExchange(t *testing.T) {
	t.Parallel()
	mx := func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
		return answerTo(q, 0, q.Name+" 60 IN MX 10 a.test."), nil
	}
	dead := func(context.Context, dns.Question, int) (*dns.Msg, error) { return nil, errors.New("no route") }
	refuses := func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
		return answerTo(q, dns.RcodeRefused), nil
	}
	hangs := func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
		if isRoot(q) {
			return root(q), nil
		}
		return never(ctx)
	}
	type server = func(context.Context, dns.Question, int) (*dns.Msg, error)
	cases := []struct {
		name    string
		servers []server
		timeout time.Duration
		want    string // response code, or the type of the error
		what    string
	}{
		{"answer", []server{mx}, 10 * time.Second, "NOERROR", ""},
		{"no such name", []server{func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return answerTo(q, dns.RcodeNameError), nil
		}}, 10 * time.Second, "NXDOMAIN", ""},
		{"the second server answers", []server{dead, mx}, 10 * time.Second, "NOERROR", ""},
		{"after a refusal", []server{refuses, mx}, 10 * time.Second, "NOERROR", ""},
		{"a server that works cannot", []server{servfails}, 10 * time.Second, "SERVFAIL", ""},
		{"a server that resolves nothing", []server{func(ctx context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return after(ctx, time.Millisecond, answerTo(q, dns.RcodeServerFailure))
		}}, 10 * time.Second, "trouble", "SERVFAIL"},
		{"all refuse", []server{refuses, refuses}, 10 * time.Second, "trouble", "REFUSED"},
		{"nobody is there", []server{dead}, 10 * time.Second, "trouble", "no route"},
		{"silence of a server that works", []server{hangs}, 30 * time.Second, "broken", "its name servers do not answer in time"},
		{"silence that is cut short after a whole try", []server{hangs}, 3 * time.Second, "broken", "its name servers do not answer in time"},
		{"silence that is cut short before", []server{hangs}, time.Second, "trouble", "no answer in time"},
		{"silence", []server{func(ctx context.Context, _ dns.Question, _ int) (*dns.Msg, error) { return never(ctx) }}, 30 * time.Second, "trouble", "no answer in time"},
		{"too large", []server{func(context.Context, dns.Question, int) (*dns.Msg, error) { return nil, errTooLarge }}, 10 * time.Second, "trouble", "its answer is larger than 4096 bytes"},
		{"panic", []server{func(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
			return &dns.Msg{Answer: []dns.RR{nil}, Question: []dns.Question{q}}, nil
		}}, 10 * time.Second, "trouble", "an answer that cannot be read"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var scripts []*script
				for _, s := range c.servers {
					scripts = append(scripts, newScript(s))
				}
				r := rigged(t, scripts...)
				defer r.Close()
				ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
				defer cancel()
				began := time.Now()
				m, err := r.Exchange(ctx, rawly("_x.Sub.test.", dns.TypeMX))
				got, what := exchanged(t, m, err)
				if got != c.want || what != c.what || time.Since(began) > c.timeout {
					t.Errorf("%s %q after %v, want %s %q", got, what, time.Since(began), c.want, c.what)
				}
			})
		})
	}
}

func exchanged(t *testing.T, m *dns.Msg, err error) (kind, what string) {
	t.Helper()
	switch err := err.(type) {
	case nil:
		return dns.RcodeToString[m.Rcode], ""
	case *Broken:
		return "broken", err.What
	case *Trouble:
		return "trouble", err.What
	}
	t.Fatal(err)
	return "", ""
}

// A raw question is no look-up: the cache has no part in it.
func TestExchangeIsNotCached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(sound)
		r := rigged(t, s)
		defer r.Close()
		want(t, r, "a.test", V4, "9.9.9.9")
		for range 3 {
			m, err := r.Exchange(t.Context(), rawly("a.test.", dns.TypeA))
			if err != nil || len(m.Answer) != 1 {
				t.Fatal(m, err)
			}
		}
		if n := s.count("a.test. A"); n != 4 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestExchangeEndsWithItsContextAndWithClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rigged(t, newScript(func(ctx context.Context, _ dns.Question, _ int) (*dns.Msg, error) { return never(ctx) }))
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(time.Second, cancel)
		if _, err := r.Exchange(ctx, rawly("a.test.", dns.TypeA)); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("cancelled: %v after %v", err, time.Since(began))
		}
		began = time.Now()
		time.AfterFunc(time.Second, r.Close)
		if _, err := r.Exchange(t.Context(), rawly("a.test.", dns.TypeA)); !errors.Is(err, ErrClosed) || time.Since(began) != time.Second {
			t.Errorf("closed under way: %v after %v", err, time.Since(began))
		}
		if _, err := r.Exchange(t.Context(), rawly("a.test.", dns.TypeA)); !errors.Is(err, ErrClosed) {
			t.Errorf("closed before: %v", err)
		}
	})
}
