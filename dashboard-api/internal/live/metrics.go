package live

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/verdict"
)

// Metrics of the hub. A nil *Metrics counts nothing.
type Metrics struct {
	applied prometheus.Counter
	states  *prometheus.GaugeVec
}

// NewMetrics registers the hub's metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		applied: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_live_results_total", Help: "Results taken into the live state."}),
		states:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "probefleet_targets", Help: "Targets by live state."}, []string{"state"}),
	}
	registry.MustRegister(m.applied, m.states)
	return m
}

func (m *Metrics) results(n int) {
	if m != nil {
		m.applied.Add(float64(n))
	}
}

func (m *Metrics) targets(counts map[verdict.State]float64) {
	if m == nil {
		return
	}
	for _, state := range []verdict.State{verdict.StateUp, verdict.StateDegraded, verdict.StateDown, verdict.StateMaintenance, verdict.StateNoData, verdict.StatePaused} {
		m.states.WithLabelValues(string(state)).Set(counts[state])
	}
}
