package main

import (
	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
)

// alerts is what tells people of incidents.
type alerts struct {
	store     *incidentstore.Store
	deliverer *notify.Deliverer
	worker    *notify.Worker
}

func newAlerts(cfg Config, stores *stores, box *seal.Box, node string, s *service.Service) *alerts {
	a := &alerts{
		store:     incidentstore.New(stores.database, notify.Planner{PublicURL: cfg.PublicURL}),
		deliverer: notify.NewDeliverer(notify.DelivererOptions{Box: box, Guard: guard.New(cfg.AllowCIDRs), PublicURL: cfg.PublicURL}),
	}
	a.worker = notify.NewWorker(notify.WorkerOptions{Holder: node, Outbox: a.store, Sender: a.deliverer, Health: s.Health, Log: s.Log, Metrics: s.Metrics})
	return a
}
