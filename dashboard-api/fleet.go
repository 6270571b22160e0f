package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	fleetEvery  = 2 * time.Second
	storesEvery = 5 * time.Second
	pollTimeout = 5 * time.Second
)

// fleetStream is what the fleet tells about itself in Redis.
type fleetStream interface {
	Probers(context.Context) ([]checkstream.Heartbeat, error)
	Groups(context.Context) ([]checkstream.GroupInfo, error)
	Backlog(context.Context) (int64, error)
	DeadLetters(context.Context) (int64, error)
	Server(context.Context) (checkstream.Server, error)
	LastTick(context.Context) (time.Time, error)
}

// regionVersions is the adopted regions in the database.
type regionVersions interface {
	RegionVersions(ctx context.Context, afterSeq int64) ([]schedulestore.RegionVersion, error)
}

// pinger is a store that can be asked for a sign of life.
type pinger interface{ Ping(context.Context) error }

// fleetWatch asks around regularly, so that requests find the answers ready: who
// is there, which regions are adopted, and whether the stores answer. It is the
// API's httpapi.FleetSource.
type fleetWatch struct {
	stream     fleetStream
	leader     func(context.Context) (string, error) // the publisher at work; "" nobody
	versions   regionVersions
	database   pinger
	clickHouse pinger
	hub        *live.Hub
	health     *service.Health
	log        *slog.Logger

	mu      sync.Mutex
	fleet   httpapi.Fleet
	err     error
	adopted []string // by the newest region versions
	heard   []string // announced by probers
	open    []netip.Prefix
	clickOK bool
	probers []checkstream.Heartbeat // as last heard
	heardAt time.Time
}

var _ httpapi.FleetSource = (*fleetWatch)(nil)

// Fleet gives the state of a moment ago, or why it is not known.
func (f *fleetWatch) Fleet() (httpapi.Fleet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fleet := f.fleet
	fleet.ClickHouse.OK = f.clickOK
	return fleet, f.err
}

// Regions gives the regions that are adopted or announced. It keeps what it knew while Redis is down.
func (f *fleetWatch) Regions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Concat(f.adopted, f.heard)
	slices.Sort(all)
	return slices.Compact(all)
}

// Adopted gives the regions that slots are planned for.
func (f *fleetWatch) Adopted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.adopted)
}

// OpenRanges gives the private ranges that some prober visits.
func (f *fleetWatch) OpenRanges() []netip.Prefix {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

// Run asks until ctx ends.
func (f *fleetWatch) Run(ctx context.Context) error {
	fleet, stores := time.NewTicker(fleetEvery), time.NewTicker(storesEvery)
	defer fleet.Stop()
	defer stores.Stop()
	for {
		select {
		case <-fleet.C:
			f.runOnce(ctx)
		case <-stores.C:
			f.pingStores(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// runOnce asks Redis and the database once.
func (f *fleetWatch) runOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	probers, fleet, err := f.ask(ctx)
	adopted, dbErr := f.askRegions(ctx)
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	f.mu.Lock()
	f.err = err
	if err == nil {
		f.fleet = fleet
		f.heard, f.open = announced(probers)
		f.probers, f.heardAt = probers, time.Now()
	}
	if dbErr == nil {
		f.adopted = adopted
	}
	adopted, probers = f.adopted, f.aged()
	f.mu.Unlock()
	f.hub.SetRegions(adopted, liveRegions(adopted, probers))
	if err != nil {
		f.health.Set("redis", service.Degraded, "live results and the fleet are not followed: "+err.Error())
		return
	}
	f.health.Set("redis", service.OK, "")
}

// aged gives the heartbeats as old as they are by now: while Redis cannot be asked
// nobody stays live for long.
func (f *fleetWatch) aged() []checkstream.Heartbeat {
	probers := slices.Clone(f.probers)
	for i := range probers {
		probers[i].Age += time.Since(f.heardAt)
	}
	return probers
}

func (f *fleetWatch) ask(ctx context.Context) ([]checkstream.Heartbeat, httpapi.Fleet, error) {
	probers, err1 := f.stream.Probers(ctx)
	groups, err2 := f.stream.Groups(ctx)
	backlog, err3 := f.stream.Backlog(ctx)
	dead, err4 := f.stream.DeadLetters(ctx)
	server, err5 := f.stream.Server(ctx)
	tick, err6 := f.stream.LastTick(ctx)
	leader, err7 := f.leader(ctx)
	if err := firstError(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return nil, httpapi.Fleet{}, err
	}
	fleet := httpapi.NewFleet(tick, leader)
	fleet.Redis.Version, fleet.Redis.Embedded, fleet.Redis.Durable = server.Version, server.Embedded, server.Durable
	fleet.Redis.Backlog, fleet.Redis.DeadLetters = backlog, dead
	fleet.Regions = fleetRegions(probers, groups)
	return probers, fleet, nil
}

// firstError is the first error: when Redis is down all say the same.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *fleetWatch) askRegions(ctx context.Context) ([]string, error) {
	versions, err := f.versions.RegionVersions(ctx, 0)
	if err != nil {
		return nil, err
	}
	active := map[string]bool{}
	for _, v := range versions { // ascending: the newest counts
		active[v.Region] = v.Active
	}
	maps.DeleteFunc(active, func(_ string, on bool) bool { return !on })
	return slices.Sorted(maps.Keys(active)), nil
}

func (f *fleetWatch) pingStores(ctx context.Context) {
	for name, store := range map[string]pinger{"database": f.database, "clickhouse": f.clickHouse} {
		call, cancel := context.WithTimeout(ctx, pollTimeout)
		err := store.Ping(call)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if name == "clickhouse" {
			f.mu.Lock()
			f.clickOK = err == nil
			f.mu.Unlock()
		}
		if err != nil {
			f.health.Set(name, service.Degraded, "requests that need it are answered 503: "+err.Error())
			continue
		}
		f.health.Set(name, service.OK, "")
	}
}
