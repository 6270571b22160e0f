package probe

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/uptime"
)

type metrics struct {
	confirmations *prometheus.CounterVec
	panics        prometheus.Counter
	freezes       prometheus.Counter
	hangs         prometheus.Counter
	saturated     prometheus.Counter
	phases        [5]prometheus.Observer
}

func newMetrics(registry prometheus.Registerer, hanging *hanging) *metrics {
	phase := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "probefleet_probe_phase_seconds", Help: "Time of each phase of a measured probe, summed over redirects.",
		Buckets: []float64{.0001, .0005, .002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"phase"})
	m := &metrics{
		confirmations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "probefleet_probe_confirmations_total", Help: "Second looks at a failure, by what they found.",
		}, []string{"status"}),
		panics:  prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_probe_panics_total", Help: "Panics contained in a checker."}),
		freezes: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_probe_freezes_total", Help: "Times the whole process stood still for more than a second."}),
		hangs:   prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_probe_hangs_total", Help: "Visits that were not over two seconds after their timeout: each is a defect."}),
		saturated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "probefleet_probe_saturated_total", Help: "Visits during which the process was too busy to measure within 2 ms.",
		}),
	}
	for i, name := range []string{"dns", "connect", "tls", "wait", "transfer"} {
		m.phases[i] = phase.WithLabelValues(name)
	}
	registry.MustRegister(phase, m.confirmations, m.panics, m.freezes, m.hangs, m.saturated, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "probefleet_probe_hanging", Help: "Visits that nobody waits for any more and that still go on.",
	}, func() float64 { return float64(hanging.total.Load()) }))
	return m
}

func (m *metrics) confirmed(status uptime.Status) {
	m.confirmations.WithLabelValues(status.String()).Inc()
}

func (m *metrics) observe(o *Outcome) {
	if o.Seen.Saturated {
		m.saturated.Inc()
	}
	p := o.Phases
	for i, us := range [...]uint32{p.DNS, p.Connect, p.TLS, p.Wait, p.Transfer} {
		if us > 0 {
			m.phases[i].Observe(float64(us) / 1e6)
		}
	}
}
