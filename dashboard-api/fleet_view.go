package main

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
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
		if p.Live() {
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

func fleetRegions(probers []checkstream.Heartbeat, groups []checkstream.GroupInfo) []httpapi.FleetRegion {
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
	regions := make([]httpapi.FleetRegion, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		regions = append(regions, *byName[name])
	}
	return regions
}

// redisFacts are what the server and the publisher say about themselves.
type redisFacts struct {
	version           string
	embedded, durable bool
	leader            string
	lastTick          time.Time
}

// redisAbout reads them: the lease's holder and the publisher's clock are where
// packages lease and checkstream keep them.
func redisAbout(redis *checkstream.Redis) func(context.Context) (redisFacts, error) {
	return func(ctx context.Context) (facts redisFacts, err error) {
		if facts.version, facts.embedded, err = redis.Kind(ctx); err != nil {
			return facts, err
		}
		if !facts.embedded {
			info, err := redis.Commands().Info(ctx, "persistence").Result()
			if err != nil {
				return facts, err
			}
			facts.durable = strings.Contains(info, "aof_enabled:1")
		}
		facts.leader, _ = redis.Commands().Get(ctx, "{pf}:lease:publisher").Result() // absent: nobody leads
		tick, _ := redis.Commands().HGet(ctx, "{pf}:clock", "tick").Result()
		if second, err := strconv.ParseInt(tick, 10, 64); err == nil && second > 0 {
			facts.lastTick = time.Unix(second, 0)
		}
		return facts, nil
	}
}
