package main

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
)

const (
	fleetEvery  = 2 * time.Second
	askPatience = 2 * time.Second // for all that Redis, or the database, is asked in one round
)

// fleetStream is what the fleet tells about itself in Redis.
type fleetStream interface {
	Probers(context.Context) ([]checkstream.Heartbeat, error)
	Groups(context.Context) ([]checkstream.GroupInfo, error)
	Backlog(context.Context) (int64, error)
	Server(context.Context) (checkstream.Server, error)
	LastTick(context.Context) (time.Time, error)
	NodeSpools(context.Context) ([]checkstream.NodeSpool, error)
}

// regionVersions is the adopted regions in the database.
type regionVersions interface {
	RegionVersions(ctx context.Context, afterSeq int64) ([]schedulestore.RegionVersion, error)
}

// fleetWatch asks around regularly, so that requests find the answers ready: who
// is there, and which regions are adopted. While Redis does not answer it goes on
// with what it knew, as old as that is by now. It is the API's httpapi.FleetSource.
type fleetWatch struct {
	stream   fleetStream
	leader   func(context.Context) (string, error)           // the publisher at work; "" nobody
	dead     func(context.Context) (map[string]int64, error) // dead letters, by region
	versions regionVersions
	history  *historyWatch
	database *databaseWatch
	hub      *live.Hub
	health   *service.Health
	node     string                        // its own name
	kept     func() map[string]spool.Share // what its own disk holds of results from outside

	mu      sync.Mutex
	seen    seen
	err     error    // of the last round
	adopted []string // by the newest region versions
	heard   []string // announced by probers
	open    []netip.Prefix
}

// seen is what Redis said in a round.
type seen struct {
	at          time.Time // zero: never
	probers     []checkstream.Heartbeat
	groups      []checkstream.GroupInfo
	nodes       []checkstream.NodeSpool
	backlog     int64
	deadLetters map[string]int64 // by region
	server      checkstream.Server
	tick        time.Time
	leader      string
}

// letters is how many dead letters there are.
func (s seen) letters() (all int64) {
	for _, n := range s.deadLetters {
		all += n
	}
	return all
}

var _ httpapi.FleetSource = (*fleetWatch)(nil)

// Fleet gives the state of a moment ago; while Redis does not answer, the last one
// there was, marked with its instant.
func (f *fleetWatch) Fleet() (httpapi.Fleet, error) {
	own := f.kept()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen.at.IsZero() {
		return httpapi.Fleet{}, f.err
	}
	fleet := httpapi.NewFleet(f.seen.tick, f.seen.leader)
	server := f.seen.server
	fleet.Redis.Version, fleet.Redis.Embedded, fleet.Redis.Durable = server.Version, server.Embedded, server.Durable
	fleet.Redis.Backlog, fleet.Redis.DeadLetters = f.seen.backlog, f.seen.letters()
	fleet.Regions = fleetRegions(f.aged(), f.seen.groups, f.seen.deadLetters)
	fleet.Outside = fleetOutside(f.received(own))
	fleet.HistoryDown(f.history.DownSince())
	downSince, took := f.database.Standing()
	fleet.DatabaseIs(f.database.engine, downSince, took)
	if f.err != nil {
		fleet.Stale(f.seen.at)
	}
	return fleet, nil
}

// export shows the depth of the dead letters as a metric: that of the last look.
func (f *fleetWatch) export(metrics prometheus.Registerer) {
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "probefleet_dead_letters", Help: "Dead letters that wait for somebody to look at them; every API has the same.",
	}, func() float64 {
		f.mu.Lock()
		defer f.mu.Unlock()
		return float64(f.seen.letters())
	}))
}

// HistoryOK says whether ClickHouse answered when it was last asked.
func (f *fleetWatch) HistoryOK() bool { return f.history.DownSince().IsZero() }

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

// Spools gives what live probers have on their disks, and the API nodes of what came from
// outside, for the ledger. While Redis does not answer nobody has died for that: rows stay
// where they are.
func (f *fleetWatch) Spools(context.Context) map[string]ledger.Spool {
	own := f.kept()
	f.mu.Lock()
	defer f.mu.Unlock()
	probers := f.aged()
	if f.err != nil {
		probers = f.seen.probers
	}
	found := spools(probers)
	for region, spool := range f.received(own) {
		found[region] = found[region].Add(spool)
	}
	return found
}

// received is what came from outside and lies on the disks of API nodes, by region: what
// this node has is known exactly, what the others have they said a moment ago.
func (f *fleetWatch) received(own map[string]spool.Share) map[string]ledger.Spool {
	gone := time.Since(f.seen.at)
	if f.err != nil {
		gone = 0
	}
	found := map[string]ledger.Spool{}
	for _, n := range f.seen.nodes {
		if n.Age += gone; n.Node == f.node || !n.Live() {
			continue
		}
		for region, k := range n.Regions {
			found[region] = found[region].Add(ledger.Spool(k))
		}
	}
	for region, share := range own {
		found[region] = found[region].Add(ledger.Spool{Rows: int64(share.Rows), First: share.First, Last: share.Last})
	}
	return found
}

// account is the ledger, told how far the publisher is: by what was seen last.
type account struct {
	*ledger.Ledger
	watch *fleetWatch
}

func (a account) Report(ctx context.Context, from, to time.Time) ([]ledger.Line, error) {
	a.watch.mu.Lock()
	published := a.watch.seen.tick
	a.watch.mu.Unlock()
	if !published.IsZero() {
		published = published.Add(time.Second) // a tick is a whole second that is done
	}
	return a.Ledger.Report(ctx, from, to, published)
}

// Run asks until ctx ends.
func (f *fleetWatch) Run(ctx context.Context) error { return every(ctx, fleetEvery, f.runOnce) }

// runOnce asks Redis and the database once. Neither uses up the other's time.
func (f *fleetWatch) runOnce(ctx context.Context) {
	found, err := f.ask(ctx)
	adopted, dbErr := f.askRegions(ctx)
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	f.err = err
	if err == nil {
		f.seen = found
		f.heard, f.open = announced(found.probers)
	}
	if dbErr == nil {
		f.adopted = adopted
	}
	adopted, probers := f.adopted, f.aged()
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
	probers := slices.Clone(f.seen.probers)
	for i := range probers {
		probers[i].Age += time.Since(f.seen.at)
	}
	return probers
}

// ask asks Redis all there is to know, until it fails once.
func (f *fleetWatch) ask(ctx context.Context) (found seen, err error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	found.at = time.Now() // heartbeats are at least as old as this
	if found.probers, err = f.stream.Probers(ctx); err != nil {
		return seen{}, err
	}
	if found.nodes, err = f.stream.NodeSpools(ctx); err != nil {
		return seen{}, err
	}
	if found.groups, err = f.stream.Groups(ctx); err != nil {
		return seen{}, err
	}
	if found.backlog, err = f.stream.Backlog(ctx); err != nil {
		return seen{}, err
	}
	if found.deadLetters, err = f.dead(ctx); err != nil {
		return seen{}, err
	}
	if found.server, err = f.stream.Server(ctx); err != nil {
		return seen{}, err
	}
	if found.tick, err = f.stream.LastTick(ctx); err != nil {
		return seen{}, err
	}
	if found.leader, err = f.leader(ctx); err != nil {
		return seen{}, err
	}
	return found, nil
}

func (f *fleetWatch) askRegions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
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
