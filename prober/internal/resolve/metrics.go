package resolve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const prefix = "probefleet_prober_dns_"

type metrics struct {
	hits    prometheus.Counter
	misses  prometheus.Counter
	queries *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer, r *Resolver) *metrics {
	m := &metrics{
		hits:    prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "cache_hits_total", Help: "Look-ups that the cache answered."}),
		misses:  prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "cache_misses_total", Help: "Look-ups that a question was asked for, their own or another's."}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "queries_total", Help: "Questions sent, control questions included, by what came of them."}, []string{"server", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "query_seconds", Help: "Time of a question that was answered, whatever the answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2},
		}, []string{"server"}),
	}
	gauge := func(name, help string, f func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, func() float64 { return float64(f()) })
	}
	registry.MustRegister(m.hits, m.misses, m.queries, m.seconds, states{r},
		gauge("cached_names", "Names in the cache, also those that ran out.", r.cached),
		gauge("queries_in_flight", "Questions of checks that are out; 1,024 are the most.", func() int { return len(r.slots) }))
	return m
}

func (m *metrics) asked(server string, o outcome, took time.Duration) {
	m.queries.WithLabelValues(server, string(o)).Inc()
	if o != silence && o != unreachable {
		m.seconds.WithLabelValues(server).Observe(took.Seconds())
	}
}

// states tells how the servers are at the time of asking.
type states struct{ r *Resolver }

// Describe implements prometheus.Collector.
func (s states) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, out) }

// Collect implements prometheus.Collector.
func (s states) Collect(out chan<- prometheus.Metric) {
	up := prometheus.NewDesc(prefix+"server_up", "Whether the server resolves names: 0 after a control question failed, until one is answered.", []string{"server"}, nil)
	for _, state := range s.r.State() {
		value := 0.
		if state.OK {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, value, state.Server)
	}
}
