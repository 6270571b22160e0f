package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/sharedclock"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
)

// rig is a consumer with fakes around it, inside a synctest bubble.
type rig struct {
	stream  *stream
	visitor *visitor
	hosts   *hostlimit.Hosts
	sink    *sink
	feed    *feed
	shared  shared
	options Options
	stop    func()
	fatal   error // why it stops; nil is an ordinary stop
	ended   chan struct{}
	edges   func(*edge) // told of every transition, instead of the failpoints; few fit between measured and recording then
	c       *Consumer
}

func newRig() *rig {
	return &rig{
		stream: newStream(), visitor: &visitor{}, sink: &sink{}, feed: &feed{},
		options: Options{Region: "eu", Name: "p1", Capacity: 1000, ReclaimIdle: 45 * time.Second},
	}
}

// clock believes a jump at once: it stands for a process that stood still.
func (r *rig) clock() *sharedclock.Clock {
	clock := sharedclock.New(&r.shared)
	clock.Doubt = 1
	return clock
}

func (r *rig) start(t *testing.T) {
	t.Helper()
	r.stream.kill() // whoever was there before
	life := client{stream: r.stream, life: r.stream.life}
	r.options.Permanent = isPermanent
	r.sink.dead = life.gone
	registry := prometheus.NewRegistry()
	r.hosts = hostlimit.New(hostlimit.Options{PerHost: 10, Waiting: r.options.Capacity, Metrics: registry})
	r.c = New(Parts{
		Source: life, Settler: life, Presence: life, Clock: r.clock(), Hosts: r.hosts, Prober: r.visitor, Recorder: r.sink, Announcer: r.feed,
		Log: slog.New(slog.DiscardHandler), Metrics: registry,
	}, r.options)
	r.sink.reject = r.c.Refused
	if r.edges != nil {
		r.c.flights.taken = r.edges
		r.c.measured = newHarvest(1)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	r.stop, r.ended = func() { stop(r.fatal) }, make(chan struct{})
	go func() {
		defer close(r.ended)
		if err := r.c.Run(ctx); !errors.Is(err, r.fatal) {
			t.Error(err)
		}
	}()
}

// look lets a test read the fakes between two instants.
func (r *rig) look(f func()) {
	for _, mu := range []*sync.Mutex{&r.stream.mu, &r.visitor.mu, &r.sink.mu, &r.feed.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	f()
}

// finish drains and checks that every delivery ended acked XOR pending, once.
func (r *rig) finish(t *testing.T) {
	t.Helper()
	r.stop()
	<-r.ended
	r.sink.wg.Wait()
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	for _, wrong := range r.stream.wrong {
		t.Error(wrong)
	}
	for id := range r.stream.delivered {
		_, pending := r.stream.pending[id]
		_, dead := r.stream.dead[id]
		ends := r.stream.acked[id]
		for _, is := range []bool{pending, dead} {
			if is {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%s ended %d times: acked %d, pending %v, dead %v", id, ends, r.stream.acked[id], pending, dead)
		}
	}
	if !r.stream.left {
		t.Error("left without a goodbye")
	}
	if n := r.c.flights.illegal.Load(); n != 0 {
		t.Errorf("%d transitions that the statechart does not have", n)
	}
}

// entryIn makes an entry whose slot is that far from the shared now.
func entryIn(id int64, in time.Duration, change ...func(*checkstream.Entry)) checkstream.Entry {
	at := time.Now().Add(skew + in).UTC().Truncate(time.Millisecond)
	e := checkstream.Entry{
		ID: fmt.Sprintf("%d-%d", at.Unix()*1000, id), TargetID: id, Second: at.Unix(),
		Check: uptime.Check{TargetID: id, ScheduledAt: at, Interval: time.Minute, Regions: []string{"eu"}, Kind: uptime.KindHTTP, Timeout: 10 * time.Second},
	}
	for _, f := range change {
		f(&e)
	}
	return e
}

func again(deliveries int64) func(*checkstream.Entry) {
	return func(e *checkstream.Entry) { e.Deliveries = deliveries }
}
