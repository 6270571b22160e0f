package scaler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	nan    = math.NaN()
	limits = Limits{Min: 2, Max: 20, PerWorker: 1000, Most: 1 << 30}
	calm   = Signals{Lag: 0, Depth: .05, Memory: .1, Writer: .1}
)

// with is calm but for what change says.
func with(change func(*Signals)) Signals {
	s := calm
	change(&s)
	return s
}

func TestOneDecision(t *testing.T) {
	t.Parallel()
	lag := func(v float64) Signals { return with(func(s *Signals) { s.Lag = v }) }
	depth := func(v float64) Signals { return with(func(s *Signals) { s.Depth = v }) }
	memory := func(v float64) Signals { return with(func(s *Signals) { s.Memory = v }) }
	writer := func(v float64) Signals { return with(func(s *Signals) { s.Writer = v }) }
	late := func(s Signals) Signals { s.Lag = 9; return s }
	ten, two, twenty := State{Workers: 10}, State{Workers: 2}, State{Workers: 20}
	barred := State{Workers: 10, Barred: true}
	cases := []struct {
		name   string
		state  State
		in     Signals
		needed float64
		want   Decision
	}{
		{"lag above", ten, lag(5.1), 0, Decision{Up, ReasonLag, 11}},
		{"lag at its mark", ten, lag(5), 0, Decision{Hold, ReasonSteady, 10}},
		{"lag between", ten, lag(.5), 0, Decision{Hold, ReasonSteady, 10}},
		{"depth above", ten, depth(.61), 0, Decision{Up, ReasonDepth, 11}},
		{"depth above its cap", ten, depth(1.5), 0, Decision{Up, ReasonDepth, 11}},
		{"depth between", ten, depth(.2), 0, Decision{Hold, ReasonSteady, 10}},
		{"memory above", ten, memory(.76), 0, Decision{Up, ReasonMemory, 11}},
		{"memory between", ten, memory(.5), 0, Decision{Hold, ReasonSteady, 10}},
		{"writer above", ten, writer(.81), 0, Decision{Down, ReasonWriter, 9}},
		{"writer above, however much is in use", ten, writer(.81), 1e9, Decision{Down, ReasonWriter, 9}},
		{"writer between", ten, writer(.6), 0, Decision{Down, ReasonIdle, 9}},
		{"all below", ten, calm, 0, Decision{Down, ReasonIdle, 9}},
		{"all below, and just enough is left", ten, calm, 6300, Decision{Down, ReasonIdle, 9}},
		{"all below, and not enough is left", ten, calm, 6301, Decision{Hold, ReasonInUse, 10}},
		{"at the most", twenty, lag(9), 0, Decision{Hold, ReasonAtMax, 20}},
		{"at the least", two, calm, 1e9, Decision{Hold, ReasonAtMin, 2}},
		{"at the least with a full writer", two, writer(.9), 0, Decision{Hold, ReasonAtMin, 2}},
		{"the writer forbids the step up", ten, late(writer(.81)), 0, Decision{Hold, ReasonWriter, 10}},
		{"… until it is below its lower mark", barred, late(writer(.4)), 0, Decision{Hold, ReasonWriter, 10}},
		{"… from then on it does not", barred, late(writer(.39)), 0, Decision{Up, ReasonLag, 11}},
		{"a writer that fills forbids nothing yet", ten, late(writer(.79)), 0, Decision{Up, ReasonLag, 11}},
		{"lag missing", ten, lag(nan), 0, Decision{Hold, ReasonMissing, 10}},
		{"depth missing", ten, late(depth(nan)), 0, Decision{Hold, ReasonMissing, 10}},
		{"memory missing", ten, late(memory(nan)), 0, Decision{Hold, ReasonMissing, 10}},
		{"writer missing", ten, late(writer(nan)), 0, Decision{Hold, ReasonMissing, 10}},
		{"no number at all", ten, lag(math.Inf(1)), 0, Decision{Hold, ReasonMissing, 10}},
		{"a number that cannot be", ten, memory(-1), 0, Decision{Hold, ReasonMissing, 10}},
		{"all missing", ten, Signals{nan, nan, nan, nan}, 0, Decision{Hold, ReasonMissing, 10}},
	}
	for _, c := range cases {
		state, got := limits.Decide(c.state, time.Now(), c.in, c.needed)
		if got != c.want || state.Workers != got.Workers {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The files a process may open bound its places: workers beyond them are not there.
func TestPlacesAreBounded(t *testing.T) {
	t.Parallel()
	l := Limits{Min: 1, Max: 20, PerWorker: 1000, Most: 2500}
	for workers, want := range map[int]int{1: 1000, 2: 2000, 3: 2500, 20: 2500} {
		if got := l.places(workers); got != want {
			t.Errorf("%d workers: %d places", workers, got)
		}
	}
	if _, d := l.Decide(State{Workers: 20}, time.Now(), calm, 1700); d.Direction != Down { // nothing is lost by it
		t.Errorf("%+v", d)
	}
	if _, d := l.Decide(State{Workers: 3}, time.Now(), calm, 1700); d.Reason != ReasonInUse {
		t.Errorf("%+v", d)
	}
}

// model is the rules once more, told over the whole history.
type model struct {
	limits  Limits
	workers int
	barred  bool
	steps   []step
}

type step struct {
	at time.Time
	up bool
}

func (m *model) turns(since time.Time) (n int) {
	for i := 1; i < len(m.steps); i++ {
		if m.steps[i].up != m.steps[i-1].up && m.steps[i].at.After(since) {
			n++
		}
	}
	return n
}

func (m *model) next(now time.Time, in Signals, needed float64) int {
	for _, v := range []float64{in.Lag, in.Depth, in.Memory, in.Writer} {
		if math.IsNaN(v) {
			return m.workers
		}
	}
	m.barred = in.Writer > .8 || m.barred && in.Writer >= .4
	asks := in.Lag > 5 || in.Depth > .6 || in.Memory > .75
	quiet := in.Lag < .5 && in.Depth < .2 && in.Memory < .5
	fewer := float64((m.workers-1)*m.limits.PerWorker)*.7 >= needed
	up := asks && !m.barred && m.workers < m.limits.Max
	down := m.workers > m.limits.Min && !asks && (in.Writer > .8 || quiet && fewer)
	if !up && !down {
		return m.workers
	}
	if n := len(m.steps); n > 0 && m.steps[n-1].up != up && m.turns(now.Add(-time.Minute)) >= 2 {
		return m.workers
	}
	m.steps = append(m.steps, step{now, up})
	if up {
		m.workers++
	} else {
		m.workers--
	}
	return m.workers
}

// scripts are hours of signals that go up and down, with gaps.
func scripts() map[string]func(i int, r *rand.Rand) (Signals, float64) {
	wave := func(i, period int, low, high float64) float64 {
		return low + (high-low)*(1+math.Sin(2*math.Pi*float64(i)/float64(period)))/2
	}
	gap := func(v float64, r *rand.Rand, every int) float64 {
		if r.IntN(every) == 0 {
			return nan
		}
		return v
	}
	return map[string]func(int, *rand.Rand) (Signals, float64){
		"lag flips each cycle":   func(i int, _ *rand.Rand) (Signals, float64) { s := calm; s.Lag = float64(i%2) * 10; return s, 0 },
		"lag flips every third":  func(i int, _ *rand.Rand) (Signals, float64) { s := calm; s.Lag = float64(i/3%2) * 10; return s, 0 },
		"lag flips every minute": func(i int, _ *rand.Rand) (Signals, float64) { s := calm; s.Lag = float64(i/12%2) * 10; return s, 0 },
		"lag in waves, with gaps": func(i int, r *rand.Rand) (Signals, float64) {
			s := calm
			s.Lag = gap(wave(i, 40, 0, 8), r, 7)
			return s, 0
		},
		"all in waves": func(i int, _ *rand.Rand) (Signals, float64) {
			return Signals{wave(i, 31, 0, 7), wave(i, 47, 0, .8), wave(i, 59, .3, .9), wave(i, 73, .1, 1)}, wave(i, 83, 0, 15_000)
		},
		"writer full while it lags": func(i int, _ *rand.Rand) (Signals, float64) {
			return Signals{wave(i, 20, 0, 9), .1, .1, wave(i, 90, .2, 1)}, 0
		},
		"noise with gaps": func(_ int, r *rand.Rand) (Signals, float64) {
			s := Signals{gap(r.Float64()*8, r, 20), gap(r.Float64()*.9, r, 20), gap(r.Float64(), r, 20), gap(r.Float64(), r, 20)}
			if r.IntN(3) == 0 {
				s = calm
			}
			return s, r.Float64() * 20_000
		},
	}
}

func TestTraceIsTheModels(t *testing.T) {
	t.Parallel()
	for name, script := range scripts() {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 1))
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			state, m := State{Workers: 11}, &model{limits: limits, workers: 11}
			for i := range 1000 {
				in, needed := script(i, r)
				before := state.Workers
				var d Decision
				state, d = limits.Decide(state, now, in, needed)
				if want := m.next(now, in, needed); d.Workers != want {
					t.Fatalf("%s, seed %d, cycle %d: %d workers became %+v, the model says %d; %+v", name, seed, i, before, d, want, in)
				}
				if err := promises(before, d, in); err != nil {
					t.Fatalf("%s, seed %d, cycle %d: %v: %+v", name, seed, i, err, in)
				}
				if n := m.turns(now.Add(-time.Minute)); n > 2 {
					t.Fatalf("%s, seed %d, cycle %d: %d changes of direction within a minute", name, seed, i, n)
				}
				now = now.Add(cycle)
			}
		}
	}
}

// promises are what must hold of any decision, whatever the model says.
func promises(before int, d Decision, in Signals) error {
	moved := d.Workers - before
	switch {
	case moved != map[Direction]int{Up: 1, Down: -1, Hold: 0}[d.Direction]:
		return fmt.Errorf("%s moved by %d", d.Direction, moved)
	case d.Workers < limits.Min || d.Workers > limits.Max:
		return fmt.Errorf("%d workers", d.Workers)
	case !in.complete() && moved != 0:
		return fmt.Errorf("moved blindly")
	case in.Writer > .8 && moved > 0:
		return fmt.Errorf("up with a full writer")
	case (in.Lag > 5 || in.Depth > .6 || in.Memory > .75) && moved < 0:
		return fmt.Errorf("down although the stream asks for more")
	}
	return nil
}
