package main

import (
	"context"
	"errors"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
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
	if err != nil {
		return nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	c := &clients{redis: redis}
	if err := s.Await(ctx,
		service.Dependency{Name: "database", Try: func(ctx context.Context) (err error) {
			c.database, err = database.Open(ctx, cfg.DatabaseURL.Reveal())
			return err
		}},
		service.Dependency{Name: "redis", Try: func(ctx context.Context) error {
			_, err := redis.Now(ctx)
			return err
		}},
		service.Dependency{Name: "results", Try: func(ctx context.Context) (err error) {
			c.results, err = resultstore.Open(ctx, cfg.ClickHouseURL.Reveal())
			return err
		}}); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}
