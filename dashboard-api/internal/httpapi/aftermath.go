package httpapi

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
)

// Announcer tells publishers and other nodes that targets have changed.
type Announcer interface {
	AnnounceChanges(context.Context, ...livefeed.Change) error
}

// Tombstones tell probers that a target is gone.
type Tombstones interface {
	Tombstone(ctx context.Context, targetIDs ...int64) error
}

const (
	aftermathCall = 3 * time.Second
	aftermathPart = 1000 // changes a call
)

// Aftermath tells Redis what was written to the database, in order, without making
// the write wait. All is tried once: the database holds every change and every
// deletion that is not finished, reconciliation and the publisher go by that.
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

// Run works until ctx ends; what is queued by then gets a try, too.
func (a *Aftermath) Run(ctx context.Context) error {
	for {
		select {
		case <-a.wake:
			a.runOnce(ctx)
		case <-ctx.Done():
			a.runOnce(context.WithoutCancel(ctx))
			return ctx.Err()
		}
	}
}

// runOnce tells what is queued until a call fails: then Redis is down, and waiting
// for it once more helps nobody.
func (a *Aftermath) runOnce(ctx context.Context) {
	a.mu.Lock()
	changes := a.pending
	a.pending = nil
	a.mu.Unlock()
	var gone []int64
	for _, change := range changes {
		if change.Op == opDeleted {
			gone = append(gone, change.TargetID)
		}
	}
	if len(gone) > 0 {
		err := try(ctx, func(ctx context.Context) error { return a.tombstones.Tombstone(ctx, gone...) })
		if err != nil {
			a.log.Warn("changes not announced: reconciliation and the publisher will find them", "count", len(changes), "error", err)
			return
		}
	}
	told := 0
	for part := range slices.Chunk(changes, aftermathPart) {
		if err := try(ctx, func(ctx context.Context) error { return a.announcer.AnnounceChanges(ctx, part...) }); err != nil {
			a.log.Warn("changes not announced: reconciliation will find them", "count", len(changes)-told, "error", err)
			return
		}
		told += len(part)
	}
}

func try(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, aftermathCall)
	defer cancel()
	return call(ctx)
}
