package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	spareFiles     = 256             // descriptors for everything that is not a probe
	clickHouseLook = 3 * time.Second // at start: it may be away
)

// boundByFiles raises the limit of open files as far as allowed and gives the
// capacity that it carries.
func boundByFiles(capacity int, log *slog.Logger) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		log.Warn("limit of open files is unknown", "error", err)
		return capacity
	}
	if limit.Cur < limit.Max {
		raised := syscall.Rlimit{Cur: limit.Max, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
			limit = raised
		}
	}
	room := int(min(limit.Cur, 1<<30)) - spareFiles
	if room >= capacity {
		return capacity
	}
	room = max(room, 16)
	log.Warn("limit of open files bounds the checks held at once", "limit", limit.Cur, "wanted", capacity, "capacity", room)
	return room
}

// connect waits for Redis, at most a minute. ClickHouse may be away: rows go to the
// spool then. What no waiting mends, such as a schema that is too old, is said at once.
func connect(ctx context.Context, cfg Config, s *service.Service) (*checkstream.Redis, *resultstore.Store, error) {
	redis, err := checkstream.Open(cfg.RedisURL.Reveal())
	if err != nil {
		return nil, nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	store, err := resultstore.Connect(cfg.ClickHouseURL.Reveal())
	if err != nil {
		_ = redis.Close()
		return nil, nil, service.Exit(service.ExitConfig, fmt.Errorf("CLICKHOUSE_URL: %w", err))
	}
	lost := prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_prints_lost_total", Help: "Prints that could not be stored with their results."})
	s.Metrics.MustRegister(lost)
	store.OnLostPrints(func(n int, err error) {
		lost.Add(float64(n))
		s.Log.Warn("what checks saw could not be stored, their results were", "prints", n, "error", err)
	})
	err = s.Await(ctx, service.Dependency{Name: "redis", Try: func(ctx context.Context) error {
		_, err := redis.Now(ctx)
		return err
	}})
	if err == nil {
		err = lookAtClickHouse(ctx, store, s)
	}
	if err != nil {
		_, _ = redis.Close(), store.Close()
		return nil, nil, err
	}
	return redis, store, nil
}

func lookAtClickHouse(ctx context.Context, store *resultstore.Store, s *service.Service) error {
	look, cancel := context.WithTimeout(ctx, clickHouseLook)
	defer cancel()
	switch err := store.Check(look); {
	case err == nil:
		s.Health.Set("clickhouse", service.OK, "")
	case errors.Is(err, resultstore.ErrSchema):
		return service.Exit(service.ExitDependency, err)
	default:
		s.Log.Warn("clickhouse does not answer, rows wait on disk until it does", "error", err)
		s.Health.Set("clickhouse", service.Degraded, "does not answer: "+err.Error())
	}
	return ctx.Err()
}
