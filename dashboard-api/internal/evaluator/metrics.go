package evaluator

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	leading   prometheus.Gauge
	commits   prometheus.Counter
	decisions *prometheus.CounterVec

	asked, unasked prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		leading:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "probefleet_evaluator_leading", Help: "1 while this node evaluates verdicts."}),
		commits:   prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_evaluator_commits_total", Help: "Transactions with what was folded."}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_evaluator_decisions_total", Help: "Decisions by kind: opened, resolved, severity_changed, suppressed, corrected, flapping_began, flapping_ended."}, []string{"decision"}),
		asked:     prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_evaluator_confirmations_asked_total", Help: "Visits that other regions were asked for after a first failure."}),
		unasked:   prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_evaluator_confirmations_left_out_total", Help: "Visits that could not be asked for: too many are, or Redis does not answer. The next slot tells."}),
	}
	if registry != nil {
		registry.MustRegister(m.leading, m.commits, m.decisions, m.asked, m.unasked)
	}
	return m
}
