package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"

	"github.com/alicebob/miniredis/v2"
)

// Redis is a running Redis: a redis-server child, or the in-process stand-in.
// Its methods may be called from any goroutine.
type Redis struct {
	port    int
	pass    string
	version string

	server *process // nil when in-process

	memory *miniredis.Miniredis // nil when a redis-server runs
	once   sync.Once
	gone   chan struct{}
}

// StartRedis starts redis-server (or valkey-server) from PATH and returns when
// it has loaded its data. Where there is none, it serves from this process
// instead and keeps nothing: see Durable and Banner.
func StartRedis(ctx context.Context, o Options) (*Redis, error) {
	if err := o.prepare(); err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	start := startMemory
	if program := findRedis(); program != "" && !o.InProcess {
		start = func(ctx context.Context, o Options) (*Redis, error) { return startServer(ctx, program, o) }
	}
	for attempt := 1; ; attempt++ {
		r, err := start(ctx, o)
		if errors.Is(err, errPortTaken) && attempt < portAttempts && o.Port == 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("start Redis: %w", err)
		}
		o.Log.Info("redis started", "kind", r.Kind(), "version", r.version, "port", r.port, "durable", r.Durable())
		return r, nil
	}
}

// startMemory serves from this process with miniredis, on TCP because the
// services are other processes.
func startMemory(_ context.Context, o Options) (*Redis, error) {
	pass, err := password(o.Dir)
	if err != nil {
		return nil, err
	}
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true) // else nothing ever expires
	m.RequireAuth(pass)
	if err := m.StartAddr(net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	port, err := strconv.Atoi(m.Port())
	if err != nil {
		m.Close()
		return nil, err
	}
	return &Redis{port: port, pass: pass, version: "in-process", memory: m, gone: make(chan struct{})}, nil
}

// URL leads to database 0, with the password.
func (r *Redis) URL() string {
	return (&url.URL{Scheme: "redis", User: url.UserPassword("", r.pass), Host: r.address(), Path: "/0"}).String()
}

func (r *Redis) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }

// Port lets a restart keep the address that clients hold.
func (r *Redis) Port() int { return r.port }

// Durable says whether queued checks outlive a restart.
func (r *Redis) Durable() bool { return r.server != nil }

// Kind is "redis-server" or "in-process".
func (r *Redis) Kind() string {
	if r.server != nil {
		return "redis-server"
	}
	return "in-process"
}

// Banner is what to tell the operator about this Redis, in one line.
func (r *Redis) Banner() string {
	if r.server != nil {
		return "Redis " + r.version + " on " + r.address() + ", append-only file synced every second"
	}
	return "Redis in this process on " + r.address() +
		": a test server that keeps nothing. A restart loses the queued checks (they are recorded as missed). Install redis-server or set REDIS_URL."
}

// PID is the server's process id; in-process it is this program's.
func (r *Redis) PID() int {
	if r.server != nil {
		return r.server.pid()
	}
	return os.Getpid()
}

// Done is closed when Redis has ended, for whatever reason.
func (r *Redis) Done() <-chan struct{} {
	if r.server != nil {
		return r.server.done
	}
	return r.gone
}

// Stop ends Redis; redis-server syncs its data first.
func (r *Redis) Stop(ctx context.Context) error {
	if r.server == nil {
		r.once.Do(func() { r.memory.Close(); close(r.gone) })
		return nil
	}
	if err := r.server.stop(ctx); err != nil {
		return fmt.Errorf("stop Redis: %w", err)
	}
	return nil
}

// Kill ends Redis as a crash would.
func (r *Redis) Kill() {
	if r.server == nil {
		_ = r.Stop(context.Background())
		return
	}
	r.server.kill()
}
