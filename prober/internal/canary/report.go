package canary

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const announceLimit = 2 * time.Second

// Sight is what the newest visit of a canary came to.
type Sight struct {
	Name     string    `json:"name"`
	At       time.Time `json:"at"`
	Answered bool      `json:"answered"`
	TookMS   float64   `json:"took_ms"`
	Error    string    `json:"error,omitempty"`
}

// State is how the canaries are, for health pages.
type State struct {
	On       bool      `json:"on"`
	Good     bool      `json:"good"` // the newest round
	LastGood time.Time `json:"last_good,omitzero"`
	Waiting  int       `json:"waiting"` // failures that wait to be believed
	Canaries []Sight   `json:"canaries"`
}

// State tells how the canaries are.
func (w *Watch) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := State{On: w.On(), Good: w.newest.Good, Waiting: len(w.waiting), Canaries: append([]Sight{}, w.sights...)}
	if !w.lastGood.IsZero() {
		s.LastGood = w.lastGood.UTC()
	}
	return s
}

// Word is the state in one word: good, bad, off, or none before the first round was decided.
func (w *Watch) Word() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.On():
		return "off"
	case w.newest.Began.IsZero():
		return ""
	case w.newest.Good:
		return "good"
	}
	return "bad"
}

// Seen says how many of the canaries answered when they were visited last.
func (w *Watch) Seen() (answered, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sights {
		if s.Answered {
			answered++
		}
	}
	return answered, len(w.sights)
}

// announce tells the newest round: each change at once, each bad one, and a good one every
// ten seconds. What could not be told is tried again, unless there is a newer one.
func (w *Watch) announce(ctx context.Context) {
	var told Round
	for {
		select {
		case <-w.tell:
		case <-ctx.Done():
			return
		}
		w.mu.Lock()
		r := w.newest
		w.mu.Unlock()
		w.o.Health(r.Said)
		if r.Began.Equal(told.Began) || r.Good && told.Good && r.Began.Sub(told.Began) < idle {
			continue
		}
		call, cancel := context.WithTimeout(ctx, announceLimit)
		err := w.o.Announce(call, r)
		cancel()
		if err == nil {
			told = r
			continue
		}
		w.o.Log.Debug("canary round was not announced", "error", err)
		time.AfterFunc(quick, func() { signal(w.tell) })
	}
}

type metrics struct {
	good, bad prometheus.Counter
	doubted   prometheus.Counter
	took      *prometheus.HistogramVec
	failed    *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer, w *Watch) *metrics {
	rounds := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_prober_canary_rounds_total", Help: "Canary rounds, by outcome."}, []string{"outcome"})
	m := &metrics{
		good: rounds.WithLabelValues("good"), bad: rounds.WithLabelValues("bad"),
		doubted: prometheus.NewCounter(prometheus.CounterOpts{Name: "probefleet_prober_doubted_total", Help: "Failures that were not believed and are unknown(probe_blind)."}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "probefleet_prober_canary_seconds", Help: "How long a canary took to answer, its name looked up.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2},
		}, []string{"canary"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_prober_canary_failures_total", Help: "Visits of a canary that it did not answer."}, []string{"canary"}),
	}
	if !w.On() {
		return m
	}
	registry.MustRegister(rounds, m.doubted, m.took, m.failed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "probefleet_prober_canary_last_good_age_seconds", Help: "Time since the last good canary round, or since the start.",
	}, w.age))
	return m
}

func (w *Watch) age() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastGood.IsZero() {
		return time.Since(w.started).Seconds()
	}
	return time.Since(w.lastGood).Seconds()
}

func (m *metrics) visit(s Sight) {
	if s.Answered {
		m.took.WithLabelValues(s.Name).Observe(s.TookMS / 1000)
	} else {
		m.failed.WithLabelValues(s.Name).Inc()
	}
}

func (m *metrics) round(good bool) {
	if good {
		m.good.Inc()
	} else {
		m.bad.Inc()
	}
}
