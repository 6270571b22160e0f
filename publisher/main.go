// Publisher decides which checks are due and appends them to the stream of checks.
//
// It needs DATABASE_URL, REDIS_URL and CLICKHOUSE_URL; docs/config.md lists every
// setting. Run one, or several: one works, the others take over within 8 seconds
// of its end. /healthz says which one works, how far it is and what is wrong.
//
// Once started it goes on without the database (with the schedule it knows) and
// without ClickHouse (rows wait in its spool), and, for as long as it lasts, waits
// for Redis; what could not be published in time is stated as missed with its reason.
// A process that was frozen reads where publishing stands and goes on from there. The
// publisher at work also removes what deleted targets left behind, and computes the
// hourly and daily figures.
//
// SIGTERM finishes the chunk being published, gives the lease back and writes what
// is held. Exit codes: 0 drained, 74 the spool's disk failed, 75 a dependency missing
// at start or a schema that is too old, 78 wrong configuration.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/storing"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/watchdog"
	"github.com/probefleet/probefleet/publisher/internal/cycle"
	"github.com/probefleet/probefleet/publisher/internal/deletion"
	"github.com/probefleet/probefleet/publisher/internal/rollup"
	"github.com/probefleet/probefleet/publisher/internal/spooled"
)

func main() {
	os.Exit(service.Main("publisher", ":9101", os.Args[1:], os.Getenv, os.Stderr, func(ctx context.Context, s *service.Service) error {
		return run(ctx, s, os.Getenv)
	}))
}

// run wires the publisher:
//
//	config ─▶ clients ─▶ wiring ─▶ errgroup
//
//	 database ── versions, targets ──▶ ┌───────┐ ──▶ {pf}:checks
//	 {pf}:changes ── wakes ──────────▶ │ cycle │ ◀── {pf}:clock, {pf}:regions
//	 {pf}:lease:publisher ── who ────▶ └───────┘ ──▶ recorder ─▶ results (missed rows), else spool
//	                                    │     └────▶ cycles (one note a tick)
//	                                    └─ sweep: ledger ─▶ recorder
//	 database ── deletions ──────────▶ deletion ──▶ {pf}:tombstones; results, erased
//	 results ── marked hours ────────▶ rollup ──▶ rollup_1h, rollup_1d, corrections
func run(ctx context.Context, s *service.Service, getenv func(string) string) error {
	cfg, err := loadConfig(getenv)
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	c, err := connect(ctx, cfg, s)
	if err != nil {
		return err
	}
	name := name()
	log := s.Log.With("publisher", name)
	versions, targets := schedulestore.New(c.database), targetstore.New(c.database)
	stream := checkstream.NewPublisher(c.redis)
	held := lease.New(c.redis, "publisher", name, log)
	broken := make(chan error, 1)
	dog := watchdog.In(cfg.SpoolDir, log)
	rows := recorder.New(c.results, recorder.Options{
		Prober: name, MaxAge: 20 * time.Millisecond, // missed rows wait for no company: the tick waits for them
		Spool: c.spool, Fatal: func(err error) { broken <- err }, Deleted: c.redis.Tombstoned, TooOld: c.results.TooOld,
		BeatWrite: dog.Stage("write", 2*time.Minute).Beat, BeatReplay: dog.Stage("replay", 3*time.Minute).Beat,
		Log: log, Metrics: s.Metrics,
	})
	onDisk := spooled.New(stream, c.spool.State)
	loop := cycle.New(cycle.Options{
		Name: name, BacklogMax: cfg.BacklogMax, Beat: dog.Stage("tick", 3*time.Minute).Beat,
		Stream: stream, Upkeep: stream, Changes: livefeed.NewFollower(c.redis),
		Versions: versions, Targets: targets,
		Notes: c.results, Rows: rows, Lease: held,
		Sweeper:    ledger.NewSweeper(versions, versions, c.results, rows, onDisk.Spools, cfg.Settle),
		SweepEvery: ledger.SweepEvery(cfg.Settle),
		Accounts:   ledger.New(versions, c.results, onDisk.Spools).Settling(cfg.Settle).WithPushes(heartbeatstore.New(c.database)),
		Health:     s.Health, Log: log, Metrics: s.Metrics,
	})
	removal := deletion.New(deletion.Options{Notes: targets, Tombstones: c.redis, Rows: c.results, Checks: jobstore.New(c.database), Changes: livefeed.NewAnnouncer(c.redis), Lease: held, Health: s.Health, Log: log, Metrics: s.Metrics})
	history := rollup.New(rollup.Options{
		Results: c.results, Notes: rollupstore.New(c.database), Lease: held, Keep: cfg.retention(),
		Beat: dog.Stage("rollups", 10*time.Minute).Beat, Health: s.Health, Log: log, Metrics: s.Metrics,
	})
	about := checkstream.NewAbout(c.redis)
	s.Health.Fact("recorder", func() any { return rows.State() })
	s.Health.Fact("redis", func() any { return about.Last() })

	// The recorder outlives the loop, so that a drain is written down.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	written := make(chan error, 1)
	go func() { written <- rows.Run(writing) }()

	// The watchdog is the last to go: a disk that hangs would hold up the exit for ever.
	watching, unwatch := context.WithCancel(context.WithoutCancel(ctx))
	defer unwatch()
	go func() { _ = dog.Run(watching) }()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return about.Run(ctx) })
	group.Go(func() error { return held.Run(ctx) })
	group.Go(func() error { return loop.Run(ctx) })
	group.Go(func() error { return removal.Run(ctx) })
	group.Go(func() error { return history.Run(ctx) })
	group.Go(func() error { return storing.Tell(ctx, rows, s.Health) })
	group.Go(func() error { return await(ctx, broken) })
	err = group.Wait()
	stop()
	if unwritten := <-written; unwritten != nil { // the slots are found by the sweep
		log.Warn("not every missed row was written", "error", unwritten)
	}
	return errors.Join(err, c.close())
}

// await ends with the failure of the spool's disk: what it holds cannot be trusted
// from then on, so neither can anything this process would say of rows.
func await(ctx context.Context, broken <-chan error) error {
	select {
	case err := <-broken:
		return service.Exit(service.ExitSpool, err)
	case <-ctx.Done():
		return nil
	}
}
