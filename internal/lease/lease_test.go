package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// server is a key with a time to live, for bubbles of fake time.
type server struct {
	mu     sync.Mutex
	holder string
	until  time.Time
	down   bool
}

type client struct {
	s      *server
	name   string
	frozen time.Duration // how long the next request stays on its way back
}

var errDown = errors.New("down")

func (c *client) take(ctx context.Context) (bool, error) {
	c.s.mu.Lock()
	if c.s.down {
		c.s.mu.Unlock()
		<-ctx.Done()
		return false, ctx.Err()
	}
	mine := c.s.holder == c.name || !time.Now().Before(c.s.until)
	if mine {
		c.s.holder, c.s.until = c.name, time.Now().Add(ttl)
	}
	late := c.frozen
	c.frozen = 0
	c.s.mu.Unlock()
	if late > 0 {
		<-time.After(late)
	}
	return mine, nil
}

func (c *client) release(context.Context) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.down {
		return errDown
	}
	if c.s.holder == c.name {
		c.s.until = time.Time{}
	}
	return nil
}

func (s *server) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// tick lets fake time pass and checks at each step that at most one holds.
func tick(t *testing.T, d time.Duration, leases ...*Lease) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		<-time.After(50 * time.Millisecond)
		held := 0
		for _, l := range leases {
			if l.Held() {
				held++
			}
		}
		if held > 1 {
			t.Fatalf("%d hold it", held)
		}
	}
}

func run(ctx context.Context, l *Lease) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { _ = l.Run(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

// Promise: one process holds a lease, and another takes over when it stops
func TestOneHoldsAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		a, b := newLease(&client{s: s, name: "a"}, quiet()), newLease(&client{s: s, name: "b"}, quiet())
		stopA := run(t.Context(), a)
		<-a.Changed()
		stopB := run(t.Context(), b)
		defer stopB()
		tick(t, time.Minute, a, b)
		if !a.Held() || b.Held() {
			t.Fatal("the holder changed without a reason")
		}
		stopA() // gives it back
		if a.Held() {
			t.Fatal("held after the end")
		}
		tick(t, standbyTry+100*time.Millisecond, a, b)
		if !b.Held() {
			t.Fatal("not taken at once after it was given back")
		}
	})
}

func TestHolderStepsDownWithoutAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		a, b := newLease(&client{s: s, name: "a"}, quiet()), newLease(&client{s: s, name: "b"}, quiet())
		defer run(t.Context(), a)()
		<-a.Changed()
		defer run(t.Context(), b)()
		s.set(true)
		lost := time.Now()
		<-a.Changed()
		if took := time.Since(lost); a.Held() || took > stepDown+100*time.Millisecond {
			t.Fatalf("stepped down after %v", took)
		}
		tick(t, time.Minute, a, b)
		if a.Held() || b.Held() {
			t.Fatal("held without a server")
		}
		s.set(false)
		tick(t, 2*time.Second, a, b)
		if !a.Held() && !b.Held() {
			t.Fatal("nobody took it again")
		}
	})
}

func TestLateAnswerDoesNotCountAsFresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		// The process stands still between the server's yes and reading it.
		frozen := &client{s: s, name: "a", frozen: ttl + time.Second}
		a, b := newLease(frozen, quiet()), newLease(&client{s: s, name: "b"}, quiet())
		defer run(t.Context(), a)()
		tick(t, 100*time.Millisecond, a)
		defer run(t.Context(), b)()
		tick(t, time.Minute, a, b)
		if a.Held() || !b.Held() {
			t.Fatal("the one that was frozen holds it")
		}
	})
}

func TestTwoProcessesOneRedis(t *testing.T) {
	t.Parallel()
	server := testbackend.Redis(t)
	open := func() *checkstream.Redis {
		r, err := checkstream.Open(server)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	ra, rb := open(), open()
	a, b := New(ra, "publisher", "a", quiet()), New(rb, "publisher", "b", quiet())
	defer run(t.Context(), a)()
	<-a.Changed()
	stopB := run(t.Context(), b)

	// As a crash would: no release, no renewal, nothing more from a.
	if err := ra.Close(); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(2 * time.Minute)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !b.Held() {
		select {
		case <-deadline:
			t.Fatal("not taken over")
		case <-poll.C:
		}
		// Asked in this order: b may not take it between the questions.
		if b.Held() && a.Held() {
			t.Fatal("two hold it")
		}
	}
	stopB()
	if given, err := newRedisStore(open(), "publisher", "c").take(t.Context()); err != nil || !given {
		t.Fatalf("not given back: %v", err)
	}
}

func TestEmbeddedServer(t *testing.T) {
	t.Parallel()
	_, url := testbackend.Miniredis(t)
	r, err := checkstream.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	for range 3 {
		stores := []*redisStore{newRedisStore(r, "x", "a"), newRedisStore(r, "x", "b")}
		for i, want := range []bool{true, false} {
			if mine, err := stores[i].take(t.Context()); err != nil || mine != want {
				t.Fatal(i, mine, err)
			}
		}
		for _, s := range []*redisStore{stores[1], stores[0]} {
			if err := s.release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestHolderIsOnlyLookedAt(t *testing.T) {
	t.Parallel()
	r, err := checkstream.Open(testbackend.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	look := NewHolder(r, "job")
	if who, err := look(t.Context()); err != nil || who != "" {
		t.Fatal(who, err)
	}
	if mine, err := newRedisStore(r, "job", "one").take(t.Context()); err != nil || !mine {
		t.Fatal(mine, err)
	}
	if who, err := look(t.Context()); err != nil || who != "one" {
		t.Fatal(who, err)
	}
}
