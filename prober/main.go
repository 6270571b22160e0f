// Prober runs the checks of one region.
//
// It reads the region's checks from Redis, visits each target at its slot, tells
// the live feed at once, writes the rows to ClickHouse, or to its spool while that is
// away, and acknowledges a check only when its row is durable. It needs REDIS_URL,
// CLICKHOUSE_URL, SECRET_KEY, REGION and a folder on a disk (PROBER_SPOOL_DIR), and no
// relational database. docs/config.md lists every setting.
//
// SIGTERM drains: no new checks, those under way finish, rows are written; it
// takes less than 30 seconds. What does not make it is taken over by the region's
// other probers, or by this one's next start. One that somebody drains from the dashboard
// does the same, but stays, and begins so when it is started again, until it is resumed.
// Exit codes: 0 drained, 70 a loop stopped making progress, 74 the spool's disk cannot be trusted, 75 Redis missing, the
// spool in use or a schema too old at start, 78 wrong configuration.
package main

import (
	"context"
	"io"
	stdlog "log"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/sharedclock"
	"github.com/probefleet/probefleet/internal/storing"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/watchdog"
	"github.com/probefleet/probefleet/prober/internal/adhoc"
	"github.com/probefleet/probefleet/prober/internal/canary"
	"github.com/probefleet/probefleet/prober/internal/consumer"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
	"github.com/probefleet/probefleet/prober/internal/lean"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/resolve"
	"github.com/probefleet/probefleet/prober/internal/runqueue"
	"github.com/probefleet/probefleet/prober/internal/scaler"
)

func main() {
	os.Exit(service.Main("prober", ":9102", os.Args[1:], os.Getenv, os.Stderr, func(ctx context.Context, s *service.Service) error {
		return run(ctx, s, os.Getenv)
	}))
}

// run wires the prober:
//
//	{pf}:checks ──▶ consumer ──▶ place at the host ──▶ probe engine ──▶ targets (guarded dial)
//	     ▲             │  ▲ ▲ ▲                              └── freeze and strain watch
//	     │             │  │ │ └── canaries: what failed is believed, or unknown(probe_blind)
//	     │             │  │ └── scaler: how many places
//	     │ ack         │  └── watchdog: beats of read, depart, record, ack, heartbeat, write, replay
//	     │             ├──▶ livefeed ──▶ {pf}:results
//	     │             └──▶ recorder ──▶ breaker ──▶ ClickHouse
//	     │                     └──▶ spool ──replay──────┘
//	     └───────────── durable ◀──┘
//	{pf}:adhoc ──▶ adhoc ──▶ probe engine; outcomes go back on the lane
//	{pf}:confirm ──▶ adhoc ──▶ probe engine; outcomes go to {pf}:results
func run(ctx context.Context, s *service.Service, getenv func(string) string) error {
	cfg, err := loadConfig(getenv)
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	memory := lean.New(getenv)
	log := s.Log.With("region", cfg.Region, "prober", cfg.Name)
	capacity := boundByFiles(cfg.capacity(), log)

	if ctx.Err() != nil { // asked for the configuration's mistakes alone
		return ctx.Err()
	}
	// The watchdog is the last to go: a disk that hangs would hold up the exit for ever.
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatch()
	files, err := storing.OpenSpool(ctx, s, "PROBER", cfg.spool())
	if err != nil {
		return err
	}
	defer files.Close()
	redis, store, err := connect(ctx, cfg, s)
	if err != nil {
		return err
	}
	defer redis.Close()
	defer store.Close()

	// A disk that cannot be trusted ends everything at once, also a drain.
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	broken := make(chan error, 1)
	fatal := func(err error) {
		err = service.Exit(service.ExitSpool, err)
		broken <- err
		end(err)
	}
	dog := watchdog.In(cfg.SpoolDir, log)
	var work *consumer.Consumer
	var lanes []*adhoc.Loop
	stdlog.SetOutput(io.Discard) // net/http notes there every odd HTTP/2 frame that a target sends
	names := resolve.New(cfg.resolvers, resolve.Options{Log: log, Metrics: s.Metrics})
	defer names.Close()
	box, err := seal.New(cfg.SecretKey.Reveal(), cfg.OtherKey.Reveal())
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	feed := livefeed.NewAnnouncer(redis)
	canaries := cfg.watch(names, redis, feed, s, log)
	judge := guard.New(cfg.AllowCIDRs)
	engine := probe.New(probe.Options{
		Version: s.Version, Contact: cfg.ContactURL, Guard: judge, Resolver: names, Questions: names, Open: box.Open, Log: log, Metrics: s.Metrics,
		Failed: canaries.Failed, Doubt: canary.Patience,
	})
	rows := recorder.New(store, recorder.Options{
		Prober: cfg.Name, Region: cfg.Region, MaxRows: cfg.batchRows(), MostRows: mostRows, MaxAge: cfg.BatchAge, AwayAge: min(5*cfg.BatchAge, 10*time.Second),
		MaxBuffered: capacity, FlushTimeout: 3 * time.Second,
		Spool: files, Fatal: fatal, Deleted: redis.Tombstoned, TooOld: store.TooOld, Reject: func(row uptime.Result, err error) { work.Refused(row, err) },
		BeatWrite: dog.Stage("write", 2*time.Minute).Beat, BeatReplay: dog.Stage("replay", 3*time.Minute).Beat,
		Log: log, Metrics: s.Metrics,
	})
	hosts := hostlimit.New(hostlimit.Options{PerHost: cfg.HostConcurrency, Waiting: cfg.capacity(), Opened: judge.Opened, Metrics: s.Metrics})
	stream := checkstream.NewConsumer(redis, cfg.Region, cfg.Name)
	see := eyes{region: cfg.Region, stream: stream, fleet: checkstream.NewFleet(redis), rows: rows, demand: func() (int, time.Duration) { return work.Demand() }, resting: func() bool { return work.Resting() }}
	size := scaler.New(scaler.Options{Limits: cfg.limits(capacity), Look: see.look, Log: log, Metrics: s.Metrics})
	clock := sharedclock.New(redis)
	work = consumer.New(consumer.Parts{
		Source: stream, Settler: stream, Presence: stream, Clock: clock,
		Hosts: hosts, Prober: engine, Recorder: rows, Announcer: feed,
		Log: log, Metrics: s.Metrics,
	}, consumer.Options{
		Region: cfg.Region, Name: cfg.Name, Version: s.Version, AllowCIDRs: cfg.allowed(),
		Capacity: capacity, Places: size.Places, Room: runqueue.Room(), ReclaimIdle: cfg.ReclaimIdle,
		Store:     func() consumer.Store { return storeState(rows.State()) },
		Permanent: resultstore.IsPermanent,
		Believe:   canaries.Believe, Answered: canaries.Answered, Canaries: canaries.Word, CanariesSeen: canaries.Seen, LastExit: lastExit(s.LastExit),
		Redis:    func(err error) { redisState(err, s.Health) },
		Clock:    func(skew time.Duration, err error) { clockState(skew, err, s.Health) },
		Joined:   s.Health.Ready,
		Busy:     func() bool { return slices.ContainsFunc(lanes, (*adhoc.Loop).Busy) },
		Phase:    func(phase string) { drainState(phase, s.Health) },
		BeatRead: dog.Stage("read", time.Minute), BeatDepart: dog.Stage("depart", time.Minute), BeatRecord: dog.Stage("record", time.Minute),
		BeatAck: dog.Stage("ack", time.Minute), BeatHeartbeat: dog.Stage("heartbeat", 30*time.Second),
	})
	// Confirmations are short and come in bursts, and somebody is paged by them.
	lanes = []*adhoc.Loop{
		newLane(checkstream.NewAdhocConsumer(redis, cfg.Region, cfg.Name), adhoc.Options{Name: cfg.Name, AtOnce: 10, Paused: work.Resting, Engine: engine, Now: clock.Now, Hosts: hosts, Log: log}, "adhoc", "checks on demand", s),
		newLane(checkstream.NewConfirmConsumer(redis, cfg.Region, cfg.Name), adhoc.Options{Name: cfg.Name, AtOnce: 40, Bare: true, Paused: work.Resting, Believe: canaries.Believe, Engine: engine, Now: clock.Now, Hosts: hosts, Log: log}, "confirm", "confirmations", s),
	}
	about := checkstream.NewAbout(redis)
	s.Health.Fact("redis", func() any { return about.Last() })
	s.Health.Fact("region", func() any { return cfg.Region })
	s.Health.Fact("prober", func() any { return cfg.Name })
	s.Health.Fact("resolvers", func() any { return names.State() })
	s.Health.Fact("canaries", func() any { return canaries.State() })
	s.Health.Fact("batches", func() any { return work.Held() })
	s.Health.Fact("recorder", func() any { return rows.State() })
	s.Health.Fact("workers", func() any { return size.Workers() })

	// These outlive the signal: a drain still probes and records.
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var background sync.WaitGroup
	go func() { _ = dog.Run(watching) }()
	tell := func(ctx context.Context) error { return storing.Tell(ctx, rows, s.Health) }
	for _, loop := range []func(context.Context) error{about.Run, canaries.Run, engine.Run, rows.Run, size.Run, memory.Run, tell} {
		background.Go(func() {
			if err := loop(behind); err != nil {
				log.Warn("not everything could be finished", "error", err)
			}
		})
	}
	for _, lane := range lanes {
		background.Go(func() { _ = lane.Run(ctx) }) // drains beside the consumer
	}
	if err := work.Run(ctx); err != nil {
		return err
	}
	stop()
	background.Wait()
	select {
	case err := <-broken: // while draining
		return err
	default:
		return nil
	}
}

// storeState says how rows get on, to the heartbeat.
func storeState(rows recorder.State) consumer.Store {
	state := consumer.Store{ClickHouse: "ok", Breaker: rows.Breaker}
	if rows.Retrying {
		state.ClickHouse = "down"
	}
	if waiting := rows.Spool; waiting != nil {
		state.Spooled, state.SpoolFirst, state.SpoolLast = int64(waiting.Rows), waiting.First, waiting.Last
		state.SpoolBytes = waiting.Bytes
	}
	return state
}

// lastExit says how the life before this one ended, to the heartbeat.
func lastExit(last *service.LastExit) *checkstream.LastExit {
	if last == nil {
		return nil
	}
	return &checkstream.LastExit{Cause: last.Cause, Signal: last.Signal, At: last.At}
}

func redisState(err error, health *service.Health) {
	if err == nil {
		health.Set("redis", service.OK, "")
		return
	}
	health.Set("redis", service.Degraded, "checks cannot be read: "+err.Error())
}

// drainState says why a prober that is well does nothing.
func drainState(phase string, health *service.Health) {
	switch phase {
	case checkstream.Draining:
		health.Set("drain", service.OK, "draining, as somebody asked: it takes nothing on, and finishes what it holds")
	case checkstream.Drained:
		health.Set("drain", service.OK, "drained, as somebody asked: it holds nothing, and takes nothing on until it is resumed")
	default:
		health.Set("drain", service.OK, "")
	}
}

// newLane makes the loop of a lane of visits outside the schedule.
func newLane(end adhoc.Lane, o adhoc.Options, name, visits string, s *service.Service) *adhoc.Loop {
	o.Lane, o.Metrics = end, prometheus.WrapRegistererWith(prometheus.Labels{"lane": name}, s.Metrics)
	o.Health = func(err error) {
		if err == nil {
			s.Health.Set(name, service.OK, "")
			return
		}
		s.Health.Set(name, service.Degraded, visits+" are not made: "+err.Error())
	}
	return adhoc.New(o)
}

// clockState flags a clock that is more than two seconds off. Slots go by the shared
// clock, so nothing is measured wrongly; logs and certificates' days are.
func clockState(skew time.Duration, err error, health *service.Health) {
	if trouble := sharedclock.Trouble(skew, err); trouble != "" {
		health.Set("clock", service.Degraded, trouble)
		return
	}
	health.Set("clock", service.OK, "")
}
