package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
)

// abundance takes every batch at once, and two land for each.
type abundance struct {
	batches int
	land    func()
	over    func()
}

func (a *abundance) Record(_ context.Context, _ []uptime.Result, watch recorder.Watch) error {
	if a.batches--; a.batches == 0 {
		a.over()
	}
	a.land()
	watch.Done(nil)
	return nil
}

// Who has always something to record is alive all the same.
func TestSettlingBeatsHoweverMuchLands(t *testing.T) {
	in(t, func(t *testing.T) {
		const batches = 100
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		rows := &abundance{batches: batches, over: cancel}
		alive := &beats{}
		r := newRig()
		r.start(t)
		wait(time.Second)
		r.options.BeatRecord = alive
		c := New(Parts{Settler: r.c.Settler, Clock: r.clock(), Hosts: r.hosts, Recorder: rows, Log: r.c.Log, Metrics: prometheus.NewRegistry()}, r.options)
		var id int64
		rows.land = func() {
			for range 2 * settleBatch {
				id++
				f := &flight{entry: entryIn(id, -time.Hour)}
				c.flights.add(f)
				c.land(f, explained, uptime.Result{Status: uptime.StatusMissed})
			}
		}
		rows.land()
		before := alive.n.Load()
		c.settle(ctx)
		r.stop()
		<-r.ended
		if n := alive.n.Load() - before; rows.batches > 0 || n < batches-1 {
			t.Errorf("%d beats in %d batches", n, batches-rows.batches)
		}
	})
}
