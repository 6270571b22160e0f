package deletion

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
)

// Notes say what was deleted and how far its removal has come.
type Notes interface {
	Unfinished(ctx context.Context, afterID int64, limit int) ([]targetstore.Deletion, error)
	DeletedSince(ctx context.Context, since time.Time, afterID int64, limit int) ([]targetstore.Deletion, error)
	CountDeletions(ctx context.Context, since time.Time) (targetstore.DeletionCounts, error)
	MarkTombstoned(ctx context.Context, ids []int64, at time.Time) error
	MarkUntold(ctx context.Context, ids []int64, problem string) error

	Owed(ctx context.Context, step, source string, due time.Time, afterID int64, limit int) ([]targetstore.Owed, error)
	Watched(ctx context.Context, step string, due, requestedSince time.Time, limit int) ([]targetstore.Owed, error)
	MarkLooked(ctx context.Context, step string, at time.Time, looks []targetstore.Look) error
	MarkFailed(ctx context.Context, step string, ids []int64, problem string) error
	FinishDeletions(ctx context.Context, steps []string, at time.Time) (int64, error)
}

// Tombstones tell probers, and whoever replays a spool, that targets are gone.
type Tombstones interface {
	Tombstones(ctx context.Context) (int64, error)
	Tombstoned(ctx context.Context, ids []int64) (map[int64]bool, error)
	Tombstone(ctx context.Context, ids ...int64) error
	PruneTombstones(ctx context.Context, age time.Duration) error
}

// Rows are the results and what is made from them, in tables.
type Rows interface {
	TargetsWithRows(ctx context.Context, ids []int64, tables ...string) ([]int64, error)
	DeleteTargets(ctx context.Context, ids []int64, tables ...string) error
	EraseDeleted(ctx context.Context, table string) error
	RawKept() time.Duration // as far as is known
	Kept(ctx context.Context) (resultstore.Retentions, error)
}

// Checks are those on demand, such as the ones that targets are previewed with.
type Checks interface {
	OfTargets(ctx context.Context, targets []int64) ([]int64, error)
	DeleteOfTargets(ctx context.Context, targets []int64) error
}

// Changes tell every API that a target is gone.
type Changes interface {
	AnnounceChanges(ctx context.Context, changes ...livefeed.Change) error
}

// Lease says whether this publisher is the one to work.
type Lease interface{ Held() bool }

// Health is where trouble is told.
type Health interface {
	Set(component string, level service.Level, reason string)
}

var (
	_ Notes      = (*targetstore.Store)(nil)
	_ Tombstones = (*checkstream.Redis)(nil)
	_ Rows       = (*resultstore.Store)(nil)
	_ Checks     = (*jobstore.Store)(nil)
	_ Changes    = (*livefeed.Announcer)(nil)
	_ Lease      = (*lease.Lease)(nil)
	_ Health     = (*service.Health)(nil)
)
