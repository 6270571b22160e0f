package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	pingEvery   = time.Second
	pingTimeout = 3 * time.Second // a busy store is not a dead one
	backTimeout = 2 * time.Second // of one that is down: its return must be noticed soon
)

// pinger is a store that can be asked for a sign of life.
type pinger interface{ Ping(context.Context) error }

// history is the result store: a sign of life, and whether its schema is new enough.
type history interface {
	pinger
	Check(context.Context) error
}

// historyWatch knows whether ClickHouse answers. Its zero state is "not asked yet",
// which counts as down.
type historyWatch struct {
	store  history
	health *service.Health
	back   chan struct{} // a token whenever ClickHouse answers again

	mu        sync.Mutex
	downSince time.Time
}

func newHistoryWatch(store history, health *service.Health) *historyWatch {
	return &historyWatch{store: store, health: health, back: make(chan struct{}, 1), downSince: time.Now()}
}

// DownSince says since when ClickHouse does not answer; zero: it does.
func (w *historyWatch) DownSince() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.downSince
}

// Run asks until ctx ends.
func (w *historyWatch) Run(ctx context.Context) error {
	return every(ctx, pingEvery, func(ctx context.Context) { _ = w.runOnce(ctx) })
}

// runOnce asks once. A store that was away is asked for its schema, too: another
// one may stand in its place.
func (w *historyWatch) runOnce(ctx context.Context) error {
	ask, patience := w.store.Check, backTimeout
	if w.DownSince().IsZero() {
		ask, patience = w.store.Ping, pingTimeout
	}
	call, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := ask(call)
	if err != nil && ctx.Err() != nil {
		return err
	}
	w.mu.Lock()
	was := w.downSince
	switch {
	case err == nil:
		w.downSince = time.Time{}
	case was.IsZero():
		w.downSince = time.Now()
	}
	w.mu.Unlock()
	switch {
	case errors.Is(err, resultstore.ErrSchema):
		w.health.Set("clickhouse", service.Degraded, "history is not served: "+err.Error())
	case err != nil:
		w.health.Set("clickhouse", service.Degraded, "history is answered with copies, or 503: "+err.Error())
	default:
		w.health.Set("clickhouse", service.OK, "")
		if !was.IsZero() {
			select {
			case w.back <- struct{}{}:
			default:
			}
		}
	}
	return err
}

// databaseWatch asks whether the database answers, and how soon, for /healthz and for whoever asks about the fleet.
type databaseWatch struct {
	database pinger
	engine   string
	health   *service.Health

	mu        sync.Mutex
	downSince time.Time
	took      time.Duration // by the last answer
}

func newDatabaseWatch(database pinger, engine string, health *service.Health) *databaseWatch {
	return &databaseWatch{database: database, engine: engine, health: health, downSince: time.Now()}
}

// Standing says since when the database does not answer, zero: it does, and how long its last answer took.
func (w *databaseWatch) Standing() (downSince time.Time, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.downSince, w.took
}

// Run asks until ctx ends.
func (w *databaseWatch) Run(ctx context.Context) error { return every(ctx, pingEvery, w.runOnce) }

// runOnce asks once. Nobody who wants to know the standing waits for it.
func (w *databaseWatch) runOnce(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	began := time.Now()
	err := w.database.Ping(call)
	if err != nil && ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	switch {
	case err == nil:
		w.downSince, w.took = time.Time{}, time.Since(began)
	case w.downSince.IsZero():
		w.downSince = began
	}
	w.mu.Unlock()
	if err != nil {
		w.health.Set("database", service.Degraded, "requests are answered 503: "+err.Error())
		return
	}
	w.health.Set("database", service.OK, "")
}
