package wsconn

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the sockets. A nil *Metrics counts nothing.
type Metrics struct {
	open            prometheus.Gauge
	messages, bytes prometheus.Counter
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		open:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "probefleet_websocket_connections", Help: "Open websockets."}),
		messages: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_websocket_messages_total", Help: "Messages sent to browsers."}),
		bytes:    prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_websocket_sent_bytes_total", Help: "Bytes of messages sent to browsers."}),
	}
	registry.MustRegister(m.open, m.messages, m.bytes)
	return m
}

func (m *Metrics) connections(n int) {
	if m != nil {
		m.open.Set(float64(n))
	}
}

func (m *Metrics) sent(n int) {
	if m != nil {
		m.messages.Inc()
		m.bytes.Add(float64(n))
	}
}
