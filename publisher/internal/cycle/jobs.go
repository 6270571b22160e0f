package cycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
)

const forgetAfter = time.Hour // a prober not heard for so long

var errStandby = errors.New("the lease is held elsewhere")

// elector lets gocron run jobs only where the lease is held.
type elector struct{ lease Lease }

func (e elector) IsLeader(context.Context) error {
	if e.lease.Held() {
		return nil
	}
	return errStandby
}

// job is a coarse piece of work that may be late, or run twice, without harm.
type job struct {
	name  string
	every time.Duration
	limit time.Duration
	run   func(ctx context.Context) error
}

// jobs runs the coarse jobs until ctx ends. Ticks that were slept through are
// not made up for: each job works from what is stored, not from being called.
func (l *Loop) jobs(ctx context.Context) error {
	return runJobs(ctx, l, []job{
		{"sweep", l.SweepEvery, 50 * time.Second, l.sweep},
		{"forget_probers", 10 * time.Minute, 10 * time.Second, l.forgetProbers},
	})
}

func runJobs(ctx context.Context, l *Loop, jobs []job) error {
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedElector(elector{l.Lease}), gocron.WithStopTimeout(10*time.Second))
	if err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	for _, j := range jobs {
		_, err := scheduler.NewJob(gocron.DurationJob(j.every), gocron.NewTask(func() error { return l.runJob(ctx, j) }),
			gocron.WithName(j.name), gocron.WithSingletonMode(gocron.LimitModeReschedule),
			gocron.WithEventListeners(
				gocron.AfterJobRunsWithPanic(func(_ uuid.UUID, name string, recovered any) {
					l.metrics.jobs.WithLabelValues(name, "panic").Inc()
					l.Log.Error("job panicked", "job", name, "panic", fmt.Sprint(recovered))
				})))
		if err != nil {
			return errors.Join(fmt.Errorf("start job %s: %w", j.name, err), scheduler.Shutdown())
		}
	}
	scheduler.Start()
	<-ctx.Done()
	if err := scheduler.Shutdown(); err != nil {
		l.Log.Warn("jobs did not stop in time", "error", err)
	}
	return nil
}

func (l *Loop) runJob(ctx context.Context, j job) error {
	limited, cancel := context.WithTimeout(ctx, j.limit)
	defer cancel()
	err := j.run(limited)
	outcome := "done"
	if err != nil && ctx.Err() == nil {
		outcome = "failed"
		l.Log.Warn("job failed, it will be tried again", "job", j.name, "error", err)
	}
	l.metrics.jobs.WithLabelValues(j.name, outcome).Inc()
	return err
}

// sweep closes the ledger, up to what has been published.
func (l *Loop) sweep(ctx context.Context) error {
	v := l.view.Load()
	if v.published().IsZero() {
		return nil
	}
	swept, err := l.Sweeper.Sweep(ctx, v.now(), v.published())
	written := int64(0)
	for reason, n := range swept.Written {
		written += n
		l.metrics.missed.WithLabelValues(string(reason)).Add(float64(n))
	}
	l.metrics.swept.Set(float64(written))
	l.metrics.held.Set(float64(swept.Held))
	if !swept.To.IsZero() {
		l.metrics.lastSweep.Set(float64(swept.To.Unix()))
	}
	if written > 0 {
		l.Log.Warn("sweep explained slots nobody had explained", "slots", written, "reasons", swept.Written, "swept_to", swept.To)
	}
	return err
}

// forgetProbers removes the heartbeats of probers that are long gone. One that is to drain
// stays in sight: it would begin so, whenever it is started again.
func (l *Loop) forgetProbers(ctx context.Context) error {
	probers, err := l.Upkeep.Probers(ctx)
	if err != nil {
		return err
	}
	for _, h := range probers {
		if h.Age > forgetAfter && h.Drain == nil {
			if err := l.Upkeep.ForgetProber(ctx, h.Region, h.Name); err != nil {
				return err
			}
			l.Log.Info("prober forgotten", "region", h.Region, "prober", h.Name)
		}
	}
	return nil
}
