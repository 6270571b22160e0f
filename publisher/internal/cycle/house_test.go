package cycle

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/service"
)

// leaseFlag is a lease that the test gives and takes.
type leaseFlag struct {
	held    atomic.Bool
	yielded atomic.Int64
	changed chan struct{}
}

func newLeaseFlag(held bool) *leaseFlag {
	l := &leaseFlag{changed: make(chan struct{}, 1)}
	l.held.Store(held)
	return l
}

func (l *leaseFlag) Held() bool               { return l.held.Load() }
func (l *leaseFlag) Changed() <-chan struct{} { return l.changed }
func (l *leaseFlag) Yield(time.Duration)      { l.yielded.Add(1) }
func (l *leaseFlag) give(held bool) {
	l.held.Store(held)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// healthBook remembers what was told.
type healthBook struct {
	mu     sync.Mutex
	levels map[string]service.Level
	why    map[string]string
	ready  bool
}

func newHealthBook() *healthBook {
	return &healthBook{levels: map[string]service.Level{}, why: map[string]string{}}
}

func (h *healthBook) Set(name string, level service.Level, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.levels[name], h.why[name] = level, reason
}
func (h *healthBook) Fact(string, func() any) {}
func (h *healthBook) Ready() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = true
}
func (h *healthBook) level(name string) service.Level {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.levels[name]
}

// house is a whole installation in memory.
type house struct {
	redis    *redisServer
	database *database
	results  *results
	log      diary
}

func newHouse() *house {
	return &house{redis: newRedisServer(), database: newDatabase(), results: newResults()}
}

// diary keeps what the publishers log, for the test that fails.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

// publisher is one running process of the house.
type publisher struct {
	*process
	loop   *Loop
	lease  *leaseFlag
	health *healthBook
	beats  beats
	skew   atomic.Int64 // ns its calendar is wrong by
	cancel context.CancelFunc
	done   chan struct{}
}

// start runs a publisher's loop, feed and notebook.
func (h *house) start(ctx context.Context, name string, held bool, backlogMax int64) *publisher {
	p := &publisher{process: &process{redisServer: h.redis}, lease: newLeaseFlag(held), health: newHealthBook(), done: make(chan struct{})}
	p.loop = New(Options{Name: name, BacklogMax: backlogMax, Beat: p.beats.beat, Stream: p.process, Versions: h.database, Targets: h.database,
		Notes: h.results, Rows: h.results, Lease: p.lease, Health: p.health, Log: slog.New(slog.NewTextHandler(&h.log, nil)).With("p", name)})
	p.loop.clock.wall = func(t time.Time) time.Time { return t.Round(0).Add(time.Duration(p.skew.Load())) }
	ctx, p.cancel = context.WithCancel(ctx)
	notes, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(p.done)
		var group sync.WaitGroup
		group.Go(func() { _ = p.loop.tickLoop(ctx) })
		group.Go(func() { _ = p.loop.explainer.run(ctx) })
		group.Go(func() { _ = p.loop.feed.run(ctx) })
		book := make(chan struct{})
		go func() { _ = p.loop.notebook.run(notes); close(book) }()
		group.Wait()
		stop()
		<-book
	}()
	return p
}

// beats remembers the longest time between two of them.
type beats struct {
	mu      sync.Mutex
	count   int
	last    time.Time
	longest time.Duration
}

func (b *beats) beat() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.count > 0 {
		b.longest = max(b.longest, now.Sub(b.last))
	}
	b.count, b.last = b.count+1, now
}

// forget leaves out the time until now.
func (b *beats) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = time.Now()
}

// jump sets its calendar wrong.
func (p *publisher) jump(skew time.Duration) { p.skew.Store(int64(skew)) }

// kill ends a publisher without letting it do anything more.
func (p *publisher) kill() {
	p.dead.Store(true)
	p.thaw()
	p.cancel()
	<-p.done
}

// stop lets it drain.
func (p *publisher) stop() {
	p.thaw()
	p.cancel()
	<-p.done
}
