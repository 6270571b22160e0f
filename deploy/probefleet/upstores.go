package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/deploy/probefleet/internal/supervisor"
)

const storeRetry = 2 * time.Second

// stores are the three databases: those of the environment, else embedded ones.
type stores struct {
	databaseURL, redisURL, clickhouseURL, redisNote string

	mu                           sync.Mutex
	redis                        *embedded.Redis      // nil when REDIS_URL is set
	clickhouse                   *embedded.ClickHouse // nil when CLICKHOUSE_URL is set
	redisOptions, engineOptions  embedded.Options
	redisRestarts, engineRestart int
}

func openStores(ctx context.Context, in *installation, log *slog.Logger, progress io.Writer) (*stores, error) {
	s := &stores{databaseURL: in.env.DatabaseURL.Reveal(), redisURL: in.env.RedisURL.Reveal(), clickhouseURL: in.env.ClickHouseURL.Reveal(), redisNote: "from REDIS_URL"}
	if s.databaseURL == "" {
		s.databaseURL = "sqlite:" + filepath.Join(in.dir, "probefleet.db")
	}
	if s.clickhouseURL == "" {
		library, err := fetchEngine(ctx, progress)
		if err != nil {
			return nil, fmt.Errorf("embedded ClickHouse: %w", err)
		}
		s.engineOptions = embedded.Options{Dir: filepath.Join(in.dir, "clickhouse"), LibPath: library, Log: log.With("store", "clickhouse")}
		if s.clickhouse, err = embedded.StartClickHouse(ctx, s.engineOptions); err != nil {
			return nil, fmt.Errorf("embedded ClickHouse (set CLICKHOUSE_URL to use a server of your own): %w", err)
		}
		s.clickhouseURL = s.clickhouse.URL()
		s.engineOptions.HTTPPort, s.engineOptions.TCPPort = s.clickhouse.HTTPPort(), s.clickhouse.TCPPort()
	}
	if s.redisURL == "" {
		var err error
		s.redisOptions = embedded.Options{Dir: filepath.Join(in.dir, "redis"), Log: log.With("store", "redis")}
		if s.redis, err = embedded.StartRedis(ctx, s.redisOptions); err != nil {
			s.stop() //nolint:contextcheck // stopping goes on after ctx has ended
			return nil, fmt.Errorf("embedded Redis (set REDIS_URL to use a server of your own): %w", err)
		}
		s.redisURL, s.redisNote = s.redis.URL(), s.redis.Banner()
		s.redisOptions.Port = s.redis.Port()
	}
	return s, nil
}

// keep restarts an embedded store that ended, on the same port, until ctx ends.
// Each has a loop of its own: one that cannot start must not keep the other away.
func (s *stores) keep(ctx context.Context, log *slog.Logger, changed func()) {
	var each sync.WaitGroup
	if s.redis != nil {
		each.Go(func() {
			keepStore(ctx, s.redis.Done(), func() (<-chan struct{}, error) { return s.restartRedis(ctx) }, log.With("store", "redis"), changed)
		})
	}
	if s.clickhouse != nil {
		each.Go(func() {
			keepStore(ctx, s.clickhouse.Done(), func() (<-chan struct{}, error) { return s.restartEngine(ctx) }, log.With("store", "clickhouse"), changed)
		})
	}
	each.Wait()
}

// keepStore restarts one store each time it has ended: at once, but two starts are
// storeRetry apart, whether the first failed or did not last.
func keepStore(ctx context.Context, ended <-chan struct{}, restart func() (<-chan struct{}, error), log *slog.Logger, changed func()) {
	var started time.Time
	for {
		select {
		case <-ended: // closed: stays so while restarting fails
		case <-ctx.Done():
			return
		}
		if !pause(ctx, storeRetry-time.Since(started)) {
			return
		}
		log.Warn("store ended; restarting")
		started = time.Now()
		next, err := restart()
		if err != nil {
			log.Error("store was not restarted", "error", err)
			continue
		}
		ended = next
		changed()
	}
}

// pause waits and says whether to go on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *stores) restartRedis(ctx context.Context) (<-chan struct{}, error) {
	next, err := embedded.StartRedis(ctx, s.redisOptions)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redis = next
	s.redisRestarts++
	return next.Done(), nil
}

func (s *stores) restartEngine(ctx context.Context) (<-chan struct{}, error) {
	next, err := embedded.StartClickHouse(ctx, s.engineOptions)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clickhouse = next
	s.engineRestart++
	return next.Done(), nil
}

func (s *stores) states() []supervisor.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	var states []supervisor.State
	if s.redis != nil {
		states = append(states, supervisor.State{Name: "redis", PID: s.redis.PID(), Restarts: s.redisRestarts})
	}
	if s.clickhouse != nil {
		states = append(states, supervisor.State{Name: "clickhouse", PID: s.clickhouse.PID(), Restarts: s.engineRestart})
	}
	return states
}

// stop ends the embedded stores; the programs that use them have ended before.
func (s *stores) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 35*time.Second)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.redis != nil {
		_ = s.redis.Stop(ctx)
	}
	if s.clickhouse != nil {
		_ = s.clickhouse.Stop(ctx)
	}
}
