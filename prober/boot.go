package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

// spareFiles are descriptors for everything that is not a probe.
const spareFiles = 256

// tuneMemory trades memory for time: a check leaves little behind, so collecting
// it can wait. The operator's own GOGC and GOMEMLIMIT win.
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(1 << 30)
	}
}

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

// connect waits for Redis and ClickHouse, at most a minute.
func connect(ctx context.Context, cfg Config, s *service.Service) (*checkstream.Redis, *resultstore.Store, error) {
	redis, err := checkstream.Open(cfg.RedisURL.Reveal())
	if err != nil {
		return nil, nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	var store *resultstore.Store
	err = s.Await(ctx,
		service.Dependency{Name: "redis", Try: func(ctx context.Context) error {
			_, err := redis.Now(ctx)
			return err
		}},
		service.Dependency{Name: "clickhouse", Try: func(ctx context.Context) (err error) {
			store, err = resultstore.Open(ctx, cfg.ClickHouseURL.Reveal())
			return err
		}})
	if err != nil {
		_ = redis.Close()
		return nil, nil, err
	}
	return redis, store, nil
}

// watchdogFile opens the file for the watchdog's last words, if there can be one.
func watchdogFile(open func() (*os.File, error), log *slog.Logger) *os.File {
	file, err := open()
	if err != nil {
		log.Warn("watchdog has nowhere to write", "error", err)
		return nil
	}
	return file
}
