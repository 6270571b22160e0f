package deletion

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/service"
)

const (
	passEvery   = 5 * time.Second
	backOffMost = time.Minute
	page        = 500
	buryLimit   = 20 * time.Second
	eraseLimit  = 5 * time.Minute
	noteLimit   = 5 * time.Second
	stuckAfter  = 30 * time.Minute

	stepTombstone = "tombstone"
	stepPrune     = "prune"
	stepFinish    = "finish"
)

// Options of a Saga; all are required but Metrics.
type Options struct {
	Notes      Notes
	Tombstones Tombstones
	Rows       Rows
	Checks     Checks
	Changes    Changes
	Lease      Lease
	Health     Health
	Log        *slog.Logger
	Metrics    prometheus.Registerer
}

// Saga removes what deleted targets left behind. Run it once.
type Saga struct {
	Options
	metrics *metrics
	now     func() time.Time
	pruned  time.Time // when tombstones last were
}

// New makes a saga.
func New(o Options) *Saga { return &Saga{Options: o, metrics: newMetrics(o.Metrics), now: time.Now} }

// Run works until ctx ends, while the lease is held.
func (s *Saga) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, step := range s.steps() {
		group.Go(func() error { s.repeat(ctx, step); return nil })
	}
	return group.Wait()
}

// steps are independent: each has a loop, a back-off and notes of its own.
func (s *Saga) steps() []step {
	all := []step{{stepTombstone, buryLimit, s.bury}, {stepPrune, buryLimit, s.prune}, {stepAnswers, buryLimit, s.forget}}
	for _, p := range places {
		all = append(all, step{p.table, eraseLimit, func(ctx context.Context) error { return s.erase(ctx, p) }})
	}
	return append(all, step{stepFinish, noteLimit, s.finish})
}

// step is one of the independent parts of the saga.
type step struct {
	name  string
	limit time.Duration
	pass  func(context.Context) error
}

func (s *Saga) repeat(ctx context.Context, step step) {
	for failures := 0; ctx.Err() == nil; {
		wait := passEvery
		if s.Lease.Held() {
			err := s.once(ctx, step)
			if failing := err != nil; failing != (failures > 0) && ctx.Err() == nil {
				s.Log.Warn("removing deleted targets changed", "step", step.name, "failing", failing, "error", err)
			}
			if failures++; err == nil {
				failures = 0
			}
			wait = min(passEvery<<min(failures, 4), backOffMost)
		} else {
			failures = 0
			s.idle()
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// idle is what a standby shows: it knows nothing.
func (s *Saga) idle() {
	s.metrics.counted(0, 0)
	s.Health.Set("deletions", service.OK, "")
}

func (s *Saga) once(ctx context.Context, step step) error {
	ctx, cancel := context.WithTimeout(ctx, step.limit)
	defer cancel()
	err := step.pass(ctx)
	s.metrics.passed(step.name, err)
	return err
}

// finish finishes the deletions whose steps are all done, and tells how much is left.
func (s *Saga) finish(ctx context.Context) error {
	now := s.now()
	finished, err := s.Notes.FinishDeletions(ctx, Steps(), now)
	if err != nil {
		return err
	}
	if finished > 0 {
		s.metrics.finished.Add(float64(finished))
		s.Log.Info("deletions finished", "targets", finished)
	}
	counts, err := s.Notes.CountDeletions(ctx, now)
	if err != nil {
		return err
	}
	age := time.Duration(0)
	if !counts.Oldest.IsZero() {
		age = now.Sub(counts.Oldest)
	}
	s.metrics.counted(counts.Unfinished, age)
	if age < stuckAfter {
		s.Health.Set("deletions", service.OK, "")
		return nil
	}
	s.Health.Set("deletions", service.Degraded, fmt.Sprintf("%d deleted targets still leave traces, the oldest was deleted %v ago", counts.Unfinished, age.Round(time.Minute)))
	return nil
}

// failed notes a failure with the deletions it concerns, as far as the database lets.
func (s *Saga) failed(ctx context.Context, step string, ids []int64, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	if err := s.Notes.MarkFailed(ctx, step, ids, err.Error()); err != nil {
		s.Log.Debug("a failure could not be noted", "step", step, "error", err)
	}
	return err
}
