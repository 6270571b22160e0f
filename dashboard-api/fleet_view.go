package main

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/ledger"
)

// announced gives the regions and open ranges of the probers that were heard lately.
func announced(probers []checkstream.Heartbeat) (regions []string, open []netip.Prefix) {
	for _, p := range probers {
		if !p.Live() {
			continue
		}
		if !slices.Contains(regions, p.Region) {
			regions = append(regions, p.Region)
		}
		for _, text := range p.AllowCIDRs {
			prefix, err := netip.ParsePrefix(strings.TrimSpace(text))
			if err == nil && !slices.Contains(open, prefix) {
				open = append(open, prefix)
			}
		}
	}
	return regions, open
}

// liveRegions folds heartbeats into the regions of the live feed.
func liveRegions(adopted []string, probers []checkstream.Heartbeat) []live.Region {
	byName := map[string]*live.Region{}
	region := func(name string) *live.Region {
		if byName[name] == nil {
			byName[name] = &live.Region{Region: name}
		}
		return byName[name]
	}
	for _, name := range adopted {
		region(name)
	}
	for _, p := range probers {
		r := region(p.Region)
		if p.Live() && p.Phase() != checkstream.Drained { // one that is drained reports nothing
			r.Live = true
			r.Probers++
		}
		if r.HeartbeatAt == nil || p.At.After(*r.HeartbeatAt) {
			at := p.At
			r.HeartbeatAt = &at
		}
	}
	regions := make([]live.Region, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		regions = append(regions, *byName[name])
	}
	return regions
}

func fleetRegions(probers []checkstream.Heartbeat, groups []checkstream.GroupInfo, letters map[string]int64) []httpapi.FleetRegion {
	byName := map[string]*httpapi.FleetRegion{}
	region := func(name string) *httpapi.FleetRegion {
		if byName[name] == nil {
			byName[name] = &httpapi.FleetRegion{Region: name, Probers: []httpapi.FleetProber{}}
		}
		return byName[name]
	}
	for _, g := range groups {
		r := region(g.Region)
		r.Pending, r.LagS = g.Pending, g.Lag.Seconds()
	}
	for _, p := range probers {
		r := region(p.Region)
		r.Live = r.Live || p.Live()
		r.Probers = append(r.Probers, httpapi.NewFleetProber(p))
	}
	for name, spool := range spools(probers) {
		region(name).Spool = httpapi.NewSpool(spool.Rows, spool.First, spool.Last)
	}
	regions := make([]httpapi.FleetRegion, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		r := byName[name]
		r.DeadLetters = letters[name]
		regions = append(regions, *r)
	}
	return regions
}

// fleetOutside shows what came from outside and lies on the disks of API nodes.
func fleetOutside(kept map[string]ledger.Spool) []httpapi.FleetOutside {
	shown := make([]httpapi.FleetOutside, 0, len(kept))
	for _, region := range slices.Sorted(maps.Keys(kept)) {
		spool := kept[region]
		shown = append(shown, httpapi.FleetOutside{Region: region, Spool: httpapi.NewSpool(spool.Rows, spool.First, spool.Last)})
	}
	return shown
}

// spools adds up what the live probers of each region have on their disks. A region
// without rows there is not in it.
func spools(probers []checkstream.Heartbeat) map[string]ledger.Spool {
	found := map[string]ledger.Spool{}
	for _, p := range probers {
		if !p.Live() || p.Spooled == 0 {
			continue
		}
		spool, more := found[p.Region]
		if !more || p.SpoolFirst.Before(spool.First) {
			spool.First = p.SpoolFirst
		}
		if p.SpoolLast.After(spool.Last) {
			spool.Last = p.SpoolLast
		}
		spool.Rows += p.Spooled
		found[p.Region] = spool
	}
	return found
}
