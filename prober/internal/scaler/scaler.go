package scaler

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	cycle       = 5 * time.Second
	lookTimeout = 3 * time.Second
)

// Reading is what a prober sees in a cycle.
type Reading struct {
	Signals
	InHand   int           // places taken
	Promised time.Duration // the sum of the timeouts of all checks ever taken on
	Probers  int           // of the region that are alive; 0: not known
}

// Options of a Scaler; all are required.
type Options struct {
	Limits
	Look    func(ctx context.Context) Reading // asked once a cycle; what it does not know is NaN
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// Scaler keeps the number of workers.
type Scaler struct {
	o       Options
	metrics *metrics
	state   State
	demand  demand
	last    Decision
	workers atomic.Int64
}

// New makes a Scaler that begins with the most workers.
func New(o Options) *Scaler {
	s := &Scaler{o: o, state: State{Workers: o.Max}}
	s.workers.Store(int64(o.Max))
	s.metrics = newMetrics(o.Metrics, s)
	return s
}

// Workers is how many there are now.
func (s *Scaler) Workers() int { return int(s.workers.Load()) }

// Places is how many checks may be held at once now.
func (s *Scaler) Places() int { return s.o.places(s.Workers()) }

// Run decides once a cycle until ctx ends.
func (s *Scaler) Run(ctx context.Context) error {
	ticker := time.NewTicker(cycle)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			s.runOnce(ctx)
		}
	}
}

func (s *Scaler) runOnce(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, lookTimeout)
	in := s.o.Look(look)
	cancel()
	if ctx.Err() != nil {
		return
	}
	now := time.Now()
	needed := s.demand.needed(now, in.InHand, in.Promised)
	var d Decision
	s.state, d = s.o.Decide(s.state, now, in.Signals, needed)
	s.workers.Store(int64(d.Workers))
	s.metrics.decided(d, in.Signals, needed)
	if n, known := s.o.recommended(s.state, in.Signals, needed, in.Probers); known {
		s.metrics.replicas.WithLabelValues().Set(float64(n))
	}
	level := slog.LevelDebug
	if d.Direction != Hold || d.Reason != s.last.Reason { // the same again is no news
		level = slog.LevelInfo
	}
	s.last = d
	s.o.Log.LogAttrs(ctx, level, "workers decided",
		slog.String("direction", string(d.Direction)), slog.String("reason", string(d.Reason)), slog.Int("workers", d.Workers), slog.Int("needed_places", int(needed)),
		signal("lag_s", in.Lag), signal("depth", in.Depth), signal("memory", in.Memory), signal("writer", in.Writer))
}

// signal is an attribute of a log line; JSON has no NaN.
func signal(name string, value float64) slog.Attr {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return slog.String(name, "missing")
	}
	return slog.Float64(name, math.Round(value*1000)/1000)
}
