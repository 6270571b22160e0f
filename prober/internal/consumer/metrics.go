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
	replayed    prometheus.Counter
	refused     prometheus.Counter
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
		replayed:    counter("replayed_total", "Dead letters that were tried again and ended with a row."),
		refused:     counter("refused_rows_total", "Rows that the store will never take."),
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

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("probefleet_prober_"+name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (fs *flights) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(fs, out) }

// Collect implements prometheus.Collector.
func (fs *flights) Collect(out chan<- prometheus.Metric) {
	entries := desc("entries", "Entries held, by state.", "state")
	oldest := desc("state_oldest_seconds", "How long the first of a state's entries has been in it.", "state")
	illegal := desc("illegal_transitions_total", "Transitions that the statechart does not have: each is a defect.")
	held := fs.held()
	for name, of := range held.States {
		out <- prometheus.MustNewConstMetric(entries, prometheus.GaugeValue, float64(of.Entries), name)
		out <- prometheus.MustNewConstMetric(oldest, prometheus.GaugeValue, float64(of.OldestMS)/1000, name)
	}
	out <- prometheus.MustNewConstMetric(illegal, prometheus.CounterValue, float64(held.Illegal))
}
