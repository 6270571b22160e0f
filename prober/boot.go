package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	bootPatience = 60 * time.Second
	bootRetry    = 2 * time.Second
	spareFiles   = 256 // descriptors for everything that is not a probe
)

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
	if err != nil { // the error may quote the URL, and the URL holds the password
		return nil, nil, service.Exit(service.ExitConfig, fmt.Errorf("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	ctx, cancel := context.WithTimeout(ctx, bootPatience)
	defer cancel()
	err = await(ctx, s, "redis", func(ctx context.Context) error {
		_, err := redis.Now(ctx)
		return err
	})
	var store *resultstore.Store
	if err == nil {
		err = await(ctx, s, "clickhouse", func(ctx context.Context) (err error) {
			store, err = resultstore.Open(ctx, cfg.ClickHouseURL.Reveal())
			return err
		})
	}
	if err != nil {
		_ = redis.Close()
		return nil, nil, err
	}
	return redis, store, nil
}

// await tries until it works or the boot's patience ends.
func await(ctx context.Context, s *service.Service, what string, try func(context.Context) error) error {
	for first := true; ; first = false {
		attempt, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := try(attempt)
		cancel()
		if err == nil {
			s.Health.Set(what, service.OK, "")
			return nil
		}
		s.Health.Set(what, service.Error, "waiting at start: "+err.Error())
		if first {
			s.Log.Warn("waiting for a dependency", "dependency", what, "error", err)
		}
		select {
		case <-time.After(bootRetry):
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.Canceled) { // asked to stop
				return ctx.Err()
			}
			return service.Exit(service.ExitDependency, fmt.Errorf("%s did not come within %v: %w", what, bootPatience, err))
		}
	}
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
