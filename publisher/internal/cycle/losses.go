package cycle

import (
	"context"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

// redisFailed notes that Redis could not be used in a pass that began in a second:
// calls that hang end seconds later.
func (l *Loop) redisFailed(began int64, err error) {
	if !l.outage.failing {
		l.Log.Warn("redis cannot be used", "error", err)
	}
	l.outage.failed(max(began, l.tick+1))
	l.groups, l.refusals = nil, true
	l.Health.Set("redis", service.Error, "publishing is impossible: "+err.Error())
}

// noticeLoss states that Redis came back without its data: slots between the
// last tick anybody remembers and the new one, and those that were waiting in the
// stream, have that reason unless a row says better.
func (l *Loop) noticeLoss(ctx context.Context, clock checkstream.Clock) {
	if !clock.Fresh || clock.Tick == l.lostAt {
		return
	}
	l.lostAt = clock.Tick
	l.groups = nil
	l.mu.Lock()
	last, planned := max(l.mine, l.wheel.Newest()), l.wheel.Newest() > 0
	l.mu.Unlock()
	if !planned {
		return // a new house: nothing was ever planned
	}
	limited, cancel := finish(ctx, rowsTimeout)
	defer cancel()
	if cycle, found, err := l.Notes.LastCycle(limited); err == nil && found {
		last = max(last, cycle.Unix())
	}
	if last >= clock.Tick {
		return
	}
	l.Log.Error("redis lost its data", "last_tick", last, "new_tick", clock.Tick)
	l.metrics.lost.Inc()
	l.explainer.gap(ctx, uptime.ReasonRedisLost, last-maxExpiry, clock.Tick+1)
}

// readRefused learns, once after each interruption, which seconds were cut short
// for want of room, and closes those that are over.
func (l *Loop) readRefused(ctx context.Context, clock checkstream.Clock) error {
	if !l.refusals {
		return nil
	}
	limited, cancel := finish(ctx, redisTimeout)
	defer cancel()
	refused, err := l.Stream.Refused(limited)
	if err != nil {
		return err
	}
	l.refusals, l.refused = false, refused
	for second := range refused {
		if second <= clock.Tick { // the gap only speaks for slots without a row
			l.explainer.gap(ctx, uptime.ReasonBackpressure, second, second+1)
			l.clearRefused(ctx, second)
		}
	}
	return nil
}

func (l *Loop) clearRefused(ctx context.Context, second int64) {
	delete(l.refused, second)
	limited, cancel := finish(ctx, redisTimeout)
	defer cancel()
	if err := l.Stream.ClearRefused(limited, second); err != nil {
		l.refusals = true
		l.Log.Warn("refusal stays noted", "second", second, "error", err)
	}
}
