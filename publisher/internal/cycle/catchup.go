package cycle

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	longGap    = 3600          // s: beyond it a gap is noted as one, and the sweep writes its rows
	expiredRun = 20_000        // checks explained together
	maxExpiry  = int64(5 * 60) // s: no check is worth running later
)

// publish completes seconds in order, from the one Redis stands at to the one
// after now, as far as the pace allows.
func (l *Loop) publish(ctx context.Context, clock checkstream.Clock) error {
	next, after := clock.Tick+1, clock.After
	if jumped, err := l.jump(ctx, next); err != nil {
		return err
	} else if jumped > next {
		next, after = jumped, 0
	}
	for {
		l.Beat()
		last := l.clock.second() + 1
		if next > last {
			l.outage.caughtUp(last)
			return nil
		}
		if ctx.Err() != nil || !l.Lease.Held() {
			return nil
		}
		w, err := l.passIdle(ctx, next, after, last)
		if err != nil {
			return err
		}
		if w.second > last {
			next = w.second
			continue
		}
		if w.second > next {
			next = w.second
		}
		if !l.pacer.allow(time.Now(), last-next+1, len(w.fresh), l.wheel.Rate()) {
			return nil
		}
		if err := l.publishSecond(ctx, w); err != nil {
			return err
		}
		next, after = next+1, 0
	}
}

// passIdle completes the seconds from next on in which there is nothing to
// publish, in one step, and gives the first that has something. Its second is
// past last when there is none.
func (l *Loop) passIdle(ctx context.Context, next, after, last int64) (work, error) {
	var passed []work
	var expired []uptime.Check
	upTo := next - 1
	for {
		var w work
		stop := upTo == last || len(expired) > expiredRun
		if !stop && len(passed) > 0 { // a change is not applied before all until it is done
			change, waits := l.wheel.NextChange()
			stop = waits && change <= upTo+1
		}
		if !stop {
			w = l.look(upTo+1, after)
			stop = len(w.fresh) > 0 || len(w.full) > 0
		}
		if !stop {
			expired = append(expired, w.expired...)
			w.fresh = nil
			passed = append(passed, w)
			upTo, after = upTo+1, 0
			continue
		}
		if err := l.completeIdle(ctx, next, upTo, passed, expired); err != nil {
			return w, err
		}
		if w.second > 0 || upTo == last {
			w.second = upTo + 1
			return w, nil
		}
		next, passed, expired = upTo+1, nil, nil
	}
}

func (l *Loop) completeIdle(ctx context.Context, from, to int64, passed []work, expired []uptime.Check) error {
	if len(passed) == 0 {
		return nil
	}
	began := time.Now()
	for begin := 0; begin < len(expired); { // by reason: it changes at most once on the way
		reason, end := l.outage.reason(expired[begin].ScheduledAt.Unix()), begin
		for end < len(expired) && l.outage.reason(expired[end].ScheduledAt.Unix()) == reason {
			end++
		}
		if err := l.explain(ctx, expired[begin].ScheduledAt.Unix(), expired[end-1].ScheduledAt.Unix(), reason, expired[begin:end]); err != nil {
			return err
		}
		begin = end
	}
	if err := l.skip(ctx, to); err != nil {
		return err
	}
	l.completed(to)
	took := time.Since(began) / time.Duration(len(passed))
	for _, w := range passed {
		l.note(w, took)
	}
	if len(expired) > 0 {
		l.Log.Warn("slots expired before they could be published", "from", from, "to", to, "slots", slots(expired))
	}
	return nil
}

// jump passes over all but the last minutes of a very long pause: the gap is
// noted as such and the sweep writes its rows.
func (l *Loop) jump(ctx context.Context, next int64) (int64, error) {
	now := l.clock.second()
	if now-next < longGap {
		return next, nil
	}
	to := now - maxExpiry
	split := min(max(l.outage.since, next), to)
	if l.outage.since == 0 {
		split = to
	}
	l.explainer.gap(ctx, uptime.ReasonPublisherDown, next, split)
	l.explainer.gap(ctx, uptime.ReasonRedisDown, split, to)
	if err := l.skip(ctx, to-1); err != nil {
		return next, err
	}
	l.completed(to - 1)
	l.Log.Warn("a long pause was noted as a gap", "from", next, "to", to)
	return to, nil
}

func (l *Loop) refill() {
	if l.wheel != nil {
		l.pacer.refill(time.Now(), l.wheel.Rate())
	}
}
