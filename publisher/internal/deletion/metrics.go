package deletion

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	unfinished, oldest prometheus.Gauge
	finished           prometheus.Counter
	cameBack, passes   *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	const prefix = "probefleet_deletions_"
	m := &metrics{
		unfinished: prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "unfinished", Help: "Deleted targets of which something may be left; only of the publisher at work."}),
		oldest:     prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "oldest_seconds", Help: "Age of the oldest unfinished deletion; 11 minutes are usual."}),
		finished:   prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "finished_total", Help: "Deletions after which nothing was left."}),
		cameBack:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "came_back_total", Help: "Deleted targets of which rows had to be removed from a table that was cleared already."}, []string{"table"}),
		passes:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "passes_total", Help: "Passes over the deletions, by step and outcome."}, []string{"step", "outcome"}),
	}
	for _, p := range places {
		m.cameBack.WithLabelValues(p.table)
	}
	for _, step := range append(Steps(), stepTombstone, stepPrune, stepFinish) {
		for _, outcome := range []string{"done", "failed"} {
			m.passes.WithLabelValues(step, outcome)
		}
	}
	if registry != nil {
		registry.MustRegister(m.unfinished, m.oldest, m.finished, m.cameBack, m.passes)
	}
	return m
}

func (m *metrics) counted(unfinished int64, oldest time.Duration) {
	m.unfinished.Set(float64(unfinished))
	m.oldest.Set(oldest.Seconds())
}

func (m *metrics) passed(step string, err error) {
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	m.passes.WithLabelValues(step, outcome).Inc()
}
