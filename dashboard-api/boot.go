package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/sharedclock"
)

// stores are the three dependencies: the database open, the others as they are.
type stores struct {
	database *database.DB
	redis    *checkstream.Redis
	clock    *sharedclock.Clock // that of Redis: results, pages and pings are judged by it
	results  *resultstore.Store
}

func (s *stores) close() {
	if s.results != nil {
		_ = s.results.Close()
	}
	if s.redis != nil {
		_ = s.redis.Close()
	}
	if s.database != nil {
		_ = s.database.Close()
	}
}

// connect waits for the database, at most a minute. Redis and ClickHouse are dialled
// when they are needed: without them a part of the work goes on.
func connect(ctx context.Context, cfg Config, s *service.Service) (*stores, error) {
	var opened stores
	redis, err := checkstream.Open(cfg.RedisURL.Reveal())
	if err != nil {
		return nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	opened.redis, opened.clock = redis, sharedclock.New(redis)
	if opened.results, err = resultstore.Connect(cfg.ClickHouseURL.Reveal()); err != nil {
		opened.close()
		return nil, service.Exit(service.ExitConfig, fmt.Errorf("CLICKHOUSE_URL: %w", err))
	}
	if err := s.Await(ctx, service.Dependency{Name: "database", Try: func(ctx context.Context) (err error) {
		opened.database, err = database.Open(ctx, cfg.DatabaseURL.Reveal())
		return err
	}}); err != nil {
		opened.close()
		return nil, err
	}
	_ = opened.clock.Measure(ctx) // while Redis is away it is this machine's
	return &opened, nil
}

// followClock keeps the shared time, and says when this machine's is another one.
func (s *stores) followClock(health *service.Health) func(context.Context) error {
	return func(ctx context.Context) error {
		s.clock.Follow(ctx, func(skew time.Duration, err error) {
			switch trouble := sharedclock.Trouble(skew, err); {
			case trouble != "":
				health.Set("clock", service.Degraded, trouble)
			case err == nil:
				health.Set("clock", service.OK, "")
			}
		})
		return ctx.Err()
	}
}

// writeSetupLink leaves the link where whoever started us can read it, and nobody
// else; an empty link removes an old one.
func writeSetupLink(path, link string) error {
	if link == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the old set-up link: %w", err)
		}
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".setup-link-*") // created with mode 0600
	if err != nil {
		return fmt.Errorf("write the set-up link: %w", err)
	}
	_, err = file.WriteString(link + "\n")
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the set-up link: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
