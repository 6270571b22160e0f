package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
)

// Announcer tells publishers and other nodes that a target has changed.
type Announcer interface {
	AnnounceChange(context.Context, livefeed.Change) error
}

// Tombstones tell probers that a target is gone.
type Tombstones interface {
	Tombstone(ctx context.Context, targetID int64) error
}

const (
	aftermathRetry = time.Second
	aftermathCall  = 3 * time.Second
	tombstoneKept  = 10 * time.Minute // longer than any check of the target can be worth running
)

// Aftermath tells Redis what was written to the database, in order, without making
// the write wait. Announcements are tried once: reconciliation finds what was lost.
// Tombstones are tried until they are there or can no longer matter.
type Aftermath struct {
	announcer  Announcer
	tombstones Tombstones
	log        *slog.Logger

	mu      sync.Mutex
	pending []livefeed.Change
	wake    chan struct{}
}

// NewAftermath makes one; Run does the work.
func NewAftermath(announcer Announcer, tombstones Tombstones, log *slog.Logger) *Aftermath {
	return &Aftermath{announcer: announcer, tombstones: tombstones, log: log, wake: make(chan struct{}, 1)}
}

// Add queues a change. It never blocks.
func (a *Aftermath) Add(change livefeed.Change) {
	a.mu.Lock()
	a.pending = append(a.pending, change)
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends; what is queued by then gets one last try.
func (a *Aftermath) Run(ctx context.Context) error {
	retry := time.NewTicker(aftermathRetry)
	defer retry.Stop()
	owed := map[int64]time.Time{} // tombstones not written yet, since when
	for {
		select {
		case <-a.wake:
			a.runOnce(ctx, owed)
		case <-retry.C:
			a.bury(ctx, owed)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), aftermathCall)
			defer cancel()
			a.runOnce(last, owed)
			a.bury(last, owed)
			return ctx.Err()
		}
	}
}

func (a *Aftermath) runOnce(ctx context.Context, owed map[int64]time.Time) {
	a.mu.Lock()
	changes := a.pending
	a.pending = nil
	a.mu.Unlock()
	failed := 0
	for _, change := range changes {
		if change.Op == opDeleted {
			owed[change.TargetID] = time.Now()
		}
		if failed > 0 {
			failed++
			continue // Redis is down: do not wait for each
		}
		if err := a.announce(ctx, change); err != nil {
			failed++
			a.log.Warn("change not announced: reconciliation will find it", "target_id", change.TargetID, "op", change.Op, "error", err)
		}
	}
	a.bury(ctx, owed)
	if failed > 1 {
		a.log.Warn("more changes not announced", "count", failed-1)
	}
}

func (a *Aftermath) announce(ctx context.Context, change livefeed.Change) error {
	ctx, cancel := context.WithTimeout(ctx, aftermathCall)
	defer cancel()
	return a.announcer.AnnounceChange(ctx, change)
}

// bury writes the tombstones that are owed, until one fails.
func (a *Aftermath) bury(ctx context.Context, owed map[int64]time.Time) {
	for id, since := range owed {
		if time.Since(since) > tombstoneKept {
			delete(owed, id)
			continue
		}
		call, cancel := context.WithTimeout(ctx, aftermathCall)
		err := a.tombstones.Tombstone(call, id)
		cancel()
		if err != nil {
			a.log.Warn("tombstone not written: will try again", "target_id", id, "owed", len(owed), "error", err)
			return
		}
		delete(owed, id)
	}
}
