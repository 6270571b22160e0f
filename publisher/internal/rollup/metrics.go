package rollup

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	runs                     *prometheus.CounterVec
	hours, days, corrections prometheus.Counter
	last, took, aside        prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) *metrics {
	const prefix = "probefleet_rollups_"
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	m := &metrics{
		runs:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "runs_total", Help: "Runs of the rollup job, by outcome."}, []string{"outcome"}),
		hours:       counter("hours_total", "Hours that were computed again."),
		days:        counter("days_total", "Days that were computed again."),
		corrections: counter("corrections_total", "Hourly figures that were changed after their hour had been closed."),
		last:        gauge("last_run_timestamp_seconds", "When the last run that finished began; 0 before the first, and on a standby."),
		took:        gauge("last_run_seconds", "How long it took."),
		aside:       gauge("put_aside", "Hours and days that could not be computed when they were last tried. They are tried again; others are computed meanwhile."),
	}
	for _, outcome := range []string{"done", "failed"} {
		m.runs.WithLabelValues(outcome)
	}
	if registry != nil {
		registry.MustRegister(m.runs, m.hours, m.days, m.corrections, m.last, m.took, m.aside)
	}
	return m
}
