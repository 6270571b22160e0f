// Prober runs the checks of one region.
//
// It reads the region's checks from Redis, visits each target at its slot, tells
// the live feed at once, writes the rows to ClickHouse, and acknowledges a check
// only when its row is durable. It needs REDIS_URL, CLICKHOUSE_URL, SECRET_KEY and
// REGION, and no relational database. docs/config.md lists every setting.
//
// SIGTERM drains: no new checks, those under way finish, rows are written; it
// takes less than 30 seconds. What does not make it is taken over by the region's
// other probers, or by this one's next start. Exit codes: 0 drained, 70 a loop
// stopped making progress, 75 Redis or ClickHouse missing at start, 78 wrong
// configuration.
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/prober/internal/consumer"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/watchdog"
)

func main() {
	os.Exit(service.Main("prober", ":9102", os.Args[1:], os.Getenv, os.Stderr, func(ctx context.Context, s *service.Service) error {
		return run(ctx, s, os.Getenv)
	}))
}

// run wires the prober:
//
//	{pf}:checks ──▶ consumer ──▶ probe engine ──▶ targets (guarded dial)
//	     ▲             │  ▲            └── freeze watch
//	     │ ack         │  └── watchdog: beats of read, record, ack, heartbeat
//	     │             ├──▶ livefeed ──▶ {pf}:results
//	     │             └──▶ recorder ──▶ ClickHouse
//	     └───────────────────── done ◀────┘
func run(ctx context.Context, s *service.Service, getenv func(string) string) error {
	cfg, err := loadConfig(getenv)
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	tuneMemory(getenv)
	log := s.Log.With("region", cfg.Region, "prober", cfg.Name)
	capacity := boundByFiles(cfg.capacity(), log)

	redis, store, err := connect(ctx, cfg, s)
	if err != nil {
		return err
	}
	defer redis.Close()
	defer store.Close()

	engine := probe.New(probe.Options{Version: s.Version, Guard: guard.New(cfg.AllowCIDRs), Log: log, Metrics: s.Metrics})
	rows := recorder.New(store, recorder.Options{
		Prober: cfg.Name, Region: cfg.Region, MaxRows: cfg.BatchSize, MaxAge: cfg.BatchAge, FlushTimeout: 3 * time.Second,
		Log: log, Metrics: s.Metrics,
	})
	dump := watchdogFile(func() (*os.File, error) { return watchdog.DumpFile(cfg.Name) }, log)
	dog := watchdog.New(dump)
	stream := checkstream.NewConsumer(redis, cfg.Region, cfg.Name)
	work := consumer.New(consumer.Parts{
		Source: stream, Settler: stream, Presence: stream, Time: redis,
		Prober: engine, Recorder: rows, Announcer: livefeed.NewAnnouncer(redis),
		Log: log, Metrics: s.Metrics,
	}, consumer.Options{
		Region: cfg.Region, Name: cfg.Name, Version: s.Version, AllowCIDRs: cfg.allowed(),
		Capacity: capacity, ReclaimIdle: cfg.ReclaimIdle,
		ClickHouse: func() string { return clickHouseState(rows.State(), s.Health) },
		Permanent:  resultstore.IsPermanent,
		Redis:      func(err error) { redisState(err, s.Health) },
		Joined:     s.Health.Ready,
		BeatRead:   dog.Stage("read", time.Minute), BeatRecord: dog.Stage("record", time.Minute),
		BeatAck: dog.Stage("ack", time.Minute), BeatHeartbeat: dog.Stage("heartbeat", 30*time.Second),
	})
	about := checkstream.NewAbout(redis)
	s.Health.Fact("redis", func() any { return about.Last() })
	s.Health.Fact("region", func() any { return cfg.Region })
	s.Health.Fact("prober", func() any { return cfg.Name })
	s.Health.Fact("entries", func() any { return work.State() })
	s.Health.Fact("recorder", func() any { return rows.State() })

	// These outlive the signal: a drain still probes and records.
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	for _, loop := range []func(context.Context) error{about.Run, engine.Run, dog.Run, rows.Run} {
		background.Go(func() {
			if err := loop(behind); err != nil {
				log.Warn("not everything could be finished", "error", err)
			}
		})
	}
	err = work.Run(ctx)
	stop()
	background.Wait()
	return err
}

func clickHouseState(rows recorder.State, health *service.Health) string {
	if !rows.Retrying {
		health.Set("clickhouse", service.OK, "")
		return "ok"
	}
	health.Set("clickhouse", service.Degraded, "inserts fail, rows wait in memory: "+rows.LastError)
	return "down"
}

func redisState(err error, health *service.Health) {
	if err == nil {
		health.Set("redis", service.OK, "")
		return
	}
	health.Set("redis", service.Degraded, "checks cannot be read: "+err.Error())
}
