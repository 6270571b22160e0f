package testbackend

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/deploy/embedded"
)

const (
	install  = "run `make deps` to install what the tests need"
	deadline = 60 * time.Second
)

// shared holds the servers of this test binary. Tests have no other place for
// what must outlive one test and end with the process.
var shared struct {
	mu     sync.Mutex
	ran    bool   // Run is on the stack
	dir    string // of this binary's servers
	unlock func()
	stops  []func()

	redis    lazy[*redisHost]
	postgres lazy[*postgresHost]
	click    lazy[*clickHost]
}

// lazy starts something on first use. A failed start is not tried again: the
// next test would only wait for the same failure.
type lazy[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (l *lazy[T]) get(start func() (T, error)) (T, error) {
	l.once.Do(func() { l.value, l.err = start() })
	return l.value, l.err
}

// Main runs the tests of a package, stops the servers and exits.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain with work of its own afterwards: it returns the
// exit code when the servers have stopped.
func Run(m *testing.M) int {
	if code, ran := embedded.MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	shared.mu.Lock()
	shared.ran = true
	shared.mu.Unlock()
	code := m.Run()
	stopAll()
	return code
}

func stopAll() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	var wait sync.WaitGroup
	for _, stop := range shared.stops {
		wait.Go(stop)
	}
	wait.Wait()
	shared.stops = nil
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
		shared.unlock()
	}
}

// atExit registers how to stop a server of this binary.
func atExit(stop func()) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.stops = append(shared.stops, stop)
}

// serverDir makes a data folder for a server of this binary.
func serverDir(name string) (string, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.ran {
		return "", fmt.Errorf("the package's TestMain must call testbackend.Main(m)")
	}
	if shared.dir == "" {
		dir, unlock, err := ownDir()
		if err != nil {
			return "", err
		}
		shared.dir, shared.unlock = dir, unlock
	}
	return os.MkdirTemp(shared.dir, name+"-")
}

func quietly() *slog.Logger { return slog.New(slog.DiscardHandler) }

// soon bounds the start or stop of a server.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), deadline)
}
