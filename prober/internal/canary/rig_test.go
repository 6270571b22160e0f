package canary

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// port is a canary's: the kernel answers while it is open, and no goroutine has to.
type port struct {
	t    *testing.T
	addr string
	open net.Listener
}

func newPort(t *testing.T) *port {
	p := &port{t: t, addr: "127.0.0.1:0"}
	p.up()
	p.addr = p.open.Addr().String()
	t.Cleanup(p.down)
	return p
}

func (p *port) up() {
	p.t.Helper()
	var err error
	if p.open, err = net.Listen("tcp", p.addr); err != nil {
		p.t.Fatal(err)
	}
}

func (p *port) down() { _ = p.open.Close() }

// names resolve all names to this machine, slow ones late, and those that begin with hang
// not at all, or all of them.
type names struct{ silent atomic.Bool }

func (n *names) LookupAnew(ctx context.Context, host string, _ resolve.Family) (resolve.Answer, error) {
	if strings.HasPrefix(host, "hang") || n.silent.Load() {
		<-ctx.Done()
		return resolve.Answer{}, ctx.Err()
	}
	if strings.HasPrefix(host, "slow") {
		time.Sleep(500 * time.Millisecond)
	}
	return resolve.Answer{Addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}, nil
}

// rig is a running watch in a synctest bubble.
type rig struct {
	*Watch
	t     *testing.T
	ports []*port
	names names
	stop  func()

	mu        sync.Mutex
	announced []Round
	refuse    bool
	health    string
}

// start begins a watch over so many ports, and over others that are named.
func start(t *testing.T, ports int, others ...string) *rig {
	t.Helper()
	r := &rig{t: t}
	var list []string
	for range ports {
		p := newPort(t)
		r.ports, list = append(r.ports, p), append(list, p.addr)
	}
	canaries, err := Parse(strings.Join(append(list, others...), ","))
	if err != nil {
		t.Fatal(err)
	}
	r.Watch = New(Options{
		Canaries: canaries, Names: &r.names, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Announce: func(_ context.Context, round Round) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.refuse {
				return context.DeadlineExceeded
			}
			r.announced = append(r.announced, round)
			return nil
		},
		Health: func(bad string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.health = bad
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.Run(ctx)
	}()
	r.stop = func() { stop(); <-ended }
	t.Cleanup(r.stop)
	return r
}

func (r *rig) down() {
	for _, p := range r.ports {
		p.down()
	}
}

func (r *rig) up() {
	for _, p := range r.ports {
		p.up()
	}
}

// old is a target that is down all the time.
const old = 1

// known has the watch believe that it is down, and waits until rounds are at rest.
func (r *rig) known() {
	r.t.Helper()
	if doubt, _ := r.ask(0); doubt != "" {
		r.t.Fatal(doubt)
	}
	wait(5 * time.Second)
}

// ask lets a check of it fail now that began a while ago, and gives the doubt and how long it took.
func (r *rig) ask(ago time.Duration) (doubt string, took time.Duration) {
	r.t.Helper()
	return r.askOf(old, ago)
}

func (r *rig) askOf(target int64, ago time.Duration) (doubt string, took time.Duration) {
	r.t.Helper()
	asked := time.Now()
	answer := make(chan string, 2)
	r.Believe(target, asked.Add(-ago), func(doubt string) { answer <- doubt })
	doubt = <-answer
	took = time.Since(asked)
	synctest.Wait()
	if len(answer) > 0 {
		r.t.Error("answered twice")
	}
	return doubt, took
}

func (r *rig) rounds() (good, bad int) {
	count := func(c prometheus.Counter) int { return int(value(r.t, c)) }
	return count(r.metrics.good), count(r.metrics.bad)
}

func (r *rig) beganSince(t time.Time) bool {
	r.Watch.mu.Lock()
	defer r.Watch.mu.Unlock()
	return !r.began.Before(t)
}

// said is the last word to the health page.
func (r *rig) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.health
}

func (r *rig) told() []Round {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Round{}, r.announced...)
}
