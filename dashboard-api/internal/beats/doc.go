// Package beats looks after heartbeats: it ends the deadlines that pass without a ping, and
// brings their rows to the result store.
//
// Every API node runs it. One of them judges, by a lease in the database that a node takes
// over within ten seconds of another's end; the store sees to it that two at once do no
// harm. Redis and ClickHouse are not needed for that: rows wait in the database, and in
// the node's spool, until ClickHouse takes them. While the database is away nothing is
// judged; when it is back, deadlines that passed while no node could receive pings are
// stated as missed(region_down), not as down.
package beats

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Store keeps where heartbeats stand.
type Store interface {
	Watch(ctx context.Context, holder string, now time.Time) (leading bool, err error)
	Release(ctx context.Context, holder string) error
	Changed(ctx context.Context, limit int) ([]int64, error)
	Due(ctx context.Context, now time.Time, limit int) ([]int64, error)
	Ensure(ctx context.Context, targetID int64, token heartbeatstore.Token) error
	Settle(ctx context.Context, targetID int64, now time.Time) (rows int, err error)
	Rows(ctx context.Context, limit int) ([]uptime.Result, error)
	Done(ctx context.Context, rows []uptime.Result) error
}

// Rows makes rows durable.
type Rows interface {
	RecordWait(ctx context.Context, rows []uptime.Result) error
}

// Health is where the state of the heartbeats is told.
type Health interface {
	Set(component string, level service.Level, reason string)
}

var _ Store = (*heartbeatstore.Store)(nil)

// Options are what a Keeper stands on.
type Options struct {
	Holder   string // different in every process
	Store    Store
	Rows     Rows
	Announce func(ctx context.Context, rows []uptime.Result) error // to live pages; may fail
	Now      func() time.Time                                      // that by which pings were noted; nil: this machine's
	NewToken func() heartbeatstore.Token
	Health   Health
	Log      *slog.Logger
	Metrics  prometheus.Registerer
}
