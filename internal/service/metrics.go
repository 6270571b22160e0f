package service

import "github.com/prometheus/client_golang/prometheus"

// register adds what the frame itself knows.
func register(registry prometheus.Registerer, out *logWriter, last *LastExit) {
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "probefleet_log_lines_dropped_total", Help: "Log lines dropped because nobody read them.",
	}, func() float64 { return float64(out.dropped.Load()) }))
	if last == nil {
		return
	}
	exits := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "probefleet_last_exit_timestamp_seconds", Help: "When the life before this one ended, by cause.",
	}, []string{"cause"})
	exits.WithLabelValues(last.Cause).Set(float64(last.At.Unix()))
	registry.MustRegister(exits)
}
