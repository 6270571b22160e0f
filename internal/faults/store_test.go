package faults

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// store is the Redis or the ClickHouse of the fleet. Its address and data stay the
// same over its lives.
type store struct {
	name, dir string
	current   running
	begin     func(ctx context.Context) (running, error)
}

type running interface {
	URL() string
	PID() int
	Kill()
	Stop(ctx context.Context) error
	Done() <-chan struct{}
}

func newRedis(t testing.TB, dir string) *store {
	t.Helper()
	port := testbackend.Port(t)
	return newStore(t, "redis", dir, func(ctx context.Context) (running, error) {
		r, err := embedded.StartRedis(ctx, embedded.Options{Dir: dir, Port: port})
		if err == nil {
			if !r.Durable() {
				t.Fatal("no redis-server on PATH: run `make deps`")
			}
		}
		return r, err
	})
}

func newClickHouse(t testing.TB, dir string) *store {
	t.Helper()
	library, err := embedded.FindEngine("")
	if err != nil {
		t.Fatalf("%v: run `make deps`", err)
	}
	o := embedded.Options{Dir: dir, LibPath: library, HTTPPort: testbackend.Port(t), TCPPort: testbackend.Port(t)}
	return newStore(t, "clickhouse", dir, func(ctx context.Context) (running, error) { return embedded.StartClickHouse(ctx, o) })
}

func newStore(t testing.TB, name, dir string, begin func(context.Context) (running, error)) *store {
	t.Helper()
	s := &store{name: name, dir: dir, begin: begin}
	s.start(t)
	t.Cleanup(func() { s.current.Kill() })
	return s
}

// kill ends it as a crash would.
func (s *store) kill() { s.current.Kill() }

// stop ends it cleanly.
func (s *store) stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.current.Stop(ctx); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// start starts it where it was; nothing happens while it runs.
func (s *store) start(t testing.TB) {
	t.Helper()
	if s.runs() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	current, err := s.begin(ctx)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	s.current = current
}

// freeze stops it in its tracks; thaw lets it go on.
func (s *store) freeze() { _ = syscall.Kill(s.current.PID(), syscall.SIGSTOP) }
func (s *store) thaw() {
	if s.runs() {
		_ = syscall.Kill(s.current.PID(), syscall.SIGCONT)
	}
}

// forget removes the data of a Redis that does not run: it starts empty.
func (s *store) forget(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(s.dir, "appendonlydir")); err != nil {
		t.Fatal(err)
	}
}

func (s *store) runs() bool {
	if s.current == nil {
		return false
	}
	select {
	case <-s.current.Done():
		return false
	default:
		return true
	}
}

// url is the direct way to it, past every edge.
func (s *store) url() string { return s.current.URL() }

// through is its URL by way of an edge.
func through(t testing.TB, address string, e *edge) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = e.address()
	return u.String()
}

func hostOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
