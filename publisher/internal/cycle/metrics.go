package cycle

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/uptime"
)

type metrics struct {
	lateness                                       prometheus.Histogram
	due, published, lost, notesDropped, trimmed    prometheus.Counter
	missed, refused, settled                       *prometheus.CounterVec
	leader, lag, seq, targets, rate, backlog       prometheus.Gauge
	scheduleAge, oldestUnsettled, lastSweep, swept prometheus.Gauge
	held                                           prometheus.Gauge
	jobs                                           *prometheus.CounterVec
	account, unexplained                           *prometheus.GaugeVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	const prefix = "probefleet_publisher_"
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	}
	vec := func(name, help string, label ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, label)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	m := &metrics{
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "tick_lateness_seconds",
			Help:    "From the whole second before a slot second to that slot second being published.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}}),
		due:             counter("due_slots_total", "Slots that were due."),
		published:       counter("published_slots_total", "Slots in the stream."),
		missed:          vec("missed_slots_total", "Slots not published, by reason.", "reason"),
		refused:         vec("refused_total", "Calls refused by Redis, by answer.", "code"),
		settled:         vec("settled_total", "Stream entries the janitor ended, by what became of them.", "as"),
		trimmed:         counter("trimmed_entries_total", "Entries removed after every region had settled them."),
		lost:            counter("redis_lost_total", "Times Redis came back without its data."),
		notesDropped:    counter("cycles_dropped_total", "Cycle notes dropped because the results store was away for hours."),
		leader:          gauge("lease_held", "1 while this publisher is the one at work."),
		lag:             gauge("lag_seconds", "Seconds that are due and not complete."),
		seq:             gauge("schedule_seq", "Schedule sequence in force here."),
		targets:         gauge("targets", "Targets that are planned."),
		rate:            gauge("steady_checks_per_second", "Checks the schedule asks for."),
		backlog:         gauge("backlog_entries", "Entries in the stream of checks."),
		scheduleAge:     gauge("schedule_age_seconds", "Since the database last answered."),
		oldestUnsettled: gauge("oldest_unsettled_age_seconds", "Age of the oldest slot some region has not settled."),
		lastSweep:       gauge("swept_to_timestamp_seconds", "Every slot before it is explained."),
		swept:           gauge("swept_slots", "Slots the last sweep had to explain."),
		held:            gauge("swept_held_slots", "Slots without a row the last sweep left alone, because they may be on a disk."),
		account: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "probefleet_ledger_slots",
			Help: "Slots of the last hour, by what became of them; only of the publisher at work."}, []string{"region", "outcome"}),
		unexplained: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "probefleet_ledger_unexplained_slots",
			Help: "Slots of the last hour with neither row nor reason: must be 0; only of the publisher at work."}, []string{"region"}),
		jobs: vec("jobs_total", "Coarse jobs, by name and outcome.", "job", "outcome"),
	}
	for _, reason := range []uptime.Reason{uptime.ReasonPublisherDown, uptime.ReasonRedisDown, uptime.ReasonBackpressure, uptime.ReasonRegionDown, uptime.ReasonTrimmed} {
		m.missed.WithLabelValues(string(reason))
	}
	for _, code := range []string{"stale", "gap", "superseded", "future", "full"} {
		m.refused.WithLabelValues(code)
	}
	if registry != nil {
		registry.MustRegister(m.lateness, m.due, m.published, m.missed, m.refused, m.settled, m.trimmed, m.lost, m.notesDropped,
			m.leader, m.lag, m.seq, m.targets, m.rate, m.backlog, m.scheduleAge, m.oldestUnsettled, m.lastSweep, m.swept, m.held, m.jobs, m.account, m.unexplained)
	}
	return m
}
