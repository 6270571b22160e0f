package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// flapping plays a target that is down for the first part of each period, seen by three
// regions, and then does as it is told for a while.
func flapping(t *testing.T, policy Policy, period, down, long time.Duration, after uptime.Status) *script {
	t.Helper()
	s := play(t, policy, allUp)
	for at := noon.Add(time.Minute); at.Before(noon.Add(long + 2*time.Hour)); at = at.Add(s.rules.Interval) {
		status := after
		if into := at.Sub(noon); into < long {
			status = uptime.StatusUp
			if into%period < down {
				status = uptime.StatusDown
			}
		}
		for _, region := range s.rules.Regions {
			o := s.observation(region, status.String(), at)
			s.step(Event{at.Add(time.Second), o})
		}
	}
	return s
}

func (s *script) count(match func(Decision) bool) (n int) {
	for _, d := range s.decisions {
		if match(d) {
			n++
		}
	}
	return n
}

func page(d Decision) bool { return d.Notify == NotifyPage }
func of(kind Kind) func(Decision) bool {
	return func(d Decision) bool { return d.Kind == kind }
}

// However fast it flaps, one page and the news that it flaps are all there is, and each
// change is still on record. What follows is never hidden: the end is told, and so is
// an outage that lasts.
func TestFlappingIsToldOnce(t *testing.T) {
	t.Parallel()
	for half := 1; half <= 20; half++ {
		period := time.Duration(half) * 30 * time.Second
		for _, down := range []time.Duration{period / 2, period - time.Minute, time.Minute} {
			if down < 30*time.Second || down >= period {
				continue
			}
			still, calm := 3*time.Hour, flapping(t, Policy{}, period, down, 3*time.Hour, uptime.StatusUp)
			opened := calm.count(of(Opened))
			if opened < 2 {
				continue // too fast for this interval to see, or always down
			}
			if n := calm.count(page); n != 1 {
				t.Errorf("period %v, %v down: %d pages of %d incidents\n%s", period, down, n, opened, calm.told())
			}
			if opened != calm.count(of(Resolved)) || opened < int(still/period/4) {
				t.Errorf("period %v: %d opened, %d resolved", period, opened, calm.count(of(Resolved)))
			}
			if calm.count(of(FlappingBegan)) != 1 || calm.count(of(FlappingEnded)) != 1 || calm.state.Flap.Active {
				t.Errorf("period %v: %s", period, calm.told())
			}
			outage := flapping(t, Policy{}, period, down, still, uptime.StatusDown)
			i := slices.IndexFunc(outage.decisions, of(FlappingEnded))
			if n := outage.count(page); n != 2 || outage.decisions[i].Notify != NotifyPage || outage.decisions[i].At.Sub(noon.Add(still)) > 13*time.Minute {
				t.Errorf("period %v: an outage that lasts, %d pages\n%s", period, n, outage.told())
			}
		}
	}
	if off := flapping(t, Policy{Flapping: Flapping{Off: true}}, 5*time.Minute, 2*time.Minute, time.Hour, uptime.StatusUp); off.count(page) != 12 {
		t.Errorf("not damped: %d pages\n%s", off.count(page), off.told())
	}
	if rare := flapping(t, Policy{}, 30*time.Minute, 5*time.Minute, 3*time.Hour, uptime.StatusUp); rare.count(page) != 6 {
		t.Errorf("every half an hour: %d pages\n%s", rare.count(page), rare.told())
	}
}

// Damping touches nothing but who is told.
func TestDampingTouchesNoState(t *testing.T) {
	t.Parallel()
	damped := flapping(t, Policy{}, 4*time.Minute, 2*time.Minute, time.Hour, uptime.StatusUp)
	plain := flapping(t, Policy{Flapping: Flapping{Off: true}}, 4*time.Minute, 2*time.Minute, time.Hour, uptime.StatusUp)
	if text(t, damped.state.Regions) != text(t, plain.state.Regions) {
		t.Error("the regions differ")
	}
	raw := func(s *script) (all []Decision) {
		for _, d := range s.decisions {
			if d.Kind == Opened || d.Kind == Resolved {
				d.Notify = ""
				all = append(all, d)
			}
		}
		return all
	}
	if text(t, raw(damped)) != text(t, raw(plain)) {
		t.Errorf("the incidents differ:\n%s\n%s", damped.told(), plain.told())
	}
}
