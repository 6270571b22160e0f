package cycle

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/livefeed"
)

// every calls fn at once and then at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, fn func(context.Context)) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		fn(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// tend starts what is done at fixed intervals beside the tick.
func (l *Loop) tend(ctx context.Context, group *errgroup.Group) {
	for _, task := range []struct {
		every time.Duration
		run   func(context.Context)
	}{
		{time.Second, l.trim},
		{2 * time.Second, l.adoptRegions},
		{janitorEvery, l.janitor},
		{5 * time.Second, l.checkAlive},
		{time.Minute, l.account},
	} {
		group.Go(func() error { return every(ctx, task.every, task.run) })
	}
}

// followChanges wakes the feed when a target was saved.
func (l *Loop) followChanges(ctx context.Context) error {
	err := l.Changes.FollowChanges(ctx, func([]livefeed.Change) error {
		l.feed.wake()
		return nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// trim removes from the stream what every region has settled.
func (l *Loop) trim(ctx context.Context) {
	v := l.view.Load()
	if !v.Leader || !l.Lease.Held() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	report, err := l.Upkeep.Trim(limited)
	if err != nil {
		l.Log.Debug("trimming failed", "error", err)
		return
	}
	l.metrics.trimmed.Add(float64(report.Removed))
	age := 0.0
	if !report.OldestUnsettled.IsZero() {
		age = max(0, v.now().Sub(report.OldestUnsettled).Seconds())
	}
	l.metrics.oldestUnsettled.Set(age)
}
