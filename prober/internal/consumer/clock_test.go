package consumer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// stepping is a shared clock that is off by some time.
type stepping struct{ off time.Duration }

func (s *stepping) Now(context.Context) (time.Time, error) { return time.Now().Add(s.off), nil }

func TestClockThatJumps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after time.Duration
		believed      int // looks until the new time is believed
	}{
		"a little":                         {0, 20 * time.Second, 1},
		"away from this machine's":         {0, time.Hour, clockPatience},
		"back from this machine's":         {0, -time.Hour, clockPatience},
		"home to this machine's":           {time.Hour, 0, 1},
		"while this machine's is wrong":    {10 * time.Minute, 10*time.Minute + time.Second, 1},
		"both ways, this machine's is off": {10 * time.Minute, time.Hour, clockPatience},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				source := &stepping{off: c.before}
				clock := clock{source: source, doubt: clockPatience}
				if err := clock.measure(t.Context()); err != nil {
					t.Fatal(err)
				}
				source.off = c.after
				for look := 1; ; look++ {
					time.Sleep(clockEvery)
					err := clock.measure(t.Context())
					off := time.Until(clock.now()).Round(time.Second)
					if err == nil {
						if look != c.believed || off != c.after {
							t.Errorf("believed after %d looks, off by %v", look, off)
						}
						return
					}
					if !errors.Is(err, errJumped) || off != c.before || look > clockPatience {
						t.Fatalf("look %d: %v, off by %v", look, err, off)
					}
				}
			})
		})
	}
}
