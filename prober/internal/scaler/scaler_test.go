package scaler

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// watched is a Scaler whose readings the test sets and whose log it reads.
type watched struct {
	*Scaler
	mu       sync.Mutex
	reading  Reading
	log      bytes.Buffer
	registry *prometheus.Registry
}

// run starts a Scaler in a bubble, between two cycles.
func run(t *testing.T) *watched {
	w := &watched{reading: Reading{Signals: calm, Probers: 3}, registry: prometheus.NewRegistry()}
	w.Scaler = New(Options{
		Limits: limits, Log: slog.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Metrics: w.registry,
		Look: func(context.Context) Reading {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.reading
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	time.Sleep(cycle / 2)
	return w
}

// set changes what is seen from now on.
func (w *watched) set(change func(*Reading)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.reading)
}

func cycles(n int) {
	time.Sleep(time.Duration(n) * cycle)
	synctest.Wait()
}

func TestScalerFollowsTheSignals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := run(t)
		if w.Workers() != 20 || w.Places() != 20_000 {
			t.Errorf("begins with %d workers", w.Workers())
		}
		for want := 19; want >= 15; want-- { // one a cycle
			if cycles(1); w.Workers() != want {
				t.Errorf("%d workers, want %d", w.Workers(), want)
			}
		}
		w.set(func(r *Reading) { r.Lag = 8 })
		cycles(2)
		if w.Workers() != 17 || w.Places() != 17_000 {
			t.Errorf("%d workers", w.Workers())
		}
		w.set(func(r *Reading) { r.Memory = nan })
		cycles(30)
		if w.Workers() != 17 {
			t.Errorf("%d workers, blindly", w.Workers())
		}
		w.set(func(r *Reading) { r.Signals, r.InHand = calm, 9000 })
		cycles(10)
		if w.Workers() != 13 { // 9000 are 70 % of 12.9 workers' places
			t.Errorf("%d workers for 9000 places", w.Workers())
		}
	})
}

// The lag goes up and down; the workers may follow, but turn round no more than twice a
// minute, and only by one a cycle.
func TestScalerDoesNotOscillate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := run(t)
		var turns []time.Time
		last, before := 0, w.Workers()
		for i := range 400 {
			in := calm
			if i%2 == 0 {
				in.Lag = 20
			}
			if i%17 == 0 {
				in.Depth = nan
			}
			w.set(func(r *Reading) { r.Signals = in })
			cycles(1)
			moved := w.Workers() - before
			before = w.Workers()
			if moved < -1 || moved > 1 || !in.complete() && moved != 0 {
				t.Fatalf("moved by %d: %+v", moved, in)
			}
			if moved != 0 {
				if last != 0 && moved != last {
					turns = append(turns, time.Now())
				}
				last = moved
			}
		}
		for i := 2; i < len(turns); i++ {
			if turns[i].Sub(turns[i-2]) < time.Minute {
				t.Errorf("three changes of direction within %v", turns[i].Sub(turns[i-2]))
			}
		}
		if len(turns) < 10 {
			t.Errorf("only %d changes of direction: the test shows nothing", len(turns))
		}
	})
}

func TestEveryDecisionIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := run(t)
		w.set(func(r *Reading) { r.Writer = nan })
		cycles(2)
		w.set(func(r *Reading) { r.Writer = .9 })
		cycles(1)
		var lines []map[string]any
		for line := range strings.Lines(w.log.String()) {
			var attrs map[string]any
			if err := json.Unmarshal([]byte(line), &attrs); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			lines = append(lines, attrs)
		}
		if len(lines) != 3 {
			t.Fatalf("%d lines", len(lines))
		}
		for i, want := range []struct{ level, direction, reason string }{{"INFO", "hold", "missing"}, {"DEBUG", "hold", "missing"}, {"INFO", "down", "writer"}} {
			if got := lines[i]; got["level"] != want.level || got["direction"] != want.direction || got["reason"] != want.reason || got["msg"] != "workers decided" {
				t.Errorf("%v", got)
			}
		}
		if lines[0]["writer"] != "missing" || lines[2]["writer"] != .9 || lines[2]["workers"] != 19.0 {
			t.Errorf("%v", lines)
		}
		for key, want := range map[[2]string]float64{{"hold", "missing"}: 2, {"down", "writer"}: 1, {"up", "lag"}: 0} {
			if got := testutil.ToFloat64(w.metrics.decisions.WithLabelValues(key[0], key[1])); got != want {
				t.Errorf("%v: %v", key, got)
			}
		}
		if err := testutil.GatherAndCompare(w.registry, strings.NewReader(`
# HELP probefleet_prober_places Checks that may be held at once, waiting for their slot or probing.
# TYPE probefleet_prober_places gauge
probefleet_prober_places 19000
# HELP probefleet_prober_scaler_writer_ratio Rows that wait for ClickHouse, of those that may; NaN: not known.
# TYPE probefleet_prober_scaler_writer_ratio gauge
probefleet_prober_scaler_writer_ratio 0.9
# HELP probefleet_prober_workers Workers; each is room for PROBER_CHECKS_PER_WORKER checks.
# TYPE probefleet_prober_workers gauge
probefleet_prober_workers 19
`), "probefleet_prober_workers", "probefleet_prober_places", "probefleet_prober_scaler_writer_ratio"); err != nil {
			t.Error(err)
		}
	})
}

func TestRecommendedReplicas(t *testing.T) {
	t.Parallel()
	all := State{Workers: 20}
	late := with(func(s *Signals) { s.Lag = 9 })
	cases := []struct {
		name   string
		state  State
		in     Signals
		needed float64
		live   int
		want   int
	}{
		{"nothing to do", all, calm, 0, 3, 1},
		{"as many as there are", all, calm, 14_000, 3, 3},
		{"twice the load", all, calm, 28_000, 3, 6},
		{"a little more", all, calm, 14_001, 3, 4},
		{"half the load", all, calm, 7000, 4, 2},
		{"behind with all workers", all, late, 7000, 3, 4},
		{"behind, and more workers may come", State{Workers: 19}, late, 7000, 4, 2},
		{"behind a full writer", State{Workers: 20, Barred: true}, late, 90_000, 3, 3},
		{"nobody knows how many there are", all, calm, 7000, 0, 0},
		{"nobody knows how far behind", all, with(func(s *Signals) { s.Lag = nan }), 7000, 3, 0},
		{"nobody knows the writer", all, with(func(s *Signals) { s.Writer = nan }), 7000, 3, 0},
		{"only the memory is not known", all, with(func(s *Signals) { s.Memory = nan }), 7000, 4, 2},
	}
	for _, c := range cases {
		if got, known := limits.recommended(c.state, c.in, c.needed, c.live); got != c.want || known != (c.want > 0) {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) { // absent until it is known: an autoscaler must not take it for none
		w := run(t)
		w.set(func(r *Reading) { r.Probers = 0 })
		cycles(1)
		if n, err := testutil.GatherAndCount(w.registry, "probefleet_prober_recommended_replicas"); n != 0 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		w.set(func(r *Reading) { r.Probers, r.InHand = 2, 14_000 })
		cycles(1)
		w.set(func(r *Reading) { r.Probers = 0 })
		cycles(1)
		if got := testutil.ToFloat64(w.metrics.replicas); got != 2 {
			t.Errorf("%v", got)
		}
	})
}

// What a minute's targets take when all of them hang is known while none does.
func TestDemandKnowsTheWorst(t *testing.T) {
	t.Parallel()
	var d demand
	now, sum := time.Now(), time.Duration(0)
	second := func(checks int, timeout time.Duration) float64 {
		now = now.Add(cycle)
		sum += 5 * time.Duration(checks) * timeout
		return d.needed(now, 300, sum)
	}
	if got := d.needed(now, 300, 0); got != 300 {
		t.Errorf("at the start %v", got)
	}
	for range 30 {
		if got := second(167, 30*time.Second); got != 167*30 {
			t.Fatalf("167 checks a second of 30 s are %v places", got)
		}
	}
	for range 11 {
		if got := second(0, 0); got < 300 || got >= 167*30 {
			t.Fatalf("%v", got)
		}
	}
	if got := second(0, 0); got != 300 || len(d.past) > 14 {
		t.Errorf("a minute later %v, %d remembered", got, len(d.past))
	}
}
