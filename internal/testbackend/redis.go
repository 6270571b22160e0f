package testbackend

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// Redis returns the URL of an empty Redis database that no other test uses
// while this one runs.
func Redis(t testing.TB) string {
	t.Helper()
	host, err := shared.redis.get(startRedisHost)
	if err != nil {
		t.Fatalf("redis for tests: %v", err)
	}
	n, err := host.take()
	if err != nil {
		t.Fatalf("redis for tests: %v", err)
	}
	t.Cleanup(func() { host.give(n) })
	return host.url(n)
}

// Miniredis returns an in-process Redis with the settings `probefleet up` uses
// where no redis-server is installed, and its URL.
func Miniredis(t testing.TB) (*miniredis.Miniredis, string) {
	t.Helper()
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatalf("miniredis: %v", err)
	}
	t.Cleanup(m.Close)
	return m, "redis://" + m.Addr() + "/0"
}

// redisHost hands out the numbered databases of one server.
type redisHost struct {
	base   *url.URL
	client func(db int) *redis.Client
	mu     sync.Mutex
	free   *sync.Cond
	taken  map[int]bool
	// foreign servers are shared with other test binaries
	foreign bool
}

const redisDatabases = 16 // what every Redis has unless configured otherwise

func startRedisHost() (*redisHost, error) {
	h := &redisHost{taken: map[int]bool{}}
	h.free = sync.NewCond(&h.mu)
	address := os.Getenv("TEST_REDIS_URL")
	h.foreign = address != ""
	if !h.foreign {
		r, err := startRedis(0, "")
		if err != nil {
			return nil, err
		}
		atExit(func() { r.Kill() })
		address = r.URL()
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("TEST_REDIS_URL: %w", err)
	}
	h.base = base
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("TEST_REDIS_URL: %w", err)
	}
	h.client = func(db int) *redis.Client {
		own := *options
		own.DB = db
		return redis.NewClient(&own)
	}
	return h, nil
}

// startRedis starts a redis-server; a test that asked for a real one must not
// get the in-process stand-in.
func startRedis(port int, dir string) (*embedded.Redis, error) {
	if dir == "" {
		own, err := serverDir("redis")
		if err != nil {
			return nil, err
		}
		dir = own
	}
	ctx, cancel := soon()
	defer cancel()
	r, err := embedded.StartRedis(ctx, embedded.Options{Dir: dir, Port: port, Log: quietly()})
	if err != nil {
		return nil, err
	}
	if !r.Durable() {
		_ = r.Stop(ctx)
		return nil, fmt.Errorf("no redis-server on PATH: %s", install)
	}
	return r, nil
}

// take waits for a free database and empties it.
func (h *redisHost) take() (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		for n := 1; n < redisDatabases; n++ { // 0 holds the marks of a foreign server
			if h.taken[n] {
				continue
			}
			ours, err := h.claim(n)
			if err != nil {
				return 0, err
			}
			if ours {
				h.taken[n] = true
				return n, nil
			}
		}
		if len(h.taken) == 0 {
			return 0, fmt.Errorf("every database of TEST_REDIS_URL is used by other test runs")
		}
		h.free.Wait()
	}
}

func (h *redisHost) claim(n int) (bool, error) {
	ctx, cancel := soon()
	defer cancel()
	if h.foreign {
		marks := h.client(0)
		defer marks.Close()
		ours, err := marks.SetNX(ctx, mark(n), os.Getpid(), 10*deadline).Result()
		if err != nil || !ours {
			return false, err
		}
	}
	client := h.client(n)
	defer client.Close()
	return true, client.FlushDB(ctx).Err()
}

func (h *redisHost) give(n int) {
	if h.foreign {
		marks := h.client(0)
		defer marks.Close()
		_ = marks.Del(context.Background(), mark(n)).Err() // it expires anyway
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.taken, n)
	h.free.Signal()
}

func (h *redisHost) url(n int) string {
	own := *h.base
	own.Path = "/" + strconv.Itoa(n)
	return own.String()
}

func mark(n int) string { return "probefleet-test:database:" + strconv.Itoa(n) }
