package resolve

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

// script is a name server in virtual time: a transport that answers by itself.
type script struct {
	mu     sync.Mutex
	asked  map[string]int // by "name TYPE"
	at     map[string][]time.Duration
	base   time.Time
	answer func(ctx context.Context, q dns.Question, count int) (*dns.Msg, error)
}

func newScript(answer func(ctx context.Context, q dns.Question, count int) (*dns.Msg, error)) *script {
	return &script{asked: map[string]int{}, at: map[string][]time.Duration{}, base: time.Now(), answer: answer}
}

func (s *script) exchange(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	q := query.Question[0]
	key := q.Name + " " + dns.TypeToString[q.Qtype]
	s.mu.Lock()
	s.asked[key]++
	s.at[key] = append(s.at[key], time.Since(s.base))
	count := s.asked[key]
	s.mu.Unlock()
	m, err := s.answer(ctx, q, count)
	if m != nil {
		m.Id = query.Id
	}
	return m, err
}

func (*script) close() {}

func (s *script) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[key]
}

func (s *script) times(key string) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at[key])
}

// total counts all questions but the control question.
func (s *script) total() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, count := range s.asked {
		if key != ". NS" {
			n += count
		}
	}
	return n
}

func options() Options {
	return Options{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}
}

// rigged asks the scripts, in this order.
func rigged(tb testing.TB, scripts ...*script) *Resolver {
	tb.Helper()
	var c Config
	known := map[string]*script{}
	for i, s := range scripts {
		server := Server{Protocol: UDP, Host: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}).String(), Port: 53}
		c.Servers = append(c.Servers, server)
		known[server.String()] = s
	}
	r := build(c, options(), func(s Server) transport { return known[s.String()] })
	r.reachable = func(netip.Addr) bool { return true }
	tb.Cleanup(r.Close)
	return r
}

func never(ctx context.Context) (*dns.Msg, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// after answers late, or not at all.
func after(ctx context.Context, d time.Duration, m *dns.Msg) (*dns.Msg, error) {
	select {
	case <-time.After(d):
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func root(q dns.Question) *dns.Msg { return answerTo(q, 0, ". 500000 IN NS a.root-servers.net.") }

// address answers with one address of the family asked for.
func address(q dns.Question, ttl string) *dns.Msg {
	if q.Qtype == dns.TypeAAAA {
		return answerTo(q, 0, q.Name+" "+ttl+" IN AAAA 2600::1")
	}
	return answerTo(q, 0, q.Name+" "+ttl+" IN A 9.9.9.9")
}

// sound answers everything at once.
func sound(_ context.Context, q dns.Question, _ int) (*dns.Msg, error) {
	if q.Qtype == dns.TypeNS {
		return root(q), nil
	}
	return address(q, "60"), nil
}

func isRoot(q dns.Question) bool { return q.Name == "." }

func starts(q dns.Question, label string) bool { return strings.HasPrefix(q.Name, label) }

// want looks a name up and compares the addresses.
func want(t *testing.T, r *Resolver, host string, family Family, addrs string) Answer {
	t.Helper()
	answer, err := r.Lookup(t.Context(), host, family)
	if err != nil || written(answer.Addrs) != addrs {
		t.Fatalf("%s: %s, %v; want %s", host, written(answer.Addrs), err, addrs)
	}
	return answer
}

// fails looks a name up and gives the error's type and words.
func fails(t *testing.T, r *Resolver, ctx context.Context, host string, family Family) (kind, what string) { //nolint:revive // t comes first everywhere
	t.Helper()
	answer, err := r.Lookup(ctx, host, family)
	switch err := err.(type) {
	case nil:
		t.Fatalf("%s: %s", host, written(answer.Addrs))
	case *NotFound:
		return "not found", err.What
	case *Broken:
		return "broken", err.What
	case *Trouble:
		return "trouble", err.What
	}
	t.Fatal(host, err)
	return "", ""
}
