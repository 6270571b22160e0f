package probe

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// scripted ends visits in turn, each after a time.
type scripted struct {
	ends   []trouble
	took   time.Duration
	visits int
}

func (s *scripted) visit(_ context.Context, seen *sighting) trouble {
	time.Sleep(s.took) // in a bubble
	seen.hop("http://example.com/")
	seen.Status = 200
	end := s.ends[min(s.visits, len(s.ends)-1)]
	s.visits++
	return end
}

func (*scripted) command() string { return "" }

// with makes every http target one visitor's.
func with(v visitor) map[uptime.Kind]compiler {
	return map[uptime.Kind]compiler{uptime.KindHTTP: func(blueprint) (visitor, error) { return v, nil }}
}

var (
	up      = trouble{}
	refused = failed(uptime.FailureConnectRefused, "refused")
)

func TestFailureIsLookedAtTwice(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		ends     []trouble
		took     time.Duration
		want     uptime.Status
		attempts uint8
	}{
		{"up needs no second look", []trouble{up}, 0, uptime.StatusUp, 1},
		{"failure confirmed", []trouble{refused, refused}, 0, uptime.StatusDown, 2},
		{"failure not confirmed", []trouble{refused, up}, 0, uptime.StatusUp, 2},
		{"second look could not measure", []trouble{refused, unknown(uptime.ReasonProbeDNS, "x")}, 0, uptime.StatusUnknown, 2},
		{"no time for a second look", []trouble{refused, up}, 6 * time.Second, uptime.StatusDown, 1},
		{"unknown is not a failure", []trouble{unknown(uptime.ReasonBlockedAddress, "x"), up}, 0, uptime.StatusUnknown, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{ends: c.ends, took: c.took}
				e := newEngine(options(nil), with(s))
				check := checkOf("")
				check.Timeout = 5 * time.Second
				o := checked(t.Context(), e, check)
				if o.Status != c.want || o.Attempts != c.attempts || s.visits != int(c.attempts) {
					t.Errorf("%v after %d attempts, %d visits", o.Status, o.Attempts, s.visits)
				}
			})
		})
	}
}

// The network is looked at as soon as a first look failed, beside the second one.
func TestFailedLookIsTold(t *testing.T) {
	t.Parallel()
	for want, ends := range map[int][]trouble{
		0: {up},
		1: {refused, up},
		2: {unknown(uptime.ReasonProbeDNS, "x")},
		3: {unknown(uptime.ReasonProbeBlind, "x")},
		4: {unknown(uptime.ReasonBlockedAddress, "x")},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := options(nil)
			var told []time.Time
			o.Failed = func(_ int64, began time.Time, down bool) {
				if told = append(told, began); down != (want == 1) {
					t.Errorf("%v: down %v", ends, down)
				}
			}
			s := &scripted{ends: ends, took: time.Second}
			e := newEngine(o, with(s))
			began := time.Now()
			checked(t.Context(), e, checkOf(""))
			if failing := want >= 1 && want <= 3; failing != (len(told) == 1) || failing && !told[0].Equal(began) {
				t.Errorf("%v: told %v", ends, told)
			}
		})
	}
}

// A failure waits for canaries after its visits: a second look is made only if its row
// still comes before the expiry.
func TestSecondLookLeavesTimeForDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		interval, timeout, took, doubt time.Duration
		visits                         int
	}{
		{10 * time.Second, 5 * time.Second, 0, 2 * time.Second, 2},
		{10 * time.Second, 9 * time.Second, 0, 2 * time.Second, 2}, // it expires after a minute
		{62 * time.Second, 30 * time.Second, 30 * time.Second, 0, 2},
		{62 * time.Second, 30 * time.Second, 30 * time.Second, 2 * time.Second, 1},
		{63 * time.Second, 30 * time.Second, 30 * time.Second, 2 * time.Second, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := options(nil)
			o.Doubt = c.doubt
			s := &scripted{ends: []trouble{refused, refused}, took: c.took}
			check := checkOf("")
			check.Interval, check.Timeout = c.interval, c.timeout
			began := time.Now()
			if checked(t.Context(), newEngine(o, with(s)), check); s.visits != c.visits || time.Since(began)+c.doubt > uptime.Expiry(c.interval) {
				t.Errorf("%+v: %d visits in %v", c, s.visits, time.Since(began))
			}
		})
	}
}

type panicking struct{}

func (panicking) visit(context.Context, *sighting) trouble { panic("boom\nsecond line") }
func (panicking) command() string                          { return "" }

func TestPanicStaysInItsCheck(t *testing.T) {
	t.Parallel()
	e := newEngine(options(nil), with(panicking{}))
	if o := checked(t.Context(), e, checkOf("")); o.Reason != uptime.ReasonInternal || o.Attempts != 1 {
		t.Errorf("%+v", o)
	}
	check := checkOf("")
	check.Kind = "smoke\r\nsignals"
	if o := checked(t.Context(), e, check); o.Reason != uptime.ReasonInternal || strings.ContainsAny(o.Message, "\r\n") {
		t.Errorf("%+v", o)
	}
}

// A value of a newer release is no reason to visit in another way.
func TestUnknownValuesAreNotVisited(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	for _, spec := range []uptime.Spec{{Family: "5"}, {HTTP: &uptime.HTTPSpec{Version: "4"}}, uptime.SpecText(`{"later":1}`).Read()} {
		check := checkOf("http://127.0.0.1:1/")
		check.Spec = spec.Text()
		if o := checked(t.Context(), e, check); o.Reason != uptime.ReasonInternal || !strings.Contains(o.Message, "cannot run the check") {
			t.Errorf("%s: %+v", check.Spec, o)
		}
	}
}

// freezer moves the watch's beat into the past, as a stopped process would find it.
type freezer struct {
	watch *freezeWatch
	gap   time.Duration
}

func (f *freezer) visit(_ context.Context, seen *sighting) trouble {
	f.watch.base = f.watch.base.Add(-f.gap)
	seen.hop("http://example.com/")
	return refused
}

func (*freezer) command() string { return "" }

func TestFrozenProbeMeasuredNothing(t *testing.T) {
	t.Parallel()
	for gap, want := range map[time.Duration]uptime.Reason{1200 * time.Millisecond: uptime.ReasonFrozen, 500 * time.Millisecond: uptime.ReasonNone} {
		f := &freezer{gap: gap}
		e := newEngine(options(nil), with(f))
		f.watch = e.freeze
		e.freeze.last.Store(e.freeze.mark())
		check := checkOf("")
		check.Timeout = check.Interval // no second look
		if o := checked(t.Context(), e, check); o.Reason != want {
			t.Errorf("gap %v: %v %q", gap, o.Status, o.Reason)
		}
	}
}

func TestFreezeWatchRemembersAGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gaps := make(chan time.Duration, 1)
		w := newFreezeWatch(func(gap time.Duration) { gaps <- gap })
		before := w.mark()
		w.last.Store(w.mark())
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = w.run(ctx) }()
		time.Sleep(5 * time.Second)
		if w.frozenSince(before) {
			t.Error("a quiet process counts as frozen")
		}
		synctest.Wait()
		w.last.Store(w.mark() - int64(2*time.Second)) // the beat that did not come
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		if len(gaps) != 1 || !w.frozenSince(before) || w.frozenSince(w.mark()) {
			t.Errorf("%d gaps reported, frozen since before: %v, since now: %v", len(gaps), w.frozenSince(before), w.frozenSince(w.mark()))
		}
		cancel()
		synctest.Wait()
	})
}

// After a freeze the checks whose slots went by start at once, and before the beat that
// notices it: what they measure is the target.
func TestProbeThatBeganAfterAFreezeMeasures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFreezeWatch(func(time.Duration) {})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = w.run(ctx) }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		before := w.mark()
		w.last.Store(w.mark() - int64(time.Minute)) // the process stood still until now
		after := w.mark()
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		if w.frozenSince(after) {
			t.Error("a probe that began after the freeze counts as frozen")
		}
		if !w.frozenSince(before - int64(30*time.Second)) {
			t.Error("a probe that was frozen for half a minute does not count as frozen")
		}
		cancel()
		synctest.Wait()
	})
}
