package recorder

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sony/gobreaker/v2"
)

// Outcomes of rows and batches. A spooled row is counted again when it is replayed.
const (
	outcomeStored    = "stored"
	outcomeSpooled   = "spooled"
	outcomeReplayed  = "replayed" // from the spool to the store
	outcomeDeleted   = "deleted"  // left out of a replay: the target is gone
	outcomeTooOld    = "too_old"  // from the spool, of a time of which results are not kept any more
	outcomeRejected  = "rejected"
	outcomeAbandoned = "abandoned" // not durable when the process stopped
)

type metrics struct {
	rows, batches *prometheus.CounterVec
	transitions   *prometheus.CounterVec
	retries       prometheus.Counter
	insertSeconds prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer, r *Recorder) *metrics {
	m := &metrics{
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "probefleet_recorder_rows_total", Help: "Rows settled, by outcome.",
		}, []string{"outcome"}),
		batches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "probefleet_recorder_batches_total", Help: "Batches settled, by outcome.",
		}, []string{"outcome"}),
		transitions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "probefleet_recorder_breaker_transitions_total", Help: "Changes of the breaker, by the state it changed to.",
		}, []string{"to"}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "probefleet_recorder_retries_total", Help: "Inserts that failed: repeated, or sent to the spool.",
		}),
		insertSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "probefleet_recorder_insert_seconds", Help: "Time of one insert, failed ones included.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}),
	}
	for _, outcome := range []string{outcomeStored, outcomeSpooled, outcomeReplayed, outcomeRejected, outcomeAbandoned} {
		m.rows.WithLabelValues(outcome)
		m.batches.WithLabelValues(outcome)
	}
	m.rows.WithLabelValues(outcomeDeleted)
	m.rows.WithLabelValues(outcomeTooOld)
	for state := range gobreaker.StateOpen + 1 {
		m.transitions.WithLabelValues(stateName(state))
	}
	if registry != nil {
		registry.MustRegister(m.rows, m.batches, m.transitions, m.retries, m.insertSeconds,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "probefleet_recorder_buffered_rows", Help: "Rows accepted and not settled.",
			}, func() float64 { rows, _ := r.held(); return float64(rows) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "probefleet_recorder_oldest_age_seconds", Help: "Age of the oldest row not settled.",
			}, func() float64 { _, oldest := r.held(); return oldest.Seconds() }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "probefleet_recorder_breaker_state", Help: "Breaker before the store: 0 closed, 1 half-open, 2 open.",
			}, func() float64 { return float64(r.breaker.now()) }),
		)
	}
	return m
}

func (m *metrics) transition(to gobreaker.State) {
	m.transitions.WithLabelValues(stateName(to)).Inc()
}
