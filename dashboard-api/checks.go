package main

import (
	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/jobs"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/service"
)

// newJobs makes this node's checks on demand: asked for through Redis, kept in the
// database, told to the hub.
func newJobs(stores *stores, watch *fleetWatch, hub *live.Hub, s *service.Service) (*jobs.Service, error) {
	owner, err := jobstore.NewID()
	if err != nil {
		return nil, err
	}
	return jobs.New(jobs.Options{
		Owner: owner, Lane: checkstream.NewAdhoc(stores.redis), Store: jobstore.New(stores.database),
		Regions: func() []string {
			if adopted := watch.Adopted(); len(adopted) > 0 {
				return adopted
			}
			return watch.Regions() // its first prober is there, and the publisher has not met it yet
		},
		Tell: func(j jobstore.Job) { hub.Check(j.ID, httpapi.NewCheck(j)) },
		Health: func(err error) {
			if err != nil {
				s.Health.Set("checks", service.Degraded, "checks on demand are run and kept in memory, not written: "+err.Error())
				return
			}
			s.Health.Set("checks", service.OK, "")
		},
		Log: s.Log, Metrics: s.Metrics,
	}), nil
}
