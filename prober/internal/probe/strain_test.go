package probe

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestStrainIsAHundredthOfVisits(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	cases := []struct {
		name string
		late []time.Duration // of the beats, one after the other
		want bool
	}{
		{"on time", []time.Duration{0, 0, 0}, false},
		{"within the limit", slices.Repeat([]time.Duration{2 * ms}, strainAllowed+1), false},
		{"as many late in a second as may be", slices.Repeat([]time.Duration{3 * ms, 0}, strainAllowed), false},
		{"one more", slices.Repeat([]time.Duration{3 * ms, 0}, strainAllowed+1), true},
		{"one more, a second later", slices.Concat(slices.Repeat([]time.Duration{3 * ms}, strainAllowed), make([]time.Duration, strainSecond), []time.Duration{3 * ms}), false},
		{"one so late that the others were slept through", []time.Duration{0, strainLimit + strainAllowed*strainBeat + 1}, true},
		{"one so late that the last of them is met in time", []time.Duration{0, strainLimit + strainAllowed*strainBeat}, false},
		{"asleep for an hour", []time.Duration{time.Hour}, true},
	}
	for _, c := range cases {
		w := newStrainWatch(time.Now())
		due := int64(strainBeat)
		for _, late := range c.late {
			now := due + int64(late)
			if due = w.beat(due, now); due <= now || due > now+int64(strainBeat) {
				t.Errorf("%s: the beat after %v is in %v", c.name, time.Duration(now), time.Duration(due-now))
			}
		}
		if got := w.strained.Load() >= 0; got != c.want {
			t.Errorf("%s: strained %v", c.name, got)
		}
	}
}

func TestStrainLasts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late int // beats, slept through
		want time.Duration
	}{{strainAllowed + 1, time.Second}, {strainLasting, time.Second}, {strainLasting + 1, 5 * time.Second}} {
		w := newStrainWatch(time.Now())
		due := w.beat(int64(strainBeat), int64(strainLimit)+1+int64(c.late)*int64(strainBeat))
		for range strainWindow + 1 {
			due = w.beat(due, due)
		}
		end := w.strained.Load()
		if over := time.Duration(end) - c.want; over < 0 || over > 100*time.Millisecond || !w.since(end) || w.since(end+1) {
			t.Errorf("after %d late beats strained until %v", c.late, time.Duration(end))
		}
	}
}

// A busy process is not exact in the seconds that go well by chance, here the fifth.
func TestStrainIsNotOverWithASecond(t *testing.T) {
	t.Parallel()
	w := newStrainWatch(time.Now())
	due := int64(strainBeat)
	for _, late := range []int{2, 2, 2, 2, 0, 2} {
		for i := range strainSecond {
			now := due
			if i < late {
				now += int64(strainLimit) + 1
			}
			due = w.beat(due, now)
			if now > int64(4*time.Second) && !w.since(now) {
				t.Fatalf("exact after %v", time.Duration(now))
			}
		}
	}
}

// A beat that is overdue tells before it comes.
func TestStrainIsSeenBeforeItsBeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newStrainWatch(time.Now())
		w.wire = func() (func(), <-chan int64, func()) { // a pipe is outside the bubble
			at := make(chan int64, 1)
			return func() { at <- w.now() }, at, func() {}
		}
		if w.since(0) {
			t.Error("strained while nobody watches")
		}
		ctx, cancel := context.WithCancel(t.Context())
		go w.run(ctx)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if w.since(0) {
			t.Error("a quiet process is strained")
		}
		mark := int64(time.Since(w.base))
		w.due.Store(mark - int64(strainAllowed*strainBeat+strainLimit))
		if w.since(mark) {
			t.Error("as many are overdue as may be")
		}
		if w.due.Add(-1); !w.since(mark) {
			t.Error("late by more, and nobody says so")
		}
		w.second.Add(strainAllowed) // as many were late within the second as may be
		w.due.Store(mark - int64(strainLimit))
		if w.since(mark) {
			t.Error("the next is late by no more than the limit")
		}
		if w.due.Add(-1); !w.since(mark) {
			t.Error("the next is late, and nobody says so")
		}
		cancel()
		synctest.Wait()
	})
}

const starvedChild = "PROBE_STARVED_CHILD"

// TestStarvedProcessSaysSo measures in a process with one processor and more to do than
// it can: what it measures is marked. The same process without the work marks nothing, if
// the machine lets it: that is not demanded, since others may be using it.
func TestStarvedProcessSaysSo(t *testing.T) {
	if os.Getenv(starvedChild) != "" {
		starve(t)
		return
	}
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run=^TestStarvedProcessSaysSo$", "-test.v")
	child.Env = append(os.Environ(), starvedChild+"=1", "GOMAXPROCS=1")
	out, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "saturated: true") {
		t.Errorf("%v\n%s", err, out)
	}
}

// starve keeps the only processor busy with goroutines that never wait, and makes a visit.
func starve(t *testing.T) {
	l := startLab(t)
	e := New(options(l))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { _ = e.Run(ctx) }()
	for range 8 {
		go func() {
			for ctx.Err() == nil {
			}
		}()
	}
	check := checkOf(l.URL() + "/slow/300ms")
	check.Timeout = 30 * time.Second
	o := e.Look(t.Context(), check)
	if o.Status != uptime.StatusUp {
		t.Fatalf("%+v", o)
	}
	t.Logf("saturated: %v", o.Seen.Saturated)
}
