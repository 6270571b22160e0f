package scaler

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	decisions                          *prometheus.CounterVec
	replicas                           *prometheus.GaugeVec // without labels; absent until it is known
	lag, depth, memory, writer, needed prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer, s *Scaler) *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "probefleet_prober_" + name, Help: help})
		g.Set(math.NaN())
		registry.MustRegister(g)
		return g
	}
	live := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "probefleet_prober_" + name, Help: help}, func() float64 { return float64(value()) })
	}
	m := &metrics{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "probefleet_prober_scaler_decisions_total", Help: "Decisions about the number of workers, one every five seconds, by direction and reason.",
		}, []string{"direction", "reason"}),
		replicas: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "probefleet_prober_recommended_replicas",
			Help: "How many probers of this size the region should have: live probers x needed places / (0.7 x most places), rounded up; one more than there are when checks wait for over 5 s at the most workers, no more than there are while the ClickHouse writer is saturated. Take the highest of the region's.",
		}, nil),
		lag:    gauge("scaler_lag_seconds", "How long ago the first check that no prober of the region was given began to be due; NaN: not known."),
		depth:  gauge("scaler_depth_ratio", "Entries in the stream, of those at which publishing is refused; NaN: not known."),
		memory: gauge("scaler_memory_ratio", "Memory that Redis uses, of what it may; NaN: not known."),
		writer: gauge("scaler_writer_ratio", "Rows that wait for ClickHouse, of those that may; NaN: not known."),
		needed: gauge("scaler_needed_places", "Checks that would be held at once if all targets visited in the last minute hung until their timeouts."),
	}
	for direction, reasons := range map[Direction][]Reason{
		Up:   {ReasonLag, ReasonDepth, ReasonMemory},
		Down: {ReasonIdle, ReasonWriter},
		Hold: {ReasonSteady, ReasonInUse, ReasonMissing, ReasonWriter, ReasonAtMax, ReasonAtMin, ReasonReversal},
	} {
		for _, reason := range reasons {
			m.decisions.WithLabelValues(string(direction), string(reason))
		}
	}
	registry.MustRegister(m.decisions, m.replicas,
		live("workers", "Workers; each is room for PROBER_CHECKS_PER_WORKER checks.", s.Workers),
		live("places", "Checks that may be held at once, waiting for their slot or probing.", s.Places))
	return m
}

func (m *metrics) decided(d Decision, in Signals, needed float64) {
	m.decisions.WithLabelValues(string(d.Direction), string(d.Reason)).Inc()
	m.lag.Set(in.Lag)
	m.depth.Set(in.Depth)
	m.memory.Set(in.Memory)
	m.writer.Set(in.Writer)
	m.needed.Set(needed)
}
