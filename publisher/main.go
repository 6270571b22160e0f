// Publisher decides which checks are due and appends them to the stream of checks.
//
// It needs DATABASE_URL, REDIS_URL and CLICKHOUSE_URL; docs/config.md lists every
// setting. Run one, or several: one works, the others take over within 8 seconds
// of its end. /healthz says which one works, how far it is and what is wrong.
//
// Once started it goes on without the database (with the schedule it knows),
// without ClickHouse, and, for as long as it lasts, waits for Redis; what could not
// be published in time is stated as missed with its reason. A process that was
// frozen reads where publishing stands and goes on from there.
//
// SIGTERM finishes the chunk being published, gives the lease back and writes what
// is held. Exit codes: 0 drained, 75 a dependency missing at start, 78 wrong
// configuration.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/publisher/internal/cycle"
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
//	 {pf}:lease:publisher ── who ────▶ └───────┘ ──▶ recorder ─▶ results (missed rows)
//	                                    │     └────▶ cycles (one note a tick)
//	                                    └─ sweep: ledger ─▶ recorder
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
	// Missed rows wait for no company: the tick waits for them.
	rows := recorder.New(c.results, recorder.Options{Prober: name, MaxAge: 20 * time.Millisecond, Log: log, Metrics: s.Metrics})
	loop := cycle.New(cycle.Options{
		Name: name, BacklogMax: cfg.BacklogMax,
		Stream: stream, Upkeep: stream, Changes: livefeed.NewFollower(c.redis),
		Versions: versions, Targets: targets, Purges: versions,
		Notes: c.results, Eraser: c.results, Rows: rows, Lease: held,
		Sweeper: ledger.NewSweeper(versions, versions, c.results, rows),
		Health:  s.Health, Log: log, Metrics: s.Metrics,
	})
	about := checkstream.NewAbout(c.redis)
	s.Health.Fact("recorder", func() any { return rows.State() })
	s.Health.Fact("redis", func() any { return about.Last() })

	// The recorder outlives the loop, so that a drain is written down.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	written := make(chan error, 1)
	go func() { written <- rows.Run(writing) }()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return about.Run(ctx) })
	group.Go(func() error { return held.Run(ctx) })
	group.Go(func() error { return loop.Run(ctx) })
	err = group.Wait()
	stop()
	if unwritten := <-written; unwritten != nil { // the slots are found by the sweep
		log.Warn("not every missed row was written", "error", unwritten)
	}
	return errors.Join(err, c.close())
}
