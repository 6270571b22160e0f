package supervisor

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/service"
)

// ended runs a shell that ends in a certain way.
func ended(t *testing.T, script string) death {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return death{state: cmd.ProcessState}
}

func TestWhoIsRestartedWhen(t *testing.T) {
	t.Parallel()
	failed, killed, crashed := ended(t, "exit 1"), ended(t, "kill -9 $$"), ended(t, "kill -SEGV $$")
	with := func(d death, lived, healthy, silent time.Duration) death {
		d.lived, d.healthy, d.silent, d.answered = lived, healthy, silent, healthy > 0
		return d
	}
	for name, c := range map[string]struct {
		d       death
		backOff bool
		longest time.Duration // of the first wait
		cause   string
	}{
		"exits at once":            {with(failed, time.Millisecond, 0, 0), true, firstDelay, "failure"},
		"exits before it answers":  {with(failed, time.Minute, 0, 0), true, firstDelay, "failure"},
		"exits after four seconds": {with(failed, 4*time.Second, 4*time.Second, 0), true, firstDelay, "failure"},
		"exits after five seconds": {with(failed, 6*time.Second, 5*time.Second, 0), false, 0, "failure"},
		"killed after a second":    {with(killed, time.Second, time.Second, 0), false, 0, "signal"},
		"killed at once":           {with(killed, 0, 0, 0), false, apart, "signal"},
		"crashed":                  {with(crashed, time.Second, 0, 0), false, 0, "signal"},
		"was silent":               {with(killed, 20*time.Second, 20*time.Second, silentAfter), false, 0, "unresponsive"},
		"never answered":           {with(killed, time.Minute, 0, startPatience), true, firstDelay, "unresponsive"},
		"cannot be started":        {death{err: errors.New("no such file")}, true, firstDelay, "failure"},
		"watchdog":                 {with(ended(t, "exit 70"), time.Minute, time.Minute, 0), false, 0, "watchdog"},
		"spool":                    {with(ended(t, "exit 74"), time.Minute, time.Minute, 0), false, 0, "spool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b backoff
			first := b.next(c.d)
			if first > c.longest || c.backOff && first < c.longest/2 {
				t.Errorf("waits %v at first, want %v at most", first, c.longest)
			}
			for range 20 {
				b.next(c.d)
			}
			if late := b.next(c.d); c.backOff != (late >= longestDelay/2) || late > longestDelay {
				t.Errorf("waits %v in the end", late)
			}
			if got := c.d.record(time.Now()); got.Cause != c.cause || got.Reason == "" {
				t.Errorf("recorded as %+v", got)
			}
		})
	}
}

// Programs that failed together must not come back together, and a good life ends
// the back-off.
func TestBackOffHasJitterAndEnds(t *testing.T) {
	t.Parallel()
	failed := ended(t, "exit 1")
	waits := map[time.Duration]bool{}
	for range 50 {
		b := backoff{delay: 10 * time.Second}
		waits[b.next(failed)] = true
	}
	if len(waits) < 40 {
		t.Errorf("only %d different waits of 50", len(waits))
	}
	b := backoff{delay: longestDelay}
	well := failed
	well.lived, well.healthy = time.Hour, time.Hour
	if wait := b.next(well); wait != 0 {
		t.Errorf("after a good life it waits %v", wait)
	}
	if wait := b.next(failed); wait > firstDelay {
		t.Errorf("after a good life and a bad one it waits %v", wait)
	}
	if failed.code() == service.ExitConfig || ended(t, "exit 78").code() != service.ExitConfig {
		t.Error("78 is not seen")
	}
}
