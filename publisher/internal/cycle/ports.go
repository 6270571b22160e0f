package cycle

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Stream is the publisher's end of the stream of checks.
type Stream interface {
	Clock(ctx context.Context) (checkstream.Clock, error)
	Raise(ctx context.Context, seq int64) (tick int64, err error)
	Publish(ctx context.Context, chunk checkstream.Chunk) (added int, err error)
	Skip(ctx context.Context, seq, toSecond int64) error
	Refused(ctx context.Context) (map[int64]int64, error)
	ClearRefused(ctx context.Context, second int64) error
	EnsureGroups(ctx context.Context, regions []string) error
}

// Upkeep is what keeps the stream short and its groups right.
type Upkeep interface {
	Trim(ctx context.Context) (checkstream.TrimReport, error)
	Expired(ctx context.Context, region string, now time.Time, limit int) ([]checkstream.Entry, error)
	Settle(ctx context.Context, region string, ids []string) error
	Groups(ctx context.Context) ([]checkstream.GroupInfo, error)
	DestroyGroup(ctx context.Context, region string) error
	Probers(ctx context.Context) ([]checkstream.Heartbeat, error)
	ForgetProber(ctx context.Context, region, name string) error
}

// Versions is the schedule in the database.
type Versions interface {
	ledger.VersionSource
	Seq(ctx context.Context) (int64, error)
	Adopt(ctx context.Context, seq int64, effectiveFrom time.Time) (adopted int, err error)
	AddRegion(ctx context.Context, region string) (changed bool, err error)
	AddGap(ctx context.Context, reason uptime.Reason, from, to time.Time) error
}

// Targets gives the specifications.
type Targets interface {
	ByIDs(ctx context.Context, ids []int64) ([]uptime.Target, error)
	Each(ctx context.Context, fn func(uptime.Target) error) error
}

// Notes keeps one row a tick.
type Notes interface {
	InsertCycles(ctx context.Context, token string, cycles []resultstore.Cycle) error
	LastCycle(ctx context.Context) (second time.Time, ok bool, err error)
}

// Rows makes missed rows durable.
type Rows interface {
	RecordWait(ctx context.Context, rows []uptime.Result) error
}

// Lease says whether this publisher is the one to work. Yield leaves that to others
// for a while.
type Lease interface {
	Held() bool
	Changed() <-chan struct{}
	Yield(time.Duration)
}

// Sweeper explains slots nobody explained.
type Sweeper interface {
	Sweep(ctx context.Context, now, published time.Time) (ledger.Swept, error)
}

// Accounts compares what was planned with what is there.
type Accounts interface {
	Report(ctx context.Context, from, to, published time.Time) ([]ledger.Line, error)
}

// Changes wakes the publisher when somebody saved a target. The database says what
// changed; a lost wake costs a second.
type Changes interface {
	FollowChanges(ctx context.Context, fn func([]livefeed.Change) error) error
}

// Health is where the state of the publisher is told.
type Health interface {
	Set(component string, level service.Level, reason string)
	Fact(name string, f func() any)
	Ready()
}

var (
	_ Versions = (*schedulestore.Store)(nil)
	_ Notes    = (*resultstore.Store)(nil)
	_ Sweeper  = (*ledger.Sweeper)(nil)
	_ Accounts = (*ledger.Ledger)(nil)
	_ Stream   = (*checkstream.Publisher)(nil)
	_ Upkeep   = (*checkstream.Publisher)(nil)
	_ Lease    = (*lease.Lease)(nil)
	_ Rows     = (*recorder.Recorder)(nil)
	_ Targets  = (*targetstore.Store)(nil)
	_ Changes  = (*livefeed.Follower)(nil)
	_ Health   = (*service.Health)(nil)
)

// Limits of one call, so that no dependency can stop the tick.
const (
	redisTimeout    = 2 * time.Second
	databaseTimeout = 5 * time.Second
	rowsTimeout     = 2 * time.Second
	chunkSize       = 500
)

// finish gives a call its own deadline that the end of ctx does not cut short:
// a stopping publisher finishes what it has begun.
func finish(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
