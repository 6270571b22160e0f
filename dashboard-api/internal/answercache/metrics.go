package answercache

import "github.com/prometheus/client_golang/prometheus"

// How an answer was come by.
const (
	wasKept   = "kept"
	wasShared = "shared" // with a question that was under way
	wasAsked  = "asked"
)

// metrics of a cache; nil: none.
type metrics struct{ answers *prometheus.CounterVec }

func newMetrics(registry prometheus.Registerer, c *Cache) *metrics {
	if registry == nil {
		return nil
	}
	m := &metrics{answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_api_history_answers_total", Help: "Answers about the past, by how they were come by."}, []string{"how"})}
	for _, how := range []string{wasKept, wasShared, wasAsked} {
		m.answers.WithLabelValues(how)
	}
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			c.mu.Lock()
			defer c.mu.Unlock()
			return read()
		})
	}
	registry.MustRegister(m.answers,
		gauge("probefleet_api_history_kept_bytes", "Size of the answers about the past that are kept.", func() float64 { return float64(c.kept.bytes) }),
		gauge("probefleet_api_history_flowing", "1 while every source of news about writes is heard, so that answers are kept.", func() float64 {
			if c.flowing(c.now()) {
				return 1
			}
			return 0
		}))
	return m
}

func (m *metrics) given(how string) {
	if m != nil {
		m.answers.WithLabelValues(how).Inc()
	}
}
