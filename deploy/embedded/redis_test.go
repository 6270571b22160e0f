package embedded_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/deploy/embedded"
)

func startRedis(t *testing.T, o embedded.Options) (*embedded.Redis, *redis.Client) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	r, err := embedded.StartRedis(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	if want := map[bool]string{true: "in-process", false: "redis-server"}[o.InProcess]; r.Kind() != want {
		t.Fatalf("started %s, want %s: run `make deps` to install what the tests need", r.Kind(), want)
	}
	options, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return r, client
}

func TestRedisIsConfiguredForAWorkQueue(t *testing.T) {
	t.Parallel()
	r, client := startRedis(t, embedded.Options{})
	for name, want := range map[string]string{"maxmemory-policy": "noeviction", "appendonly": "yes", "appendfsync": "everysec", "bind": "127.0.0.1"} {
		if got := client.ConfigGet(t.Context(), name).Val()[name]; got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if !r.Durable() || !strings.Contains(r.Banner(), "append-only") {
		t.Errorf("durable %v, banner %q", r.Durable(), r.Banner())
	}
	_, err := redisAs(t, r, "wrong").Ping(t.Context()).Result()
	if err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("a wrong password got %v", err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID()))
	if err != nil || strings.Contains(string(line), client.Options().Password) {
		t.Errorf("command line %q, %v", line, err)
	}
}

func redisAs(t *testing.T, r *embedded.Redis, pass string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	options.Password = pass
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestRedisKeepsDataOverStopAndKill(t *testing.T) {
	t.Parallel()
	dir, port := t.TempDir(), 0
	ends := []func(*embedded.Redis) error{
		func(r *embedded.Redis) error { return r.Stop(t.Context()) },
		func(r *embedded.Redis) error { r.Kill(); return nil },
	}
	for n, end := range ends {
		r, client := startRedis(t, embedded.Options{Dir: dir, Port: port})
		if port != 0 && r.Port() != port {
			t.Fatalf("port changed from %d to %d", port, r.Port())
		}
		port = r.Port()
		if got, err := client.Incr(t.Context(), "starts").Result(); err != nil || got != int64(n+1) {
			t.Fatalf("start %d: counter %d, %v", n+1, got, err)
		}
		if err := end(r); err != nil {
			t.Fatal(err)
		}
	}
	_, client := startRedis(t, embedded.Options{Dir: dir})
	if got := client.Get(t.Context(), "starts").Val(); got != "2" {
		t.Fatalf("counter %q after a kill, want 2", got)
	}
}

func TestSecondRedisOnTheSameFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startRedis(t, embedded.Options{Dir: dir})
	if _, err := embedded.StartRedis(t.Context(), embedded.Options{Dir: dir}); !errors.Is(err, embedded.ErrLocked) {
		t.Fatalf("got %v", err)
	}
}

func TestInProcessRedisIsHonest(t *testing.T) {
	t.Parallel()
	r, client := startRedis(t, embedded.Options{InProcess: true})
	if r.Durable() || !strings.Contains(r.Banner(), "test server that keeps nothing") {
		t.Errorf("durable %v, banner %q", r.Durable(), r.Banner())
	}
	if err := client.Set(t.Context(), "lease", "me", 50*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, "the key expires by itself", func() bool { return client.Exists(t.Context(), "lease").Val() == 0 })
	if err := redisAs(t, r, "wrong").Ping(t.Context()).Err(); err == nil {
		t.Error("a wrong password got in")
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
}
