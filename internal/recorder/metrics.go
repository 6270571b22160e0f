package recorder

import "github.com/prometheus/client_golang/prometheus"

// Outcomes of rows and batches.
const (
	outcomeStored    = "stored"
	outcomeRejected  = "rejected"
	outcomeAbandoned = "abandoned" // not stored when the process stopped
)

type metrics struct {
	rows, batches *prometheus.CounterVec
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
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "probefleet_recorder_retries_total", Help: "Inserts that failed and were repeated.",
		}),
		insertSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "probefleet_recorder_insert_seconds", Help: "Time of one insert, failed ones included.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}),
	}
	for _, outcome := range []string{outcomeStored, outcomeRejected, outcomeAbandoned} {
		m.rows.WithLabelValues(outcome)
		m.batches.WithLabelValues(outcome)
	}
	if registry != nil {
		registry.MustRegister(m.rows, m.batches, m.retries, m.insertSeconds,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "probefleet_recorder_buffered_rows", Help: "Rows accepted and not settled.",
			}, func() float64 { return float64(r.State().Buffered) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "probefleet_recorder_oldest_age_seconds", Help: "Age of the oldest row not settled.",
			}, func() float64 { return r.State().OldestAge.Seconds() }),
		)
	}
	return m
}
