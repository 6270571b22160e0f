package recorder

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/sony/gobreaker/v2"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Trials that hang say nothing about a failure after the store is back.
func TestHungTrialsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(true, quiet(), func(gobreaker.State) {})
		hang := func() error { <-time.After(6 * time.Second); return errAway }
		for range 3 {
			if err := b.do(t.Context(), hang); !errors.Is(err, errAway) {
				t.Fatal(err)
			}
			<-time.After(b.wait())
		}
		for _, answer := range []error{nil, nil, nil, errAway, nil} {
			if err := b.do(t.Context(), func() error { return answer }); !errors.Is(err, answer) {
				t.Error(err)
			}
		}
		if !b.closed() {
			t.Errorf("one failure, and the breaker is %s", b.name())
		}
	})
}

func TestBreakerOpens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls string // x fails, ! fails after six seconds, p is refused for good
		asked int    // how many are let through
	}{
		{"xx", 2},
		{"xxx.", 3},
		{".........xxx.", 12},
		{"x.x.", 3},
		{"...xx.", 5},
		{"..x..", 5},
		{"x......x...", 11},
		{"pppppp", 6},
		{"!.", 1},
	} {
		t.Run(c.calls, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker(true, quiet(), func(gobreaker.State) {})
				asked := 0
				for _, answer := range c.calls {
					_ = b.do(t.Context(), func() error {
						asked++
						switch answer {
						case '.':
							return nil
						case 'p':
							return &resultstore.RowError{}
						case '!':
							<-time.After(6 * time.Second)
						}
						return errAway
					})
				}
				if open := c.asked < len(c.calls); asked != c.asked || b.closed() == open {
					t.Errorf("%d calls let through, state %s", asked, b.name())
				}
			})
		})
	}
}

func TestBreakerForgetsOldFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(true, quiet(), func(gobreaker.State) {})
		for i := range 10 {
			_ = b.do(t.Context(), func() error {
				if i%2 == 0 {
					return errAway
				}
				return nil
			})
			<-time.After(11 * time.Second)
		}
		if !b.closed() {
			t.Error("opened for failures twenty seconds apart")
		}
	})
}

func TestCutOffCallSaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(true, quiet(), func(gobreaker.State) {})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 9 {
			if err := b.do(ctx, func() error { return errAway }); !errors.Is(err, errAway) {
				t.Fatalf("answered %v", err)
			}
		}
	})
}

func TestTrialsComeEveryTwoSecondsOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(true, quiet(), func(gobreaker.State) {})
		failing := func() error { return errAway }
		for range 3 {
			_ = b.do(t.Context(), failing)
		}
		for trial := range 5 {
			start := time.Now()
			for errors.Is(b.do(t.Context(), failing), errNotAsked) {
				<-time.After(10 * time.Millisecond)
			}
			if took := time.Since(start); took < 2*time.Second || took > 2300*time.Millisecond {
				t.Errorf("trial %d after %v", trial, took)
			}
		}
		<-time.After(b.wait())
		release, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			_ = b.do(t.Context(), func() error { <-release; return nil })
		}()
		synctest.Wait()
		if b.name() != "half_open" {
			t.Errorf("state %s during a trial", b.name())
		}
		if err := b.do(t.Context(), func() error { t.Error("a second trial"); return nil }); !errors.Is(err, errNotAsked) {
			t.Errorf("answered %v", err)
		}
		close(release)
		<-ended
		if !b.closed() {
			t.Errorf("state %s after a trial that worked", b.name())
		}
	})
}

// watched counts how many calls are made at once, and how many during a trial.
type watched struct {
	*table
	mu         sync.Mutex
	r          *Recorder
	now, worst int
}

func (w *watched) Insert(ctx context.Context, b resultstore.Batch) error {
	w.mu.Lock()
	if w.now++; w.r.breaker.now() == gobreaker.StateHalfOpen {
		w.worst = max(w.worst, w.now)
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now--
	}()
	return w.table.Insert(ctx, b)
}

// A store that fails half of the time opens the breaker within seconds, does not make
// it flap, and loses nothing.
func TestStoreThatFailsHalfOfTheTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			store := &watched{table: newTable()}
			store.slow = 5 * time.Millisecond
			store.fail = func(resultstore.Batch) (error, bool) {
				if rng.IntN(2) == 0 {
					return errAway, rng.IntN(2) == 0
				}
				return nil, true
			}
			registry := prometheus.NewRegistry()
			r := New(store, Options{MaxAge: 50 * time.Millisecond, Spool: openSpool(t, spooltest.New(), 0), Metrics: registry})
			store.r = r
			pauses := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			r.breaker.random = func(below time.Duration) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(pauses.Int64N(int64(below)))
			}
			var openings []time.Time
			was := r.breaker.count
			before := gobreaker.StateClosed
			r.breaker.count = func(to gobreaker.State) { // never called by two at once
				if was(to); to == gobreaker.StateOpen && before == gobreaker.StateClosed {
					openings = append(openings, time.Now())
				}
				before = to
			}
			stop := start(t, r)
			began := time.Now()
			quit := make(chan struct{})
			var feeding sync.WaitGroup
			records := 0
			feeding.Go(func() {
				feed(t, r, 3, 200*time.Millisecond, quit, func(_ time.Duration, err error) {
					if records++; err != nil {
						t.Error(err)
					}
				})
			})
			await(t, 5*time.Second, "open", func() bool { return r.State().Breaker != "closed" })
			if got := testutil.ToFloat64(r.metrics.transitions.WithLabelValues("open")); got != 1 {
				t.Errorf("%v openings counted", got)
			}
			<-time.After(4 * time.Minute)
			store.set(nil)
			close(quit)
			feeding.Wait()
			await(t, 2*time.Minute, "drained", func() bool { return r.State().Spool.Batches == 0 && r.State().Buffered == 0 })
			if err := stop(); err != nil {
				t.Error(err)
			}
			for i := range openings {
				if i >= 2 && openings[i].Sub(openings[i-2]) <= time.Minute {
					t.Errorf("seed %d: openings %v, %v and %v after the start", seed, openings[i-2].Sub(began), openings[i-1].Sub(began), openings[i].Sub(began))
				}
			}
			if len(openings) < 4 {
				t.Errorf("only %d openings: the test has lost its point", len(openings))
			}
			if got := store.has(t); got != 3*records {
				t.Errorf("%d slots stored, %d recorded", got, 3*records)
			}
			if store.worst != 1 {
				t.Errorf("%d calls during a trial", store.worst)
			}
		})
	}
}
