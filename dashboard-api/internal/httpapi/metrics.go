package httpapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of the API; routes are patterns, a closed set.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	copies   prometheus.Counter
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_api_requests_total", Help: "Requests answered, by route and status class."}, []string{"method", "route", "class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "probefleet_api_request_duration_seconds", Help: "Time to answer, by route.", Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"method", "route"}),
		copies: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_api_stale_answers_total", Help: "Answers that were copies, because ClickHouse did not answer."}),
	}
	registry.MustRegister(m.requests, m.duration, m.copies)
	return m
}

func (m *metrics) served(pattern string, status int, took time.Duration) {
	method, route, _ := strings.Cut(pattern, " ")
	if status == 0 {
		status = 200
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status/100)+"xx").Inc()
	if status != 101 { // an upgraded connection lasts as long as the page
		m.duration.WithLabelValues(method, route).Observe(took.Seconds())
	}
}
