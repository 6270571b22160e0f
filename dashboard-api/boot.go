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
	"github.com/probefleet/probefleet/migrations"
)

const (
	bootPatience = 60 * time.Second
	bootRetry    = time.Second
)

// stores are the three dependencies, open.
type stores struct {
	database *database.DB
	redis    *checkstream.Redis
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

// connect waits for the dependencies, at most a minute for all. A schema that is
// too old fails at once: only the operator can help.
func connect(ctx context.Context, cfg Config, s *service.Service) (*stores, error) {
	var opened stores
	redis, err := checkstream.Open(cfg.RedisURL.Reveal())
	if err != nil { // the error may quote the URL, and the URL holds the password
		return nil, service.Exit(service.ExitConfig, errors.New("REDIS_URL: not a URL such as redis://user:password@host:6379/0"))
	}
	opened.redis = redis
	waiting, cancel := context.WithTimeout(ctx, bootPatience)
	defer cancel()
	for _, step := range []struct {
		what string
		try  func(context.Context) error
	}{
		{"database", func(ctx context.Context) (err error) {
			opened.database, err = database.Open(ctx, cfg.DatabaseURL.Reveal())
			return err
		}},
		{"redis", func(ctx context.Context) error {
			_, err := redis.Now(ctx)
			return err
		}},
		{"clickhouse", func(ctx context.Context) (err error) {
			opened.results, err = resultstore.Open(ctx, cfg.ClickHouseURL.Reveal())
			return err
		}},
	} {
		if err := await(ctx, waiting, s, step.what, step.try); err != nil {
			opened.close()
			return nil, err
		}
	}
	return &opened, nil
}

// await tries until it works, the patience ends, or ctx does.
func await(ctx, patience context.Context, s *service.Service, what string, try func(context.Context) error) error {
	for first := true; ; first = false {
		attempt, cancel := context.WithTimeout(patience, 10*time.Second)
		err := try(attempt)
		cancel()
		if err == nil {
			s.Health.Set(what, service.OK, "")
			return nil
		}
		if _, outdated := errors.AsType[*migrations.OutdatedError](err); outdated {
			return service.Exit(service.ExitDependency, err)
		}
		s.Health.Set(what, service.Error, "waiting at start: "+err.Error())
		if first {
			s.Log.Warn("waiting for a dependency", "dependency", what, "error", err)
		}
		select {
		case <-time.After(bootRetry):
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.Done():
			return service.Exit(service.ExitDependency, fmt.Errorf("%s did not come within %v: %w", what, bootPatience, err))
		}
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
