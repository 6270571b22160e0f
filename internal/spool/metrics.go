package spool

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcomes of an Append.
const (
	outcomeKept   = "kept"
	outcomeFull   = "full"
	outcomeFailed = "failed"
)

type metrics struct {
	appends *prometheus.CounterVec
	seconds prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer, s *Spool) *metrics {
	m := &metrics{
		appends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "probefleet_spool_appends_total", Help: "Batches offered to the spool, by outcome.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "probefleet_spool_append_seconds", Help: "Time until a batch was on the disk, fsync of file and directory included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 20},
		}),
	}
	for _, outcome := range []string{outcomeKept, outcomeFull, outcomeFailed} {
		m.appends.WithLabelValues(outcome)
	}
	if registry != nil {
		registry.MustRegister(m.appends, m.seconds,
			prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name: "probefleet_spool_corrupt_total", Help: "Damaged files moved to the folder corrupt.",
			}, func() float64 {
				s.mu.Lock()
				defer s.mu.Unlock()
				return float64(s.moved)
			}),
			gauge("probefleet_spool_batches", "Batches waiting on disk.", func(state State) float64 { return float64(state.Batches) }, s),
			gauge("probefleet_spool_rows", "Rows waiting on disk.", func(state State) float64 { return float64(state.Rows) }, s),
			gauge("probefleet_spool_bytes", "Bytes of whole blocks on disk.", func(state State) float64 { return float64(state.Bytes) }, s),
			gauge("probefleet_spool_max_bytes", "Bytes the spool may use.", func(state State) float64 { return float64(state.MaxBytes) }, s),
			gauge("probefleet_spool_oldest_age_seconds", "Age of the oldest batch on disk.", func(state State) float64 { return state.OldestAge.Seconds() }, s),
			gauge("probefleet_spool_full", "1 while batches are refused because the cap is reached or the disk is full.", func(state State) float64 {
				if state.Full {
					return 1
				}
				return 0
			}, s),
		)
	}
	return m
}

func gauge(name, help string, value func(State) float64, s *Spool) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(s.State()) })
}

func (m *metrics) appended(err error, took time.Duration) {
	switch {
	case err == nil:
		m.appends.WithLabelValues(outcomeKept).Inc()
		m.seconds.Observe(took.Seconds())
	case errors.Is(err, ErrFull):
		m.appends.WithLabelValues(outcomeFull).Inc()
	default:
		m.appends.WithLabelValues(outcomeFailed).Inc()
	}
}
