package testbackend

import (
	"testing"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// Server is a whole server that one test may break. Its address and its data
// stay the same over Stop, Kill and Restart. Its methods are for the test's
// own goroutine.
type Server struct {
	t       testing.TB
	name    string
	current running
	start   func() (running, error)
}

// running is what an embedded Redis and an embedded ClickHouse have in common.
type running interface {
	URL() string
	PID() int
	Kill()
	stop() error
}

type runningRedis struct{ *embedded.Redis }

func (r runningRedis) stop() error {
	ctx, cancel := soon()
	defer cancel()
	return r.Stop(ctx)
}

type runningClick struct{ *embedded.ClickHouse }

func (c runningClick) stop() error {
	ctx, cancel := soon()
	defer cancel()
	return c.Stop(ctx)
}

// RedisServer starts a redis-server of the test's own, with an append-only
// file that is kept over a restart.
func RedisServer(t testing.TB) *Server {
	t.Helper()
	dir, err := serverDir("redis")
	if err != nil {
		t.Fatalf("redis for tests: %v", err)
	}
	port := Port(t)
	return newServer(t, "redis", func() (running, error) {
		r, err := startRedis(port, dir)
		if err != nil {
			return nil, err
		}
		return runningRedis{r}, nil
	})
}

// ClickHouseServer starts an engine of the test's own. URL leads to its
// database `probefleet`, which is empty at first.
func ClickHouseServer(t testing.TB) *Server {
	t.Helper()
	dir, err := serverDir("clickhouse")
	if err != nil {
		t.Fatalf("clickhouse for tests: %v", err)
	}
	o := embedded.Options{Dir: dir, HTTPPort: Port(t), TCPPort: Port(t)}
	return newServer(t, "clickhouse", func() (running, error) {
		c, err := startClickHouse(o)
		if err != nil {
			return nil, err
		}
		return runningClick{c}, nil
	})
}

func newServer(t testing.TB, name string, start func() (running, error)) *Server {
	t.Helper()
	s := &Server{t: t, name: name, start: start}
	s.Restart()
	t.Cleanup(func() { s.current.Kill() })
	return s
}

// URL stays the same over restarts.
func (s *Server) URL() string { return s.current.URL() }

// PID changes with each restart; send it SIGSTOP and SIGCONT to freeze it.
func (s *Server) PID() int { return s.current.PID() }

// Stop ends the server cleanly.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.current.stop(); err != nil {
		s.t.Fatalf("%s for tests: %v", s.name, err)
	}
}

// Kill ends the server as a crash would.
func (s *Server) Kill() { s.current.Kill() }

// Restart starts the server again, on its port and with its data, after Stop
// or Kill; a running one is stopped first.
func (s *Server) Restart() {
	s.t.Helper()
	if s.current != nil {
		s.Stop()
	}
	current, err := s.start()
	if err != nil {
		s.t.Fatalf("%s for tests: %v", s.name, err)
	}
	s.current = current
}
