package rollup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	runEvery   = time.Minute
	lookEvery  = 5 * time.Second // for the lease
	keepEvery  = time.Hour
	staleAfter = 10 * time.Minute
)

// Options of a Job; all are required but Keep, Beat and Metrics.
type Options struct {
	Results Results
	Notes   Notes
	Lease   Lease
	Keep    resultstore.Retentions // how long tiers are kept; zero leaves one as it is
	// Beat is for a watchdog: called whenever the job gets somewhere, and when it has
	// nothing to do. The longest silence of a healthy one is the computing of a day.
	Beat    func()
	Health  Health
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Job keeps the rollups. Run it once.
type Job struct {
	Options
	metrics *metrics
	kept    time.Time // when retention was last looked after
	good    time.Time // when a run last finished, or the lease was taken
	aside   map[bucket]*trouble
}

// New makes a job.
func New(o Options) *Job {
	if o.Beat == nil {
		o.Beat = func() {}
	}
	return &Job{Options: o, metrics: newMetrics(o.Metrics), aside: map[bucket]*trouble{}}
}

// Run works until ctx ends, while the lease is held.
func (j *Job) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var next time.Time
	failing := false
	for {
		j.Beat()
		switch now := time.Now(); {
		case !j.Lease.Held():
			next, failing = time.Time{}, false
			j.idle()
		case !now.Before(next):
			next = now.Add(runEvery)
			err := j.once(ctx)
			if (err != nil) != failing && ctx.Err() == nil {
				failing = err != nil
				j.Log.Warn("computing the rollups changed", "failing", failing, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// idle is what a standby shows: it knows nothing.
func (j *Job) idle() {
	j.good, j.kept = time.Time{}, time.Time{}
	clear(j.aside)
	j.metrics.last.Set(0)
	j.metrics.aside.Set(0)
	j.Health.Set("rollups", service.OK, "")
}

// once is a run, and what is told of it.
func (j *Job) once(ctx context.Context) error {
	began := time.Now()
	if j.good.IsZero() {
		j.good = began
	}
	done, err := j.runOnce(ctx)
	j.metrics.aside.Set(float64(len(j.aside)))
	if err != nil {
		if ctx.Err() != nil || !j.Lease.Held() {
			return nil // it is gone on with elsewhere
		}
		j.metrics.runs.WithLabelValues("failed").Inc()
		if behind := time.Since(j.good); behind > staleAfter {
			j.Health.Set("rollups", service.Degraded, fmt.Sprintf("hourly and daily figures are %v behind the results: %v", behind.Round(time.Minute), err))
		}
		return err
	}
	j.good = time.Now()
	j.metrics.runs.WithLabelValues("done").Inc()
	j.metrics.last.Set(float64(done.started.Unix()))
	j.metrics.took.Set(time.Since(began).Seconds())
	j.tellTrouble()
	if done.revised > 0 {
		j.Log.Info("closed hours were corrected", "rows", done.revised, "hours", done.hours)
	}
	return nil
}
