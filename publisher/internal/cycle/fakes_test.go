package cycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

var errDown = errors.New("connection refused")

// redisServer is the stream of checks with the guards of the real scripts.
type redisServer struct {
	mu      sync.Mutex
	skew    time.Duration
	down    bool
	lose    func() bool // whether the next reply gets lost
	exists  bool
	fresh   bool
	tick    int64
	seq     int64
	last    [2]int64 // second and target of the last entry
	length  int64
	drained bool // consumers keep the stream empty
	refused map[int64]int64
	groups  map[string]bool
	raised  []int64

	added     map[uptime.Slot]int // slots of all entries ever added
	addedAt   []time.Time         // Redis' time of every entry
	unordered int
	twice     int
	noGroup   int
}

func newRedisServer() *redisServer {
	return &redisServer{refused: map[int64]int64{}, groups: map[string]bool{}, added: map[uptime.Slot]int{}, drained: true, lose: func() bool { return false }}
}

func (r *redisServer) now() time.Time { return time.Now().Add(r.skew) }

func (r *redisServer) loseData() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exists, r.fresh, r.tick, r.seq, r.last, r.length = false, false, 0, 0, [2]int64{}, 0
	r.refused, r.groups = map[int64]int64{}, map[string]bool{}
}

func (r *redisServer) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// process is one publisher's connection: it can freeze and die in any call.
type process struct {
	*redisServer
	frozen atomic.Pointer[chan struct{}] // closed to go on
	dead   atomic.Bool
}

func (p *process) freeze() {
	gate := make(chan struct{})
	p.frozen.CompareAndSwap(nil, &gate)
}

func (p *process) thaw() {
	if gate := p.frozen.Swap(nil); gate != nil {
		close(*gate)
	}
}

func (p *process) wait() {
	if gate := p.frozen.Load(); gate != nil {
		<-*gate
	}
}

// call runs a script: refused connections, freezes before and after, lost replies.
func (p *process) call(script func() error) error {
	p.wait()
	defer p.wait() // the answer comes after the thaw
	if p.dead.Load() {
		return errDown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return errDown
	}
	err := script()
	if p.lose() {
		return errDown
	}
	return err
}

func (p *process) Clock(context.Context) (clock checkstream.Clock, err error) {
	err = p.call(func() error {
		r := p.redisServer
		if !r.exists {
			r.exists, r.fresh, r.tick = true, true, r.now().Unix()+1
		}
		if r.last[0] > r.tick+1 {
			r.tick = r.last[0] - 1
		}
		if r.drained {
			r.length = 0
		}
		clock = checkstream.Clock{Tick: r.tick, Seq: r.seq, Now: r.now(), Fresh: r.fresh, Backlog: r.length}
		if r.last[0] == r.tick+1 {
			clock.After = r.last[1]
		}
		return nil
	})
	return clock, err
}

func (p *process) Raise(_ context.Context, seq int64) (tick int64, err error) {
	err = p.call(func() error {
		if !p.exists {
			return fmt.Errorf("%w: %w", checkstream.ErrGap, checkstream.ErrLost)
		}
		if seq < p.seq {
			return checkstream.ErrSuperseded
		}
		p.seq = seq
		p.raised = append(p.raised, seq)
		tick = max(p.tick, p.last[0])
		return nil
	})
	return tick, err
}

func (p *process) guard(seq, second int64) error {
	switch {
	case !p.exists:
		return fmt.Errorf("%w: %w", checkstream.ErrGap, checkstream.ErrLost)
	case seq < p.seq:
		return checkstream.ErrSuperseded
	case second > p.now().Unix()+3:
		return checkstream.ErrFuture
	}
	return nil
}

func (p *process) Publish(_ context.Context, c checkstream.Chunk) (added int, err error) {
	err = p.call(func() error {
		if err := p.guard(c.Seq, c.Second); err != nil {
			return err
		}
		if c.Second > p.tick+1 {
			return checkstream.ErrGap
		}
		if c.Second <= p.tick || p.last[0] > c.Second {
			return checkstream.ErrStale
		}
		if len(c.Checks) > checkstream.MaxChunk || !slices.IsSortedFunc(c.Checks, func(a, b uptime.Check) int { return int(a.TargetID - b.TargetID) }) {
			p.unordered++
		}
		var fresh []uptime.Check
		for _, check := range c.Checks {
			if c.Second > p.last[0] || check.TargetID > p.last[1] {
				fresh = append(fresh, check)
			}
		}
		if len(fresh) > 0 && c.BacklogMax > 0 && p.length >= c.BacklogMax {
			if known, found := p.refused[c.Second]; !found || fresh[0].TargetID < known {
				p.refused[c.Second] = fresh[0].TargetID
			}
			return &checkstream.FullError{FirstRefused: fresh[0].TargetID}
		}
		for _, check := range fresh {
			p.add(c.Second, check)
			added++
		}
		p.seq, p.fresh = c.Seq, false
		if c.Last {
			p.tick = c.Second
		}
		return nil
	})
	return added, err
}

func (p *process) add(second int64, check uptime.Check) {
	if check.ScheduledAt.Unix() != second {
		p.unordered++
	}
	for _, region := range check.Regions {
		p.added[check.Slot(region)]++
		if p.added[check.Slot(region)] > 1 {
			p.twice++
		}
		if !p.groups[region] {
			p.noGroup++
		}
	}
	p.last = [2]int64{second, check.TargetID}
	p.length++
	p.addedAt = append(p.addedAt, p.now())
}

func (p *process) Skip(_ context.Context, seq, to int64) error {
	return p.call(func() error {
		if err := p.guard(seq, to); err != nil {
			return err
		}
		if to <= p.tick || p.last[0] > to {
			return checkstream.ErrStale
		}
		p.tick, p.seq, p.fresh = to, seq, false
		return nil
	})
}

func (p *process) Refused(context.Context) (refused map[int64]int64, err error) {
	err = p.call(func() error {
		refused = map[int64]int64{}
		for second, id := range p.refused {
			refused[second] = id
		}
		return nil
	})
	return refused, err
}

func (p *process) ClearRefused(_ context.Context, second int64) error {
	return p.call(func() error { delete(p.refused, second); return nil })
}

func (p *process) EnsureGroups(_ context.Context, regions []string) error {
	return p.call(func() error {
		for _, region := range regions {
			p.groups[region] = true
		}
		return nil
	})
}

// database holds versions, targets and gaps.
type database struct {
	mu       sync.Mutex
	down     bool
	tearOff  bool // Adopt commits and its answer is lost
	seq      int64
	targets  map[int64]uptime.Target
	versions []schedulestore.Version
	regions  []schedulestore.RegionVersion
	gaps     []schedulestore.Gap
	swept    time.Time
}

func newDatabase() *database { return &database{targets: map[int64]uptime.Target{}} }

func (d *database) read(fn func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return errDown
	}
	fn()
	return nil
}

// save adds or changes a target; deleted ones go.
func (d *database) save(t uptime.Target, deleted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	t.SpecVersion = d.seq
	d.targets[t.ID] = t
	if deleted {
		delete(d.targets, t.ID)
	}
	d.versions = append(d.versions, schedulestore.Version{Seq: d.seq, Deleted: deleted,
		Schedule: uptime.Schedule{TargetID: t.ID, Interval: t.Interval, Regions: t.Regions, Active: t.Active && !deleted}})
}

func (d *database) setRegion(name string, active bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	d.regions = append(d.regions, schedulestore.RegionVersion{Seq: d.seq, Region: name, Active: active})
}

func (d *database) Seq(context.Context) (seq int64, err error) {
	err = d.read(func() { seq = d.seq })
	return seq, err
}

func (d *database) EachVersion(_ context.Context, after int64, fn func(schedulestore.Version) error) error {
	var all []schedulestore.Version
	if err := d.read(func() { all = slices.Clone(d.versions) }); err != nil {
		return err
	}
	for _, v := range all {
		if v.Seq > after {
			if err := fn(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *database) RegionVersions(_ context.Context, after int64) (all []schedulestore.RegionVersion, err error) {
	err = d.read(func() {
		all = slices.DeleteFunc(slices.Clone(d.regions), func(v schedulestore.RegionVersion) bool { return v.Seq <= after })
	})
	return all, err
}

func (d *database) Adopt(_ context.Context, seq int64, from time.Time) (n int, err error) {
	err = d.read(func() {
		for i := range d.versions {
			if v := &d.versions[i]; v.Seq <= seq && v.EffectiveFrom.IsZero() {
				v.EffectiveFrom = from
				n++
			}
		}
		for i := range d.regions {
			if v := &d.regions[i]; v.Seq <= seq && v.EffectiveFrom.IsZero() {
				v.EffectiveFrom = from
				n++
			}
		}
		if d.tearOff {
			d.down = true
		}
	})
	if err == nil && d.tearOff {
		return 0, errDown
	}
	return n, err
}

func (d *database) AddRegion(_ context.Context, region string) (bool, error) {
	if err := d.read(func() {}); err != nil {
		return false, err
	}
	d.setRegion(region, true)
	return true, nil
}

func (d *database) AddGap(_ context.Context, reason uptime.Reason, from, to time.Time) error {
	return d.read(func() { d.gaps = append(d.gaps, schedulestore.Gap{Reason: reason, From: from, To: to}) })
}

func (d *database) Gaps(_ context.Context, from, to time.Time) (gaps []schedulestore.Gap, err error) {
	err = d.read(func() {
		gaps = slices.DeleteFunc(slices.Clone(d.gaps), func(g schedulestore.Gap) bool { return !g.From.Before(to) || !g.To.After(from) })
	})
	return gaps, err
}

func (d *database) SweptTo(context.Context) (time.Time, error) { return d.swept, nil }

func (d *database) SetSweptTo(_ context.Context, t time.Time) error {
	d.swept = t
	return nil
}

func (d *database) ByIDs(_ context.Context, ids []int64) (found []uptime.Target, err error) {
	err = d.read(func() {
		for _, id := range ids {
			if t, ok := d.targets[id]; ok {
				found = append(found, t)
			}
		}
	})
	return found, err
}

func (d *database) Each(_ context.Context, fn func(uptime.Target) error) error {
	var all []uptime.Target
	if err := d.read(func() {
		for _, t := range d.targets {
			all = append(all, t)
		}
	}); err != nil {
		return err
	}
	for _, t := range all {
		if err := fn(t); err != nil {
			return err
		}
	}
	return nil
}

// results keeps missed rows and notes.
type results struct {
	mu    sync.Mutex
	down  bool
	rows  map[uptime.Slot]uptime.Result
	notes map[int64]resultstore.Cycle
}

func newResults() *results {
	return &results{rows: map[uptime.Slot]uptime.Result{}, notes: map[int64]resultstore.Cycle{}}
}

func (s *results) RecordWait(ctx context.Context, rows []uptime.Result) error {
	s.mu.Lock()
	if !s.down {
		for _, r := range rows {
			s.rows[r.Slot()] = r
		}
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

func (s *results) InsertCycles(_ context.Context, _ string, cycles []resultstore.Cycle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return errDown
	}
	for _, c := range cycles {
		s.notes[c.Second.Unix()] = c
	}
	return nil
}

func (s *results) LastCycle(context.Context) (time.Time, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := int64(0)
	for second := range s.notes {
		last = max(last, second)
	}
	if s.down {
		return time.Time{}, false, errDown
	}
	return time.Unix(last, 0), last > 0, nil
}

// leaseFlag is a lease that the test gives and takes.
type leaseFlag struct {
	held    atomic.Bool
	changed chan struct{}
}

func newLeaseFlag(held bool) *leaseFlag {
	l := &leaseFlag{changed: make(chan struct{}, 1)}
	l.held.Store(held)
	return l
}

func (l *leaseFlag) Held() bool               { return l.held.Load() }
func (l *leaseFlag) Changed() <-chan struct{} { return l.changed }
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
	cancel context.CancelFunc
	done   chan struct{}
}

// start runs a publisher's loop, feed and notebook.
func (h *house) start(ctx context.Context, name string, held bool, backlogMax int64) *publisher {
	p := &publisher{process: &process{redisServer: h.redis}, lease: newLeaseFlag(held), health: newHealthBook(), done: make(chan struct{})}
	p.loop = New(Options{Name: name, BacklogMax: backlogMax, Stream: p.process, Versions: h.database, Targets: h.database,
		Notes: h.results, Rows: h.results, Lease: p.lease, Health: p.health, Log: slog.New(slog.NewTextHandler(&h.log, nil)).With("p", name)})
	ctx, p.cancel = context.WithCancel(ctx)
	notes, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(p.done)
		var group sync.WaitGroup
		group.Go(func() { _ = p.loop.tickLoop(ctx) })
		group.Go(func() { _ = p.loop.feed.run(ctx) })
		book := make(chan struct{})
		go func() { _ = p.loop.notebook.run(notes); close(book) }()
		group.Wait()
		stop()
		<-book
	}()
	return p
}

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
