package checkstream

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A prober hears with its heartbeat what is wanted of it. That is kept whatever becomes of
// the prober, in the sight of everybody, until somebody takes it back.
func TestDrainIsKeptUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, fleet, p := t.Context(), NewFleet(r), NewConsumer(r, "eu", "p1")
		beat := func(want bool) {
			t.Helper()
			drain, err := p.Beat(ctx, Heartbeat{Version: "1"})
			must(t, err)
			if drain != want {
				t.Errorf("it is told to drain: %v, want %v", drain, want)
			}
		}
		seen := func(want ...Drain) {
			t.Helper()
			all, err := fleet.Probers(ctx)
			must(t, err)
			var got []Drain
			for _, h := range all {
				if h.Drain != nil && time.Since(h.Drain.At).Abs() < time.Minute {
					got = append(got, Drain{By: h.Drain.By})
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(all) != 1 {
				t.Errorf("of %d: %s", len(all), diff)
			}
		}
		change := func(change func() (bool, error), want bool) {
			t.Helper()
			if changed, err := change(); err != nil || changed != want {
				t.Errorf("changed: %v, want %v; %v", changed, want, err)
			}
		}
		drain := func(by string) func() (bool, error) {
			return func() (bool, error) { return fleet.DrainProber(ctx, "eu", "p1", by) }
		}
		resume := func() (bool, error) { return fleet.ResumeProber(ctx, "eu", "p1") }

		beat(false)
		_, err := fleet.DrainProber(ctx, "us", "p1", "user:9") // of the same name
		must(t, err)
		beat(false)
		change(drain("user:1"), true)
		change(drain("user:2"), false)
		beat(true)
		seen(Drain{By: "user:1"})
		must(t, p.Leave(ctx)) // else nobody would see that it will begin so
		seen(Drain{By: "user:1"})
		p = NewConsumer(r, "eu", "p1")
		beat(true)
		change(resume, true)
		change(resume, false)
		beat(false)
		seen()

		change(drain("user:1"), true)
		must(t, fleet.ForgetProber(ctx, "eu", "p1"))
		beat(false)
		must(t, p.Leave(ctx))
		if all, err := fleet.Probers(ctx); err != nil || len(all) != 0 {
			t.Errorf("left without a goodbye: %v %v", all, err)
		}
	})
}

func TestPhasesOfADrain(t *testing.T) {
	t.Parallel()
	wish := &Drain{By: "user:1"}
	for name, c := range map[string]struct {
		beat    Heartbeat
		phase   string
		working bool
	}{
		"at work":                    {Heartbeat{}, "", true},
		"away":                       {Heartbeat{Age: time.Minute}, "", false},
		"has not heard of it":        {Heartbeat{Drain: wish}, Draining, false},
		"finishes":                   {Heartbeat{Drain: wish, State: Draining}, Draining, false},
		"has finished":               {Heartbeat{Drain: wish, State: Drained}, Drained, false},
		"is away, and will begin so": {Heartbeat{Drain: wish, State: Draining, Age: time.Minute}, Drained, false},
		"has not heard of its end":   {Heartbeat{State: Drained}, Drained, false},
		"went before it could":       {Heartbeat{State: Drained, Age: time.Minute}, "", false},
	} {
		if got := c.beat.Phase(); got != c.phase || c.beat.Working() != c.working {
			t.Errorf("%s: %q, working %v", name, got, c.beat.Working())
		}
	}
}

// A wish is there or not: one that nobody can read is heeded like any other.
func FuzzDecodeDrain(f *testing.F) {
	f.Add(`{"by":"user:1","at_ms":1800000000000}`)
	f.Add("?")
	f.Fuzz(func(t *testing.T, text string) {
		if d := decodeDrain(text); d == nil {
			t.Fatal("no wish")
		}
	})
}
