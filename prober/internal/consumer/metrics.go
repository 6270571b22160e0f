package consumer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/uptime"
)

type metrics struct {
	results     [uptime.StatusMissed + 1]prometheus.Counter
	lateness    prometheus.Histogram
	acked       prometheus.Counter
	reclaimed   prometheus.Counter
	released    prometheus.Counter
	deadLetters prometheus.Counter
	unannounced prometheus.Counter
	readErrors  prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, held *flights) *metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_prober_" + name, Help: help})
		registry.MustRegister(c)
		return c
	}
	results := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_prober_results_total", Help: "Rows produced, by status."}, []string{"status"})
	m := &metrics{
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "probefleet_prober_lateness_seconds", Help: "How long after its slot a probe started.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		acked:       counter("acked_total", "Entries acknowledged."),
		reclaimed:   counter("reclaimed_total", "Entries taken over from silent probers or found again."),
		released:    counter("released_total", "Entries given back unsettled."),
		deadLetters: counter("dead_letters_total", "Entries moved to the dead letters."),
		unannounced: counter("unannounced_results_total", "Results the live feed did not take in time."),
		readErrors:  counter("read_errors_total", "Failed reads of the stream."),
	}
	for status := uptime.StatusUp; status <= uptime.StatusMissed; status++ {
		m.results[status] = results.WithLabelValues(status.String())
	}
	registry.MustRegister(results, m.lateness, held)
	return m
}

func (m *metrics) result(status uptime.Status) { m.results[status].Inc() }

var heldDesc = prometheus.NewDesc("probefleet_prober_entries", "Entries held, by stage.", []string{"stage"}, nil)

// Describe implements prometheus.Collector.
func (fs *flights) Describe(out chan<- *prometheus.Desc) { out <- heldDesc }

// Collect implements prometheus.Collector.
func (fs *flights) Collect(out chan<- prometheus.Metric) {
	for name, n := range fs.counts() {
		out <- prometheus.MustNewConstMetric(heldDesc, prometheus.GaugeValue, float64(n), name)
	}
}
