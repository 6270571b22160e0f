package probe

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/uptime"
)

// deaf visits end when the test lets them, whatever their deadline and context.
type deaf struct {
	end    chan struct{}
	visits atomic.Int64
}

func (d *deaf) visit(_ context.Context, s *sighting) trouble {
	d.visits.Add(1)
	s.hop("http://example.com/")
	<-d.end
	return refused
}

func (*deaf) command() string { return "" }

// forTargets gives each target the visitor of its URL.
func forTargets(visitors map[string]visitor) map[uptime.Kind]compiler {
	return map[uptime.Kind]compiler{uptime.KindHTTP: func(b blueprint) (visitor, error) { return visitors[b.url], nil }}
}

// watchedOver has somebody watch over the visits of an engine, until the test ends.
func watchedOver(t *testing.T, e *Engine) *Engine {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go e.patience(ctx)
	return e
}

func TestHangingVisitEndsAtTheHardCap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := &deaf{end: make(chan struct{})}
		healthy := &scripted{ends: []trouble{up}, took: 100 * time.Millisecond}
		registry := prometheus.NewRegistry()
		e := watchedOver(t, newEngine(options(nil, func(o *Options) { o.Metrics = registry }), forTargets(map[string]visitor{"hung": hung, "healthy": healthy})))
		check := func(id int64, url string) uptime.Check {
			c := checkOf(url)
			c.TargetID = id
			return c
		}
		verify := func(want time.Duration) {
			t.Helper()
			start := time.Now()
			if o := checked(t.Context(), e, check(1, "hung")); o.Status != uptime.StatusUnknown || o.Reason != uptime.ReasonProbeHang || o.Attempts != 1 || time.Since(start) < want || time.Since(start) > want+hangLook {
				t.Errorf("%+v after %v", o, time.Since(start))
			}
		}
		for range maxHanging {
			verify(2*time.Second + hangGrace)
			if o := checked(t.Context(), e, check(2, "healthy")); o.Status != uptime.StatusUp || o.TotalUS != 100_000 {
				t.Errorf("another target: %+v", o)
			}
		}
		verify(0) // no more of that target …
		if n := hung.visits.Load(); n != maxHanging || testutil.ToFloat64(e.metrics.hangs) != maxHanging || e.hanging.total.Load() != maxHanging {
			t.Errorf("%d visits, %v hangs counted, %d hang", n, testutil.ToFloat64(e.metrics.hangs), e.hanging.total.Load())
		}
		close(hung.end) // … until they end
		synctest.Wait()
		if o := checked(t.Context(), e, check(1, "hung")); o.Failure != uptime.FailureConnectRefused || e.hanging.total.Load() != 0 || len(e.hanging.count) != 0 {
			t.Errorf("%+v, %d hang", o, e.hanging.total.Load())
		}
		if o := checked(t.Context(), e, check(2, "healthy")); o.Status != uptime.StatusUp { // nobody gets another's outcome
			t.Errorf("%+v", o)
		}
	})
}

// Checks on demand are of no target: one that hangs leaves the others alone.
func TestHangingCheckOnDemandLeavesTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := &deaf{end: make(chan struct{})}
		e := watchedOver(t, newEngine(options(nil), forTargets(map[string]visitor{"hung": hung, "healthy": &scripted{ends: []trouble{up}}})))
		look := func(url string) Outcome {
			check := checkOf(url)
			check.TargetID = 0
			return e.Look(t.Context(), check)
		}
		for range maxHanging + 1 {
			if o := look("hung"); o.Reason != uptime.ReasonProbeHang {
				t.Errorf("%+v", o)
			}
		}
		if o := look("healthy"); o.Status != uptime.StatusUp || hung.visits.Load() != maxHanging {
			t.Errorf("%+v after %d visits of the other", o, hung.visits.Load())
		}
		close(hung.end)
	})
}

// A drain does not wait for a checker that ignores that it was called off.
func TestHangingVisitIsLeftWhenCalledOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := &deaf{end: make(chan struct{})}
		e := watchedOver(t, newEngine(options(nil), with(hung)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		check := checkOf("")
		check.Timeout = 30 * time.Second
		start := time.Now()
		if checked(ctx, e, check); time.Since(start) < time.Second+hangGrace || time.Since(start) > time.Second+hangGrace+2*hangLook {
			t.Errorf("left after %v", time.Since(start))
		}
		close(hung.end)
	})
}

// Who stood still for longer than the hard cap was frozen, and no checker hung.
func TestFrozenVisitDoesNotHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{ends: []trouble{refused}, took: 5 * time.Second} // thaws a second after the cap
		e := watchedOver(t, newEngine(options(nil), with(slow)))
		e.freeze.last.Store(e.freeze.mark()) // the last beat: none comes after it
		if o := checked(t.Context(), e, checkOf("")); o.Reason != uptime.ReasonFrozen || testutil.ToFloat64(e.metrics.hangs) != 0 {
			t.Errorf("%+v", o)
		}
	})
}
