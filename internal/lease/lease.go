package lease

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

const (
	ttl        = 5 * time.Second
	renewEvery = 1500 * time.Millisecond
	stepDown   = 3500 * time.Millisecond // well before ttl: clocks drift and replies take time
	standbyTry = time.Second
	retry      = 300 * time.Millisecond
	attempt    = time.Second // the longest one request may take
)

// store keeps the key. take sets it unless somebody else holds it, or renews it.
type store interface {
	take(ctx context.Context) (bool, error)
	release(ctx context.Context) error
}

// Lease is one process's claim to a job.
type Lease struct {
	store   store
	log     *slog.Logger
	changed chan struct{}

	mu    sync.Mutex
	since time.Time // when the last successful request was sent; zero: not held
	owed  bool      // given up, and its key not removed yet
	rests time.Time // until then it is left to others
	told  bool      // what Changed last told
}

// New makes the claim of holder, which must be different in every process, to name.
func New(r *checkstream.Redis, name, holder string, log *slog.Logger) *Lease {
	return newLease(newRedisStore(r, name, holder), log.With("lease", name))
}

func newLease(s store, log *slog.Logger) *Lease {
	return &Lease{store: s, log: log, changed: make(chan struct{}, 1)}
}

// Held says whether this process holds the lease right now.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held()
}

func (l *Lease) held() bool {
	now := time.Now()
	if l.since.IsZero() || now.Before(l.rests) {
		return false
	}
	// The wall clock as well: the monotonic one may stand still while a machine sleeps.
	elapsed := max(now.Sub(l.since), now.Round(0).Sub(l.since.Round(0)))
	return elapsed < stepDown
}

// Changed receives after Held has changed; several changes may be told as one.
func (l *Lease) Changed() <-chan struct{} { return l.changed }

// Yield leaves the lease to others for a while: for a holder that cannot do the job.
func (l *Lease) Yield(d time.Duration) {
	l.mu.Lock()
	l.owed = l.owed || !l.since.IsZero()
	l.since, l.rests = time.Time{}, time.Now().Add(d)
	l.mu.Unlock()
	l.tell()
}

func (l *Lease) resting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.rests)
}

// Run holds on to the lease until ctx ends, and then gives it back.
func (l *Lease) Run(ctx context.Context) error {
	defer l.giveBack(context.WithoutCancel(ctx))
	for {
		wait := l.runOnce(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// runOnce makes one attempt to take or renew, and says when to make the next.
func (l *Lease) runOnce(ctx context.Context) time.Duration {
	l.tell() // what ran out since the last attempt
	if l.resting() {
		l.release(ctx) // it runs out by itself, unless the server's clock goes back
		return retry
	}
	sent := time.Now()
	limit := attempt
	if left := l.left(); left > 0 {
		limit = min(limit, left)
	}
	tryCtx, cancel := context.WithTimeout(ctx, limit)
	mine, err := l.store.take(tryCtx)
	cancel()
	switch {
	case err != nil:
		l.tell() // the time may have run out meanwhile
		if left := l.left(); left > 0 {
			return min(retry, left)
		}
		return retry
	case mine:
		l.set(sent)
		return renewEvery
	default:
		l.set(time.Time{})
		return standbyTry
	}
}

// left is how long we may still believe without a renewal.
func (l *Lease) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held() {
		return 0
	}
	return stepDown - time.Since(l.since)
}

func (l *Lease) set(since time.Time) {
	l.mu.Lock()
	l.since = since
	l.mu.Unlock()
	l.tell()
}

// tell reports a change of Held, if there is one.
func (l *Lease) tell() {
	l.mu.Lock()
	held := l.held()
	changed := held != l.told
	l.told = held
	l.mu.Unlock()
	if !changed {
		return
	}
	if held {
		l.log.Info("lease taken")
	} else {
		l.log.Warn("lease lost")
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// giveBack stops believing first, so that nobody else can hold it at the same time.
func (l *Lease) giveBack(ctx context.Context) {
	l.mu.Lock()
	l.owed = l.owed || !l.since.IsZero()
	l.since = time.Time{}
	l.mu.Unlock()
	l.tell()
	l.release(ctx)
}

// release removes the key of a lease that is not believed in any more.
func (l *Lease) release(ctx context.Context) {
	l.mu.Lock()
	owed := l.owed
	l.mu.Unlock()
	if !owed {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	if err := l.store.release(ctx); err != nil {
		l.log.Warn("lease not given back", "error", err)
		return
	}
	l.mu.Lock()
	l.owed = false
	l.mu.Unlock()
}
