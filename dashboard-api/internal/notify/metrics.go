package notify

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// theirs is what the operators' channels are sent.
const theirs = "notification"

type metrics struct {
	attempts *prometheus.CounterVec
	took     prometheus.Histogram
	waiting  prometheus.Gauge
	oldest   prometheus.Gauge
}

func newMetrics(r prometheus.Registerer, of string) *metrics {
	name := "probefleet_" + of
	m := &metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: name + "_attempts_total", Help: "Attempts to tell somebody, by kind of channel and outcome."}, []string{"kind", "outcome"}),
		took:     prometheus.NewHistogram(prometheus.HistogramOpts{Name: name + "_seconds", Help: "How long an attempt took.", Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20}}),
		waiting:  prometheus.NewGauge(prometheus.GaugeOpts{Name: name + "s_waiting", Help: "Notifications that are due and not settled."}),
		oldest:   prometheus.NewGauge(prometheus.GaugeOpts{Name: name + "s_oldest_seconds", Help: "For how long the first of those has been due."}),
	}
	kinds := Kinds()
	if of != theirs {
		kinds = nil
	}
	for _, kind := range kinds {
		for _, outcome := range []incidentstore.Outcome{incidentstore.OutcomeDelivered, incidentstore.OutcomeRetry, incidentstore.OutcomeFailed} {
			m.attempts.WithLabelValues(kind, string(outcome))
		}
	}
	r.MustRegister(m.attempts, m.took, m.waiting, m.oldest)
	return m
}

func (m *metrics) sent(kind string, outcome incidentstore.Outcome, took time.Duration) {
	m.attempts.WithLabelValues(kind, string(outcome)).Inc()
	m.took.Observe(took.Seconds())
}

func (m *metrics) backlog(n int64, since, now time.Time) {
	m.waiting.Set(float64(n))
	age := 0.0
	if !since.IsZero() {
		age = now.Sub(since).Seconds()
	}
	m.oldest.Set(age)
}
