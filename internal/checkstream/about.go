package checkstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	aboutEvery   = 30 * time.Second
	aboutTimeout = 3 * time.Second
)

// Server is what a server of Redis is, as health pages and the fleet show it.
type Server struct {
	Version  string `json:"version"`
	Embedded bool   `json:"embedded"`
	Durable  bool   `json:"durable"`        // keeps its data over a restart
	Note     string `json:"note,omitempty"` // for people
}

const embeddedNote = "the embedded stand-in for Redis: a restart of it loses what is in the streams"

// Server asks the server about itself.
func (f *Fleet) Server(ctx context.Context) (Server, error) {
	info, err := f.r.commands.Info(ctx).Result()
	if err != nil {
		return Server{}, fmt.Errorf("redis info: %w", err)
	}
	return serverOf(info), nil
}

func serverOf(info string) Server {
	for line := range strings.Lines(info) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return Server{Version: version, Durable: strings.Contains(info, "aof_enabled:1")}
		}
	}
	return Server{Version: "embedded", Embedded: true, Note: embeddedNote} // only that one says nothing about itself
}

// LastTick is the last second that was published completely; zero when none was.
func (f *Fleet) LastTick(ctx context.Context) (time.Time, error) {
	text, err := f.r.commands.HGet(ctx, keyClock, "tick").Result()
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("last tick: %w", err)
	}
	second, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("last tick: %w", err)
	}
	return time.Unix(second, 0).UTC(), nil
}

// About keeps what the server was when it was last asked, so that a health page
// never waits for it.
type About struct {
	fleet *Fleet
	last  atomic.Pointer[Server]
}

// NewAbout makes one; Run does the asking.
func NewAbout(r *Redis) *About {
	a := &About{fleet: NewFleet(r)}
	a.last.Store(&Server{Note: "not asked yet"})
	return a
}

// Last is the last answer.
func (a *About) Last() Server { return *a.last.Load() }

// Run asks at once and then now and then, until ctx ends. Without an answer the last
// one stays: whether Redis can be reached is said elsewhere.
func (a *About) Run(ctx context.Context) error {
	ticker := time.NewTicker(aboutEvery)
	defer ticker.Stop()
	for {
		a.ask(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (a *About) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, aboutTimeout)
	defer cancel()
	if server, err := a.fleet.Server(ctx); err == nil {
		a.last.Store(&server)
	}
}
