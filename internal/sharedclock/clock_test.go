package sharedclock

import (
	"context"
	"errors"
	"slices"
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
		"away from this machine's":         {0, time.Hour, patience},
		"back from this machine's":         {0, -time.Hour, patience},
		"home to this machine's":           {time.Hour, 0, 1},
		"while this machine's is wrong":    {10 * time.Minute, 10*time.Minute + time.Second, 1},
		"both ways, this machine's is off": {10 * time.Minute, time.Hour, patience},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				source := &stepping{off: c.before}
				clock := New(source)
				if err := clock.Measure(t.Context()); err != nil {
					t.Fatal(err)
				}
				source.off = c.after
				for look := 1; ; look++ {
					time.Sleep(every)
					err := clock.Measure(t.Context())
					off := time.Until(clock.Now()).Round(time.Second)
					if err == nil {
						if look != c.believed || off != c.after {
							t.Errorf("believed after %d looks, off by %v", look, off)
						}
						return
					}
					if !errors.Is(err, ErrJumped) || off != c.before || look > patience {
						t.Fatalf("look %d: %v, off by %v", look, err, off)
					}
				}
			})
		})
	}
}

// A machine that was asleep counts none of it by its monotonic clock: its clock asks at once, and not only
// when it is its turn. Here the source is away from when this machine's wall clock was, as after a sleep.
func TestClockThatIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &stepping{off: -40 * time.Minute}
		clock := New(source)
		if now := clock.Now(); !now.Equal(time.Now()) || clock.Offset() != nil {
			t.Errorf("before it has asked: %v, %v", now, clock.Offset())
		}
		if err := clock.Measure(t.Context()); err != nil {
			t.Fatal(err)
		}
		var told []time.Duration
		begun := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 29*time.Second+time.Millisecond)
		defer stop()
		clock.Follow(ctx, func(skew time.Duration, err error) {
			if told = append(told, time.Since(begun)); err != nil {
				t.Error(err)
			}
			if want := -source.off; skew != want {
				t.Errorf("%v: this machine's is %v ahead, want %v", time.Since(begun), skew, want)
			}
			if len(told) == 1 {
				a := *clock.anchor.Load()
				a.shared = a.shared.Add(-time.Hour) // it slept for an hour since
				clock.anchor.Store(&a)
				source.off = 0 // and its clock was set meanwhile
			}
		})
		if want := []time.Duration{10 * time.Second, 11 * time.Second, 21 * time.Second}; !slices.Equal(told, want) {
			t.Errorf("asked after %v, want %v", told, want)
		}
	})
}

func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		skew time.Duration
		err  error
		want string
	}{
		{2 * time.Second, nil, ""},
		{0, context.DeadlineExceeded, ""},
		{-1801 * time.Second, nil, "this machine's clock is -30m1s ahead of the shared one: set it by NTP"},
		{0, ErrJumped, ErrJumped.Error()},
	} {
		if got := Trouble(c.skew, c.err); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.skew, c.err, got, c.want)
		}
	}
}
