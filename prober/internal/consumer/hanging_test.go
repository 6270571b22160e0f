package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/scaler"
)

// look is what a scaler sees of the rig: a stream that Redis would tell of.
func (r *rig) scalerSees(context.Context) scaler.Reading {
	r.stream.mu.Lock()
	lag := 0.0
	if len(r.stream.fresh) > 0 {
		lag = math.Max(0, time.Now().Add(skew).Sub(r.stream.fresh[0].Check.ScheduledAt).Seconds())
	}
	depth := float64(len(r.stream.fresh)+len(r.stream.pending)) / 10_000
	r.stream.mu.Unlock()
	in := scaler.Reading{Signals: scaler.Signals{Lag: lag, Depth: depth}, Probers: 1}
	in.InHand, in.Promised = r.c.Demand()
	return in
}

// Nine targets in ten begin to hang from one moment to the next, after a quiet time in
// which the prober has made itself small: those that do not are visited on time.
//
// Promise: targets that hang delay no other check
func TestHangingTargetsDelayNobody(t *testing.T) {
	in(t, func(t *testing.T) {
		const perSecond, quiet, hanging = 20, 120, 90
		r := newRig()
		r.options.Capacity = 10_000
		size := scaler.New(scaler.Options{
			Limits: scaler.Limits{Min: 2, Max: 20, PerWorker: 100, Most: 10_000}, Look: r.scalerSees,
			Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		})
		r.options.Places = size.Places
		var hang atomic.Bool
		r.visitor.took = func(check uptime.Check) time.Duration {
			if hang.Load() && check.TargetID%10 != 0 {
				return check.Timeout
			}
			return 20 * time.Millisecond
		}
		r.start(t)
		ctx, cancel := context.WithCancel(t.Context())
		scaling := make(chan error, 1)
		go func() { scaling <- size.Run(ctx) }()
		id := int64(0)
		for second := range quiet + hanging { // published a second ahead, as they are
			if second == quiet {
				if n := size.Workers(); n < 3 || n > 12 {
					t.Errorf("%d workers when all is quiet", n)
				}
				hang.Store(true)
			}
			r.look(func() {
				for i := range perSecond {
					id++
					e := entryIn(id, time.Second+time.Duration(i)*40*time.Millisecond, at(fmt.Sprintf("http://h%d.test/", id)))
					e.Check.Timeout = 30 * time.Second
					r.stream.fresh = append(r.stream.fresh, e)
				}
			})
			wait(time.Second)
		}
		wait(3 * time.Second)
		var late time.Duration
		healthy := 0
		r.look(func() {
			for slot, rows := range r.sink.rows {
				if slot.TargetID%10 == 0 {
					healthy++
					late = max(late, rows[0].CheckedAt.Sub(slot.ScheduledAt))
				}
			}
		})
		if want := (quiet + hanging) * perSecond / 10; healthy != want || late > 2*time.Second {
			t.Errorf("%d of %d healthy targets were visited, up to %v late", healthy, want, late)
		}
		cancel()
		<-scaling
		wait(40 * time.Second)
		r.finish(t)
	})
}
