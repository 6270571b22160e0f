package main

import (
	"context"
	"math"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/prober/internal/scaler"
)

// limits are what the scaler may choose from.
func (c Config) limits(most int) scaler.Limits {
	return scaler.Limits{Min: c.WorkersMin, Max: c.WorkersMax, PerWorker: c.ChecksPerWorker, Most: most}
}

// eyes are what the scaler sees with.
type eyes struct {
	region string
	stream *checkstream.Consumer
	fleet  *checkstream.Fleet
	rows   *recorder.Recorder
	demand func() (inHand int, promised time.Duration)

	resting func() bool
}

// look asks Redis for what only it knows; without its answer that is missing. How far its
// region is behind says nothing to a prober that is to drain.
func (e eyes) look(ctx context.Context) scaler.Reading {
	missing := math.NaN()
	reading := scaler.Reading{Signals: scaler.Signals{Lag: missing, Depth: missing, Memory: missing, Writer: e.rows.State().Saturation}}
	reading.InHand, reading.Promised = e.demand()
	if load, err := e.stream.Load(ctx); err == nil {
		reading.Lag, reading.Depth, reading.Memory = load.Lag.Seconds(), load.Depth, load.Memory
	}
	if e.resting() {
		reading.Lag = missing
	}
	if probers, err := e.fleet.Probers(ctx); err == nil {
		for _, prober := range probers {
			if prober.Region == e.region && prober.Working() {
				reading.Probers++
			}
		}
	}
	return reading
}
