package cycle

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/publisher/internal/schedule"
)

const (
	maxDrift   = 30 * time.Second // between the own clock and Redis' before publishing stops
	yieldFor   = 10 * time.Second // longer than another publisher needs to take over
	soon       = 100 * time.Millisecond
	edge       = 2 * time.Millisecond // past a whole second, so that Redis agrees it has begun
	maxRetries = 5                    // passes in a row without waiting, after a refusal
)

// Options of a Loop; all but BacklogMax and Beat are required.
type Options struct {
	Name       string // of this publisher, in rows and notes
	BacklogMax int64  // entries; 0 follows the schedule
	// Beat is for a watchdog: called whenever the tick gets somewhere, also while it has to
	// wait. The longest silence of a healthy one is the reading of the schedule: two minutes.
	Beat       func()
	Stream     Stream
	Upkeep     Upkeep
	Changes    Changes
	Versions   Versions
	Targets    Targets
	Notes      Notes
	Rows       Rows
	Lease      Lease
	Sweeper    Sweeper
	SweepEvery time.Duration
	Accounts   Accounts
	Health     Health
	Log        *slog.Logger
	Metrics    prometheus.Registerer
}

// Loop is the publisher. Run it once.
type Loop struct {
	Options
	metrics   *metrics
	explainer *explainer
	notebook  *notebook
	feed      *feed

	mu    sync.Mutex // guards wheel: the loop writes, the upkeep reads
	wheel *schedule.Wheel

	unread   bool  // it was said that the schedule cannot be read
	known    int64 // every version up to it is in the wheel
	fence    int64 // the sequence published under: known, or one raised whose adoption failed
	seen     int64 // the highest sequence Redis ever showed: it forgets when it loses its data
	limbo    int64 // when changes began whose adoption may or may not have happened; 0 none
	tick     int64 // last complete second seen in Redis
	mine     int64 // last second this process completed
	stated   int64 // last second of which this process stated missed slots
	adoptAt  time.Time
	groups   []string
	lostAt   int64 // tick of the last loss of Redis that was dealt with
	refusals bool  // a look at what was refused is owed
	refused  map[int64]int64
	fullAt   time.Time // when the stream had no room last
	outage   outage
	pacer    pacer
	clock    redisClock
	due      []uptime.Check

	view atomic.Pointer[View]
}

// New makes a loop.
func New(o Options) *Loop {
	if o.Beat == nil {
		o.Beat = func() {}
	}
	l := &Loop{Options: o, metrics: newMetrics(o.Metrics), refusals: true}
	l.clock.wall = func(t time.Time) time.Time { return t.Round(0) }
	l.explainer = &explainer{rows: o.Rows, versions: o.Versions, health: o.Health, log: o.Log, piled: make(chan struct{}, 1)}
	l.notebook = newNotebook(o.Notes, o.Health, o.Log, l.metrics)
	l.feed = newFeed(o.Versions, o.Targets, o.Health, o.Log, l.explainer)
	l.view.Store(&View{})
	l.facts()
	return l
}

// Run works until ctx ends. The chunk being published is finished then, and the
// notes are written, before it returns.
func (l *Loop) Run(ctx context.Context) error {
	notes, stop := context.WithCancel(context.WithoutCancel(ctx))
	written := make(chan error, 1)
	go func() { written <- l.notebook.run(notes) }()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.tickLoop(ctx) })
	group.Go(func() error { return l.feed.run(ctx) })
	group.Go(func() error { return l.followChanges(ctx) })
	group.Go(func() error { return l.jobs(ctx) })
	group.Go(func() error { return l.explainer.run(ctx) })
	l.tend(ctx, group)
	err := group.Wait()
	stop()
	return errors.Join(err, <-written)
}

// tickLoop publishes until ctx ends.
func (l *Loop) tickLoop(ctx context.Context) error {
	for again := 0; ctx.Err() == nil; {
		wait := l.runOnce(ctx)
		if wait == 0 {
			if again++; again <= maxRetries {
				continue
			}
			wait = soon
		}
		again = 0
		select {
		case <-ctx.Done():
		case <-l.Lease.Changed():
		case <-time.After(wait):
		}
	}
	return nil
}

// runOnce is one pass: read where Redis stands, bring the schedule there, publish
// what may be published. It says how long to wait; 0 means something changed
// under it and it wants to look again.
func (l *Loop) runOnce(ctx context.Context) time.Duration {
	l.Beat()
	began := l.clock.second()
	clock, err := l.readClock(ctx)
	if err != nil {
		l.redisFailed(began, err)
		l.tell(checkstream.Clock{Tick: l.tick})
		return min(l.clock.untilNextSecond(), 500*time.Millisecond)
	}
	l.Health.Set("redis", service.OK, "")
	l.outage.worked()
	l.refill()
	defer l.tell(clock)
	if !l.position(ctx, clock) {
		return soon * 5
	}
	l.noticeLoss(ctx, clock)
	if !l.clock.trusted(l.Health) {
		if l.Lease.Held() { // perhaps it is only this machine's clock
			l.Lease.Yield(yieldFor)
		}
		return l.clock.untilNextSecond()
	}
	l.Health.Ready()
	if !l.Lease.Held() {
		l.follow(ctx)
		if clock.Tick >= l.clock.second() {
			l.outage.caughtUp(clock.Tick)
		}
		l.groups, l.refusals, l.pacer, l.fence = nil, true, pacer{}, l.known
		return l.clock.untilNextSecond()
	}
	if clock.Tick != l.mine {
		// Somebody else published, or Redis lost something. Changes that were raised
		// and not adopted may be in force by now: only the database knows.
		l.groups, l.refusals, l.fence = nil, true, l.known
	}
	err = l.lead(ctx, clock)
	switch {
	case err == nil:
		return l.clock.untilNextSecond()
	case errors.Is(err, errBehind):
		l.feed.wake()
		return soon
	case l.refusal(err):
		return 0
	case ctx.Err() != nil:
		return soon
	default:
		l.redisFailed(began, err)
		return soon * 5
	}
}

// lead is a pass of the publisher that works.
func (l *Loop) lead(ctx context.Context, clock checkstream.Clock) error {
	lag := l.clock.second() + 1 - clock.Tick
	l.seen = max(l.seen, clock.Seq)
	if lag <= maxExpiry || l.seen > l.fence {
		if err := l.adopt(ctx, clock); err != nil {
			return err
		}
	}
	if l.seen > l.fence {
		return errBehind
	}
	if err := l.readRefused(ctx, clock); err != nil {
		return err
	}
	return l.publish(ctx, clock)
}

// readClock asks Redis where publishing stands and what time it is.
func (l *Loop) readClock(ctx context.Context) (checkstream.Clock, error) {
	ctx, cancel := finish(ctx, redisTimeout)
	defer cancel()
	clock, err := l.Stream.Clock(ctx)
	if err != nil {
		return clock, err
	}
	l.clock.observe(time.Now(), clock.Now)
	l.tick = clock.Tick
	return clock, nil
}

// position brings the wheel to the second that is next, loading it when there is
// none or when Redis went back behind changes that were applied already.
func (l *Loop) position(ctx context.Context, clock checkstream.Clock) bool {
	next := clock.Tick + 1
	l.mu.Lock()
	ready := l.wheel != nil && (next >= l.wheel.At() || l.wheel.Rewind(next))
	if ready {
		l.wheel.Advance(next)
	}
	l.mu.Unlock()
	if ready {
		return true
	}
	wheel, known, err := load(ctx, l.Versions, l.Targets, next)
	if err != nil {
		l.Health.Set("database", unhealthy(l.wheel == nil), "the schedule cannot be read: "+err.Error())
		if l.wheel == nil {
			if !l.unread {
				l.unread = true
				l.Log.Warn("nothing is published before the schedule can be read", "error", err)
			}
			return false
		}
		l.Log.Warn("going back without the database", "second", next, "error", err)
		l.mu.Lock()
		l.wheel.ResetTo(next)
		l.mu.Unlock()
		return true
	}
	l.mu.Lock()
	l.wheel, l.unread = wheel, false
	l.mu.Unlock()
	l.setKnown(known)
	l.feed.wake()
	l.Log.Info("schedule loaded", "targets", wheel.Targets(), "regions", wheel.Regions(), "schedule_seq", known, "second", next)
	return true
}

func (l *Loop) setKnown(seq int64) {
	l.known = seq
	l.fence = max(l.fence, seq)
	l.feed.known.Store(seq)
}

// refusal handles the answers that mean "look again".
func (l *Loop) refusal(err error) bool {
	code := ""
	switch {
	case errors.Is(err, checkstream.ErrSuperseded):
		code = "superseded"
		l.feed.wake()
	case errors.Is(err, checkstream.ErrStale):
		code = "stale"
	case errors.Is(err, checkstream.ErrGap):
		code = "gap"
	case errors.Is(err, checkstream.ErrFuture):
		code = "future"
	default:
		return false
	}
	l.metrics.refused.WithLabelValues(code).Inc()
	l.Log.Info("publishing was refused, looking again", "code", code, "error", err)
	l.groups, l.refusals = nil, true
	return true
}

// ensureGroups makes the groups of all active regions before anything is added
// that they must see.
func (l *Loop) ensureGroups(ctx context.Context) error {
	active := l.wheel.Regions()
	if len(active) == 0 || slices.Equal(active, l.groups) {
		return nil
	}
	ctx, cancel := finish(ctx, redisTimeout)
	defer cancel()
	if err := l.Stream.EnsureGroups(ctx, active); err != nil {
		return err
	}
	l.groups = active
	return nil
}
