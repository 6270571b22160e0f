package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/storing"
)

// clients are what a publisher stands on: three servers and a folder.
type clients struct {
	database *database.DB
	redis    *checkstream.Redis
	results  *resultstore.Store
	spool    *spool.Spool
}

func (c *clients) close() error {
	var all []error
	if c.spool != nil {
		all = append(all, c.spool.Close())
	}
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

// connect opens the spool and waits for the database and Redis, at most a minute
// together: once up, the publisher goes on without either, but it does not start
// with a schedule it has not read. ClickHouse is not waited for: rows go to the
// spool meanwhile.
func connect(ctx context.Context, cfg Config, s *service.Service) (*clients, error) {
	redis, err := checkstream.Open(cfg.RedisURL.Reveal())
	if err != nil {
		return nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	c := &clients{redis: redis}
	if c.results, err = resultstore.Connect(cfg.ClickHouseURL.Reveal()); err != nil {
		return nil, errors.Join(service.Exit(service.ExitConfig, fmt.Errorf("CLICKHOUSE_URL: %w", err)), c.close())
	}
	if c.spool, err = storing.OpenSpool(ctx, s, "PUBLISHER", cfg.spool()); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := s.Await(ctx,
		service.Dependency{Name: "database", Try: func(ctx context.Context) (err error) {
			c.database, err = database.Open(ctx, cfg.DatabaseURL.Reveal())
			return err
		}},
		service.Dependency{Name: "redis", Try: func(ctx context.Context) error {
			_, err := redis.Now(ctx)
			return err
		}}); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.results.Check(ctx); errors.Is(err, resultstore.ErrSchema) {
		return nil, errors.Join(service.Exit(service.ExitDependency, err), c.close())
	} else if err != nil {
		s.Log.Warn("starting without clickhouse: rows wait on disk", "error", err)
	}
	return c, nil
}
