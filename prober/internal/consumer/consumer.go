package consumer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/sharedclock"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/runqueue"
)

// Source delivers entries.
type Source interface {
	Read(ctx context.Context, max int, block time.Duration) ([]checkstream.Entry, error)
	Own(ctx context.Context, room checkstream.Room) (entries []checkstream.Entry, complete bool, err error)
	Reclaim(ctx context.Context, idle time.Duration, room checkstream.Room) ([]checkstream.Entry, error)
	Replays(ctx context.Context, max int) ([]checkstream.Letter, error)
}

// Settler ends deliveries, one way or the other, or prolongs them.
type Settler interface {
	Ack(ctx context.Context, ids []string) error
	Dead(ctx context.Context, e checkstream.Entry, reason string) (moved bool, err error)
	DeadRow(ctx context.Context, e checkstream.Entry, row uptime.Result, reason string) (moved bool, err error)
	KeepRow(ctx context.Context, e checkstream.Entry, row uptime.Result, reason string) (kept bool, err error)
	Replayed(ctx context.Context, letter checkstream.Letter) error
	Release(ids []string)
	Renew(ctx context.Context, ids []string) error
}

// Presence makes this prober known to the others.
type Presence interface {
	EnsureGroup(ctx context.Context) error
	Beat(ctx context.Context, beat checkstream.Heartbeat) (drain bool, err error)
	Leave(ctx context.Context) error
}

// Prober visits a target, and calls done once with the outcome: see probe.Engine.
type Prober interface {
	Check(ctx context.Context, check *uptime.Check, done func(probe.Outcome))
}

// Recorder makes rows durable: see recorder.Recorder for its contract.
type Recorder interface {
	Record(ctx context.Context, rows []uptime.Result, watch recorder.Watch) error
}

// Announcer tells the live feed.
type Announcer interface {
	AnnounceAll(ctx context.Context, batches [][]uptime.Result) error
}

// Beater is a stage under the watchdog's eyes.
type Beater interface{ Beat() }

// Parts are what a consumer works with; all are required.
type Parts struct {
	Source    Source
	Settler   Settler
	Presence  Presence
	Clock     *sharedclock.Clock // measured and followed by the consumer
	Hosts     *hostlimit.Hosts
	Prober    Prober
	Recorder  Recorder
	Announcer Announcer
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Options say who this prober is and how much it takes on.
type Options struct {
	Region, Name, Version string
	AllowCIDRs            []string      // announced, so that the API knows what can be reached
	Capacity              int           // most checks held at once, waiting for their slot or probing
	ReclaimIdle           time.Duration // from then on a live prober's entry counts as abandoned

	// What follows may be left out.
	Places    func() int           // checks that may be held at once at present; asked before each read; nil: Capacity
	Room      func() int           // visits that may begin now without standing in line for a core; nil: any number
	Store     func() Store         // the way of the rows, for the heartbeat
	Permanent func(err error) bool // the recorder's answer for rows that can never be stored
	// Believe judges a check of a target that began at that time and failed just now: it calls then
	// once, soon, with an empty text or with why it is not to be believed: see canary.Watch.
	Believe  func(target int64, began time.Time, then func(doubt string))
	Answered func(target int64) // told of each that is not down
	// Busy says whether this prober has visits under way that are not the consumer's: until
	// they are over it is not drained.
	Busy   func() bool
	Phase  func(phase string) // told when this prober is draining, drained, or neither again: see checkstream.Heartbeat
	Joined func()             // told when this prober is part of its region
	Redis  func(err error)    // told when reading begins to fail (err) and works again (nil)
	// Canaries says how they are, for the heartbeat: good, bad, off, or nothing before the first.
	Canaries func() string
	// CanariesSeen says how many of them answered when they were visited last, for the heartbeat.
	CanariesSeen func() (answered, all int)
	LastExit     *checkstream.LastExit // how the life before this one ended, for the heartbeat
	// Clock is told how far this machine's clock is ahead of the shared one, and what
	// is wrong with that one.
	Clock func(skew time.Duration, err error)

	BeatRead, BeatDepart, BeatRecord, BeatAck, BeatHeartbeat Beater
}

// Store is how rows get on, as the heartbeat tells the others.
type Store struct {
	ClickHouse            string // ok or down
	Breaker               string // closed, half_open or open
	Spooled               int64  // rows on disk
	SpoolFirst, SpoolLast time.Time
	SpoolBytes            int64 // what they take of the disk
}

// Consumer is one region's worker. Run it once.
type Consumer struct {
	Parts
	o       Options
	wish    wish
	flights *flights
	slots   slotMemory
	late    lateness
	metrics *metrics
	started time.Time

	checks     sync.WaitGroup // flights between intake and measured
	departures *departures
	young      runqueue.Young
	delivering chan struct{} // holds a token while Redis makes entries ours
	suspects   *suspects
	promised   atomic.Int64 // ns: the timeouts of all checks taken on to be probed
	measured   *harvest
	acks       *queue // stored: to be acknowledged
	failing    *queue // failing: their slot has no row yet
	graves     *queue // failing: to be moved to the dead letters
	announces  chan announcement
	orphaned   orphaned
}

// silent stands in where nobody watches.
type silent struct{}

func (silent) Beat() {}

func (o *Options) setDefaults() {
	for _, beater := range []*Beater{&o.BeatRead, &o.BeatDepart, &o.BeatRecord, &o.BeatAck, &o.BeatHeartbeat} {
		if *beater == nil {
			*beater = silent{}
		}
	}
	if o.Places == nil {
		o.Places = func() int { return o.Capacity }
	}
	if o.Room == nil {
		o.Room = func() int { return o.Capacity }
	}
	if o.Store == nil {
		o.Store = func() Store { return Store{ClickHouse: "ok"} }
	}
	if o.Permanent == nil {
		o.Permanent = func(error) bool { return false }
	}
	if o.Believe == nil {
		o.Believe = func(_ int64, _ time.Time, then func(string)) { then("") }
	}
	if o.Answered == nil {
		o.Answered = func(int64) {}
	}
	if o.Canaries == nil {
		o.Canaries = func() string { return "" }
	}
	if o.CanariesSeen == nil {
		o.CanariesSeen = func() (answered, all int) { return 0, 0 }
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	if o.Phase == nil {
		o.Phase = func(string) {}
	}
	if o.Joined == nil {
		o.Joined = func() {}
	}
	if o.Redis == nil {
		o.Redis = func(error) {}
	}
	if o.Clock == nil {
		o.Clock = func(time.Duration, error) {}
	}
}

// New makes a consumer.
func New(parts Parts, o Options) *Consumer {
	o.setDefaults()
	c := &Consumer{
		Parts: parts, o: o, delivering: make(chan struct{}, 1), flights: newFlights(func() int { return o.Places() + parts.Hosts.Waiting() }, parts.Log),
		suspects: newSuspects(), departures: newDepartures(), measured: newHarvest(settleBatch),
		acks: newQueue(), failing: newQueue(), graves: newQueue(), announces: make(chan announcement, announceQueue),
	}
	c.orphaned.note() // an earlier life may have left some
	c.metrics = newMetrics(parts.Metrics, c.flights)
	return c
}

// Held is what the consumer has in hand, for health pages.
func (c *Consumer) Held() Held { return c.flights.held() }

// Demand is what the checks ask of this prober: how many of its places they use now, and
// for how long all those taken on so far might have used one at most, the sum of their
// timeouts. Checks that wait for a place at their host use none.
func (c *Consumer) Demand() (inHand int, promised time.Duration) {
	return max(0, c.flights.inHand()-c.Hosts.Waiting()), time.Duration(c.promised.Load())
}

// Bounds of a drain, from the moment it is asked for.
const (
	drainChecks = 14 * time.Second // for probes that are under way or at their slot
	drainSettle = 22 * time.Second // for their rows and acknowledgements
	drainLeave  = 2 * time.Second  // for the goodbye, after that
)

// Run consumes until ctx ends, then drains: it reads no more, lets what it holds
// finish within bounds, settles it and says goodbye. What does not make it stays
// pending for others, or for this prober's next start.
//
// When ctx ends with an error of its own as its cause, nothing can be trusted to
// become durable any more: Run acknowledges nothing more and returns that error at once.
func (c *Consumer) Run(ctx context.Context) error {
	// Everything behind the intake outlives ctx: a drain needs it.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if !c.join(ctx) {
		return fatal(ctx)
	}
	c.o.Joined()
	probing, abandon := context.WithCancel(work)
	defer abandon()

	beating, hush := context.WithCancel(work)
	defer hush()
	var loops, intake, pulse sync.WaitGroup
	pulse.Go(func() { c.heartbeat(beating) })
	for _, loop := range []func(context.Context){c.followClock, c.settle, c.acknowledge, c.buryAll, c.announceAll, c.renew} {
		loops.Go(func() { loop(work) })
	}
	loops.Go(func() { c.depart(probing) })
	intake.Go(func() { c.read(ctx, probing) })
	intake.Go(func() { c.reclaim(ctx, probing) })

	<-ctx.Done()
	if err := fatal(ctx); err != nil {
		return err
	}
	asked := time.Now()
	late := time.AfterFunc(drainChecks, abandon)
	defer late.Stop()
	intake.Wait()
	c.drain(asked.Add(drainSettle))
	hush() // a heartbeat after the goodbye would bring us back to life
	pulse.Wait()
	leave, cancel := context.WithTimeout(work, drainLeave)
	defer cancel()
	if err := c.Presence.Leave(leave); err != nil {
		c.Log.Warn("goodbye was not heard", "error", err)
	}
	stop()
	loops.Wait()
	return nil
}

// fatal is why ctx ended, unless it was an ordinary stop.
func fatal(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// followClock keeps the clock fresh; without an answer the old one runs on.
func (c *Consumer) followClock(ctx context.Context) {
	c.Clock.Follow(ctx, func(skew time.Duration, err error) {
		switch {
		case errors.Is(err, sharedclock.ErrJumped):
			c.Log.Warn("clock not believed", "error", err)
		case err != nil:
			c.Log.Debug("clock not measured", "error", err)
			return
		}
		c.o.Clock(skew, err)
	})
}

// join waits until there is a clock, a heartbeat and a group.
func (c *Consumer) join(ctx context.Context) bool {
	retry := newBackoff()
	for ctx.Err() == nil {
		for _, stage := range []Beater{c.o.BeatRead, c.o.BeatDepart, c.o.BeatRecord, c.o.BeatAck, c.o.BeatHeartbeat} {
			stage.Beat() // their loops have not begun
		}
		err := c.Clock.Measure(ctx)
		if err == nil {
			c.started = c.Clock.Now()
			err = c.announceSelf(ctx)
		}
		if err == nil {
			err = c.Presence.EnsureGroup(ctx)
		}
		if err == nil {
			return true
		}
		c.Log.Warn("cannot join the region", "region", c.o.Region, "error", err)
		sleep(ctx, retry.NextBackOff())
	}
	return false
}

// drain waits for the flights: for the probes, then for the rows.
func (c *Consumer) drain(until time.Time) {
	held := c.flights.counts()
	c.Log.Info("finishing", "waiting", held[waiting], "probing", held[probing], "recording", held[recording]+held[backingOff]+held[spooling])
	c.checks.Wait()
	left := c.flights.waitEmpty(until)
	c.Log.Info("finished", "left_pending", left)
}
