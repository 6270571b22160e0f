package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	bootPatience = 60 * time.Second
	bootRetry    = 2 * time.Second
)

// clients are the three servers a publisher talks to.
type clients struct {
	database *database.DB
	redis    *checkstream.Redis
	results  *resultstore.Store
}

func (c *clients) close() error {
	var all []error
	if c.results != nil {
		all = append(all, c.results.Close())
	}
	if c.redis != nil {
		all = append(all, c.redis.Close())
	}
	if c.database != nil {
		all = append(all, c.database.Close())
	}
	return errors.Join(all...)
}

// connect waits for all three, at most a minute together: once up, the publisher
// goes on without any of them, but it does not start with a schedule it has not
// read, or rows it could not write.
func connect(ctx context.Context, cfg Config, s *service.Service) (*clients, error) {
	redis, err := checkstream.Open(cfg.RedisURL.Reveal())
	if err != nil { // the error may quote the URL, and the URL holds the password
		return nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	c := &clients{redis: redis}
	limited, cancel := context.WithTimeout(ctx, bootPatience)
	defer cancel()
	for _, dependency := range []struct {
		name string
		try  func(context.Context) error
	}{
		{"database", func(ctx context.Context) (err error) {
			c.database, err = database.Open(ctx, cfg.DatabaseURL.Reveal())
			return err
		}},
		{"redis", func(ctx context.Context) error {
			_, err := redis.Now(ctx)
			return err
		}},
		{"results", func(ctx context.Context) (err error) {
			c.results, err = resultstore.Open(ctx, cfg.ClickHouseURL.Reveal())
			return err
		}},
	} {
		if err := await(limited, s, dependency.name, dependency.try); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

// await tries until it works or the patience of the boot ends.
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
			if errors.Is(ctx.Err(), context.Canceled) { // asked to stop
				return ctx.Err()
			}
			return service.Exit(service.ExitDependency, fmt.Errorf("%s did not come within %v: %w", what, bootPatience, err))
		}
	}
}
