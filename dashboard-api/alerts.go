package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/deadman"
	"github.com/probefleet/probefleet/dashboard-api/internal/evaluator"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/longtail"
	"github.com/probefleet/probefleet/dashboard-api/internal/nameservers"
	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/dashboard-api/internal/troubles"
	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/troublestore"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

// alerts is what finds incidents, and tells people of them.
type alerts struct {
	store     *incidentstore.Store
	windows   *maintenancestore.Store
	verdicts  *verdictstore.Store
	blind     *blindstore.Store
	deliverer *notify.Deliverer
	worker    *notify.Worker
	lease     *lease.Lease
	evaluator *evaluator.Evaluator
	zones     *nameservers.Directory
	feed      *incidentFeed
}

func newAlerts(cfg Config, stores *stores, hub *live.Hub, box *seal.Box, node string, s *service.Service) *alerts {
	a := &alerts{
		store:     incidentstore.New(stores.database, notify.Planner{PublicURL: cfg.PublicURL}),
		windows:   maintenancestore.New(stores.database),
		blind:     blindstore.New(stores.database),
		deliverer: notify.NewDeliverer(notify.DelivererOptions{Box: box, Guard: guard.New(cfg.AllowCIDRs), PublicURL: cfg.PublicURL, LongTail: newLongTail(cfg, s)}),
	}
	a.verdicts = verdictstore.New(stores.database, a.store)
	a.worker = notify.NewWorker(notify.WorkerOptions{Now: stores.clock.Now, Holder: node, Outbox: a.store, Sender: a.deliverer, Health: s.Health, Log: s.Log, Metrics: s.Metrics})
	a.zones, a.feed = nameservers.New(nil), newIncidentFeed(a.store, hub, s.Log)
	a.lease = lease.New(stores.redis, "evaluator", node, s.Log)
	a.evaluator = evaluator.New(evaluator.Options{
		Now:   stores.clock.Now,
		Lease: a.lease, Follower: evaluator.Feed{Follower: livefeed.NewFollower(stores.redis)}, Targets: hub, Results: stores.results, Maintenance: a.windows,
		Store: a.verdicts, Told: a.told, Confirm: checkstream.NewConfirm(stores.redis), NameServers: a.zones.Of, Health: s.Health, Log: s.Log, Metrics: s.Metrics,
	})
	return a
}

// newLongTail sends by this program itself.
func newLongTail(cfg Config, s *service.Service) *longtail.Sender {
	program, err := os.Executable()
	if err != nil {
		s.Log.Warn("services of shoutrrr are not reached", "error", err)
		return nil
	}
	return &longtail.Sender{Command: []string{program, longtail.Argument}, Allow: cfg.AllowCIDRs}
}

// told has people and pages told of what was just written.
func (a *alerts) told() {
	a.worker.Wake()
	a.feed.wake()
}

// loops are what has to run; look makes what some of them look at.
func (a *alerts) loops(cfg Config, look func() *vitals, stores *stores, hub *live.Hub, s *service.Service) []func(context.Context) error {
	return []func(context.Context) error{
		a.lease.Run, a.evaluator.Run, a.zones.Run, a.worker.Run, a.feed.follow, a.followBlind(hub, stores.clock.Now, s.Log),
		(&maintained{windows: a.windows, hub: hub, now: stores.clock.Now, health: s.Health, log: s.Log}).follow, a.deadman(cfg, look(), s), a.troubles(look(), stores, s),
	}
}

// deadman is the loop that calls the alarm outside, if there is one.
func (a *alerts) deadman(cfg Config, of *vitals, s *service.Service) func(context.Context) error {
	if cfg.DeadmanURL.IsZero() {
		return func(context.Context) error { return nil }
	}
	return deadman.New(deadman.Options{
		URL: cfg.DeadmanURL, FailURL: cfg.DeadmanFail, Leading: a.lease.Held, Wrong: of.wrong, Health: s.Health, Log: s.Log, Metrics: s.Metrics,
	}).Run
}

// troubles is the loop that tells people what is wrong with the fleet itself.
func (a *alerts) troubles(of *vitals, stores *stores, s *service.Service) func(context.Context) error {
	return troubles.New(troubles.Options{
		Leading: a.lease.Held, Look: of.troubles, Store: troublestore.New(stores.database, a.store), Log: s.Log, Told: a.told,
	}).Run
}

const (
	blindEvery = 2 * time.Second
	blindFor   = 24 * time.Hour // how long a window that is over says something of what is shown
)

// followBlind tells the hub which regions are blind, as whoever evaluates finds it out: so that
// pages of every node show what incidents follow from. While the database does not answer it
// stays as it was.
func (a *alerts) followBlind(hub *live.Hub, now func() time.Time, log *slog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		return every(ctx, blindEvery, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, askPatience)
			defer cancel()
			windows, err := a.blind.Current(ctx, now().Add(-blindFor))
			if err != nil {
				log.Debug("blind regions not read", "error", err)
				return
			}
			hub.SetBlind(windows)
		})
	}
}
