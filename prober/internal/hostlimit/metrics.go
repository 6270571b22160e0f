package hostlimit

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	refused map[Cause]prometheus.Counter
	waited  prometheus.Histogram
	pauses  prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, h *Hosts) *metrics {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "probefleet_prober_host_refused_total", Help: "Checks that got no place at their host and are unknown(host_budget), by why.",
	}, []string{"cause"})
	m := &metrics{
		refused: make(map[Cause]prometheus.Counter),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "probefleet_prober_host_wait_seconds", Help: "How long checks waited for a place at their host, of those that had to wait and got one.",
			Buckets: []float64{.01, .05, .25, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		pauses: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_prober_host_pauses_total", Help: "Times a host asked to be left alone: 429 with Retry-After."}),
	}
	for _, cause := range []Cause{CauseExpired, CauseCrowded, CauseLeftAlone} {
		m.refused[cause] = refused.WithLabelValues(string(cause))
	}
	registry.MustRegister(refused, m.waited, m.pauses, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "probefleet_prober_host_waiting", Help: "Checks that wait for a place at their host.",
	}, func() float64 { return float64(h.Waiting()) }))
	return m
}

// refuse counts a refusal and gives it back.
func (m *metrics) refuse(r *Refused) error {
	m.refused[r.Cause].Inc()
	return r
}
