package jobs

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/jobstore"
)

type metrics struct {
	states           *prometheus.CounterVec
	refused, adopted prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, held func() float64) *metrics {
	m := &metrics{
		states:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_jobs_changes_total", Help: "Changes of checks on demand, by the state they are in after it."}, []string{"state"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_jobs_refused_total", Help: "Checks on demand for which there was no room."}),
		adopted: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_jobs_adopted_total", Help: "Checks on demand taken over from nodes that are gone."}),
	}
	for _, state := range jobstore.States() {
		m.states.WithLabelValues(string(state))
	}
	registry.MustRegister(m.states, m.refused, m.adopted, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "probefleet_jobs_held", Help: "Checks on demand in memory: open, or not written yet; 1000 is the most.",
	}, held))
	return m
}

func (m *metrics) became(state jobstore.State) { m.states.WithLabelValues(string(state)).Inc() }
