package rollup

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
)

var errDown = errors.New("down")

// world is the stores of a job, as far as it can tell.
type world struct {
	mu       sync.Mutex
	down     bool
	hang     time.Duration // of one hour's computing
	state    rollupstore.State
	dirty    []resultstore.DirtyHour
	computed []resultstore.Rollup
	days     []resultstore.Rollup
	bad      time.Time // the hour or day that cannot be computed
	tried    int       // how often it was
	again    []resultstore.Rollup
	aside    []rollupstore.Bucket
	keeps    int
	level    service.Level
	beat     time.Time
	silence  time.Duration // the longest between two beats
	held     atomic.Bool
}

func (w *world) do(fn func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return errDown
	}
	fn()
	return nil
}

func (w *world) Held() bool { return w.held.Load() }

func (w *world) Set(_ string, level service.Level, _ string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level = level
}

func (w *world) beats() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.beat.IsZero() {
		w.silence = max(w.silence, time.Since(w.beat))
	}
	w.beat = time.Now()
}

func (w *world) ServerTime(context.Context) (now time.Time, err error) {
	return time.Now().UTC(), w.do(func() {})
}

func (w *world) DirtyHours(context.Context, time.Time, time.Time, time.Time) (dirty []resultstore.DirtyHour, err error) {
	return dirty, w.do(func() { dirty = w.dirty })
}

func (w *world) RecomputeHour(_ context.Context, r resultstore.Rollup) (resultstore.Recomputed, error) {
	time.Sleep(w.hang)
	if w.isBad(r) {
		return resultstore.Recomputed{}, errBad
	}
	return resultstore.Recomputed{Rows: 2, Revised: 1}, w.do(func() { w.computed = append(w.computed, r) })
}

func (w *world) isBad(r resultstore.Rollup) (bad bool) {
	_ = w.do(func() {
		if bad = w.bad.Equal(r.Bucket); bad {
			w.tried++
		}
	})
	return bad
}

func (w *world) MarkAgain(_ context.Context, r resultstore.Rollup, _ time.Duration) error {
	return w.do(func() { w.again = append(w.again, r) })
}

func (w *world) RecomputeDay(_ context.Context, r resultstore.Rollup) (resultstore.Recomputed, error) {
	if w.isBad(r) {
		return resultstore.Recomputed{}, errBad
	}
	return resultstore.Recomputed{Rows: 2}, w.do(func() { w.days = append(w.days, r) })
}

func (w *world) Keep(context.Context, resultstore.Retentions) ([]string, error) {
	return nil, w.do(func() { w.keeps++ })
}

func (w *world) Kept(context.Context) (resultstore.Retentions, error) {
	return resultstore.Retentions{Raw: 30 * day, Hourly: 730 * day, Daily: 1825 * day}, w.do(func() {})
}

func (w *world) State(context.Context) (s rollupstore.State, err error) {
	return s, w.do(func() { s = w.state })
}

func (w *world) Start(_ context.Context, now, marked time.Time) (run rollupstore.Run, err error) {
	return run, w.do(func() {
		if w.state.Run == nil {
			w.state.Run = &rollupstore.Run{Version: now, Started: now, Marked: marked}
		}
		run = *w.state.Run
	})
}

func (w *world) Progress(_ context.Context, _ rollupstore.Run, before time.Time) error {
	return w.do(func() { w.state.Run.Before = before })
}

func (w *world) Finish(_ context.Context, run rollupstore.Run) error {
	return w.do(func() { w.state = rollupstore.State{Succeeded: run.Started} })
}

func (w *world) Aside(context.Context) (aside []rollupstore.Bucket, err error) {
	return aside, w.do(func() { aside = w.aside })
}

func (w *world) SetAside(_ context.Context, aside []rollupstore.Bucket) error {
	return w.do(func() { w.aside = aside })
}

// at runs a test in virtual time with a job at work.
func at(t *testing.T, test func(t *testing.T, w *world, j *Job)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		w.held.Store(true)
		time.Sleep(12 * hour) // past midnight
		w.dirty = []resultstore.DirtyHour{{Hour: time.Now().UTC().Truncate(hour), Targets: 1}}
		j := New(Options{Results: w, Notes: w, Lease: w, Beat: w.beats, Health: w, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		test(t, w, j)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestJobRunsEveryMinute(t *testing.T) {
	at(t, func(t *testing.T, w *world, j *Job) {
		time.Sleep(10*time.Minute + 30*time.Second)
		_ = w.do(func() {
			if n := len(w.computed); n != 11 || w.keeps != 1 || w.silence > lookEvery {
				t.Errorf("%d runs, retention looked after %d times, silent for %v", n, w.keeps, w.silence)
			}
			first, later := w.computed[0], w.computed[5]
			if !first.Marked.Equal(time.UnixMilli(1)) || later.Version.Sub(later.Marked) != margin+runEvery {
				t.Errorf("looked at marks since %v, then %v", first.Marked, later.Version.Sub(later.Marked))
			}
		})
		if testutil.ToFloat64(j.metrics.hours) != 11 || testutil.ToFloat64(j.metrics.corrections) != 11 || testutil.ToFloat64(j.metrics.runs.WithLabelValues("done")) != 11 {
			t.Error("metrics do not tell")
		}
		then := w.dirty
		_ = w.do(func() { w.dirty = nil })
		time.Sleep(2 * day)
		_ = w.do(func() {
			if len(w.days) != 2 || !w.days[0].Marked.IsZero() || !w.days[1].Bucket.Equal(w.days[0].Bucket.Add(day)) {
				t.Errorf("%d days", len(w.days))
			}
			w.dirty = then
		})
		time.Sleep(runEvery)
		_ = w.do(func() {
			if last := w.computed[len(w.computed)-1]; !last.Closed || len(w.days) != 3 || w.days[2].Marked.IsZero() {
				t.Error("an hour of two days ago counts as open, or its day was not touched")
			}
		})
	})
}

func TestStandbyComputesNothing(t *testing.T) {
	at(t, func(t *testing.T, w *world, j *Job) {
		time.Sleep(time.Second)
		w.held.Store(false)
		time.Sleep(hour)
		_ = w.do(func() {
			if len(w.computed) != 1 || testutil.ToFloat64(j.metrics.last) != 0 || w.silence > lookEvery {
				t.Errorf("%d runs", len(w.computed))
			}
			w.down = true
		})
		time.Sleep(hour)
		w.mu.Lock()
		if w.level != service.OK {
			t.Error("a standby complains")
		}
		w.down = false
		w.mu.Unlock()
		w.held.Store(true)
		time.Sleep(lookEvery + time.Second)
		_ = w.do(func() {
			if len(w.computed) != 2 {
				t.Error("not taken up at once")
			}
		})
	})
}

func TestStoreThatIsAwayIsToldAboutAfterTenMinutes(t *testing.T) {
	at(t, func(t *testing.T, w *world, j *Job) {
		time.Sleep(time.Second)
		set := func(down bool) { w.mu.Lock(); w.down = down; w.mu.Unlock() }
		level := func() service.Level { w.mu.Lock(); defer w.mu.Unlock(); return w.level }
		set(true)
		time.Sleep(9 * time.Minute)
		if level() != service.OK {
			t.Error("complains too early")
		}
		time.Sleep(3 * time.Minute)
		if level() != service.Degraded || testutil.ToFloat64(j.metrics.runs.WithLabelValues("failed")) < 10 {
			t.Error("nobody is told")
		}
		set(false)
		time.Sleep(time.Minute + lookEvery)
		if level() != service.OK {
			t.Error("still complains")
		}
	})
}

// A long run is handed over between two hours, and gone on with there.
func TestLeaseIsGivenBackInTheMidstOfARun(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *Job) {
		time.Sleep(2 * time.Minute)
		_ = w.do(func() {
			w.hang, w.computed, w.dirty = time.Minute, nil, nil
			for n := range 3 {
				start := time.Now().UTC().Truncate(hour).Add(-time.Duration(n) * day)
				w.dirty = append(w.dirty, resultstore.DirtyHour{Hour: start}, resultstore.DirtyHour{Hour: start.Add(-hour)})
			}
		})
		time.Sleep(runEvery + 2*time.Minute + 30*time.Second)
		w.held.Store(false)
		time.Sleep(4 * time.Minute)
		_ = w.do(func() {
			if n := len(w.computed); n != 3 && n != 4 || w.state.Run == nil || w.state.Run.Before.IsZero() {
				t.Errorf("%d hours, run %+v", n, w.state.Run)
			}
			w.computed = nil
		})
		w.held.Store(true)
		time.Sleep(6 * time.Minute)
		_ = w.do(func() {
			if len(w.computed) < 4 || !w.computed[0].Bucket.Before(time.Now().Truncate(day)) {
				t.Errorf("gone on with %+v", w.computed)
			}
		})
	})
}
