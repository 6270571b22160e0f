package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/prober/internal/canary"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// watch makes the watch over the canaries. Its rounds go out with the time of Redis.
func (c Config) watch(names *resolve.Resolver, redis *checkstream.Redis, feed *livefeed.Announcer, s *service.Service, log *slog.Logger) *canary.Watch {
	if len(c.canaries) == 0 {
		s.Health.Set("canaries", service.OK, "")
		log.Info("there are no canaries: failures are believed even if this prober has no network")
	}
	return canary.New(canary.Options{
		Canaries: c.canaries, Names: names,
		Announce: func(ctx context.Context, r canary.Round) error {
			now, err := redis.Now(ctx)
			if err != nil {
				return err
			}
			return feed.AnnounceRound(ctx, livefeed.Round{Region: c.Region, Prober: c.Name, At: now.Add(-time.Since(r.Decided)), Good: r.Good, Said: r.Said})
		},
		Health: func(bad string) { canaryState(bad, s.Health) },
		Log:    log, Metrics: s.Metrics,
	})
}

func canaryState(bad string, health *service.Health) {
	if bad == "" {
		health.Set("canaries", service.OK, "")
		return
	}
	health.Set("canaries", service.Degraded, "too few canaries answer: "+bad+
		"; results that fail are stated as unknown(probe_blind). If this region has its network, set PROBER_CANARIES to addresses that it can always reach, or to none")
}
