package rollup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
)

const noteLimit = 5 * time.Second

var errStandby = errors.New("the lease is held elsewhere")

// counts are what a run did.
type counts struct {
	started     time.Time
	hours, days int
	aside       int   // hours and days that could not be computed
	revised     int64 // rows of closed hours that changed
}

// runOnce does all that is to be done now.
func (j *Job) runOnce(ctx context.Context) (done counts, err error) {
	kept, err := j.keep(ctx)
	if err != nil {
		return done, err
	}
	now, err := j.Results.ServerTime(ctx)
	if err != nil {
		return done, err
	}
	succeeded, run, err := j.start(ctx, now)
	if err != nil {
		return done, err
	}
	oldest := resultstore.OldestHour(now, kept.Raw)
	dirty, err := j.Results.DirtyHours(ctx, run.Marked, oldest, now.Add(ahead))
	if err != nil {
		return done, err
	}
	j.giveUp(oldest)
	done.started = run.Started
	plan := planned(succeeded, run.Started, run.Before, dirty)
	for i, d := range plan.days {
		if err := j.day(ctx, run, plan.closed, d, &done); err != nil {
			return done, err
		}
		if i+1 == len(plan.days) {
			break
		}
		if done.nothing(run) {
			continue
		}
		if err := note(ctx, func(ctx context.Context) error { return j.Notes.Progress(ctx, run, d.start) }); err != nil {
			return done, err
		}
	}
	if err := note(ctx, func(ctx context.Context) error { return j.noteAside(ctx, oldest, now.Add(-kept.Daily)) }); err != nil {
		return done, err
	}
	if done.nothing(run) { // that is no bad hour any more
		return done, fmt.Errorf("nothing could be computed: %w", j.oldestTrouble().err)
	}
	return done, note(ctx, func(ctx context.Context) error { return j.Notes.Finish(ctx, run) })
}

// nothing says that all that a run has tried so far failed: none of it counts as done.
func (c counts) nothing(run rollupstore.Run) bool {
	return c.aside > 0 && c.hours+c.days == 0 && run.Before.IsZero()
}

// start begins a run, or takes up the one that ended half way.
func (j *Job) start(ctx context.Context, now time.Time) (succeeded time.Time, run rollupstore.Run, err error) {
	err = note(ctx, func(ctx context.Context) error {
		state, err := j.Notes.State(ctx)
		if err != nil {
			return err
		}
		succeeded = state.Succeeded
		run, err = j.Notes.Start(ctx, now, markedSince(succeeded, now))
		return err
	})
	return succeeded, run, err
}

// day computes the hours of a day that need it, and then the day when it is over.
func (j *Job) day(ctx context.Context, run rollupstore.Run, closed time.Time, d dayPlan, done *counts) error {
	for _, h := range d.hours {
		r := resultstore.Rollup{Bucket: h, Marked: marked(run), Version: run.Version, Closed: !closed.IsZero() && !h.Add(hour).After(closed)}
		wrote, computed, err := j.compute(ctx, r, hour)
		switch {
		case err != nil:
			return err
		case !computed:
			done.aside++
			continue
		}
		done.hours++
		done.revised += wrote.Revised
		j.metrics.hours.Inc()
		j.metrics.corrections.Add(float64(wrote.Revised))
	}
	if !d.ended {
		return nil
	}
	r := resultstore.Rollup{Bucket: d.start, Version: run.Version}
	if !d.all {
		r.Marked = marked(run)
	}
	_, computed, err := j.compute(ctx, r, day)
	switch {
	case err != nil:
		return err
	case !computed:
		done.aside++
		return nil
	}
	done.days++
	j.metrics.days.Inc()
	return nil
}

// marked is the run's, for a store that takes zero for "all targets": all that were ever marked.
func marked(run rollupstore.Run) time.Time {
	if run.Marked.IsZero() {
		return time.UnixMilli(1)
	}
	return run.Marked
}

// carryOn is asked before every piece of work.
func (j *Job) carryOn(ctx context.Context) error {
	j.Beat()
	if !j.Lease.Held() {
		return errStandby
	}
	return ctx.Err()
}

// keep sees to it that the tables keep each tier for as long as was asked for.
func (j *Job) keep(ctx context.Context) (resultstore.Retentions, error) {
	if now := time.Now(); now.Sub(j.kept) >= keepEvery {
		altered, err := j.Results.Keep(ctx, j.Keep)
		if err != nil {
			return resultstore.Retentions{}, err
		}
		j.kept = now
		if len(altered) > 0 {
			j.Log.Info("retention changed", "tables", altered, "raw", j.Keep.Raw, "hourly", j.Keep.Hourly, "daily", j.Keep.Daily)
		}
	}
	return j.Results.Kept(ctx)
}

// note bounds a call to the database.
func note(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	return do(ctx)
}
