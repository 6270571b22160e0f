//go:build bench

package programrace

import (
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const (
	besideHanging = 10_000
	besideTimeout = uptime.MaxTimeout // as long as each target's interval: when a visit gives up, its target's next begins
	besideRate    = 340               // a second, somewhat more than besideHanging within besideTimeout
	besideHealthy = 50                // a second
	besideSeconds = 20
)

// hangBeside lets 10,000 visits and more hang in a prober at once, all the while: as many
// targets take connections and say nothing, every second one after a TLS handshake, each is due
// again when its visit has given up, and so there is no time to look at a failure again. Beside
// them it checks healthy targets of another server. What is compared is the instant at which the
// prober began with the one at which it should have, from the rows that it stored. No host
// has a limit here (PROBER_ALLOW_CIDRS): 10,000 targets of one host would wait for each other.
func hangBeside(t *testing.T) *racetrack.Beside {
	t.Helper()
	out := &racetrack.Beside{Stamp: racetrack.NewStamp(), TLS: .5, Rate: besideHealthy}
	timeout := int(besideTimeout / time.Second)
	s, hole := racetrack.StartServer(t), racetrack.StartHole(t, (timeout+besideSeconds+3)*besideRate) // it notices late who has left
	f := newFleet(t)
	f.empty(time.Now().Unix())
	p := f.start(hole.Roots)
	w := &feeding{interval: besideTimeout, also: steady(besideHealthy, s.Link("http"))}
	for _, link := range []string{hole.Plain, hole.Secure} {
		check := visitOf(link)
		check.Timeout = besideTimeout
		w.visits = append(w.visits, check)
	}
	f.begin(w, besideRate)
	probing := func() int {
		return int(p.sample().series[`probefleet_prober_entries{state="probing"}`])
	}
	racetrack.Within(t, besideTimeout+15*time.Second, "all hang", func() bool { out.Hanging = probing(); return out.Hanging >= besideHanging })
	before := p.sample()
	from, to := seconds(t, besideSeconds, func() { out.Hanging = min(out.Hanging, probing()) })
	after := p.sample()
	rows, without := f.rowsOf(w.also, from, to)
	out.Checks, out.NotUp = len(rows)+without, without
	var late []time.Duration
	for _, r := range rows {
		if r.Status != uptime.StatusUp {
			out.NotUp++
			t.Logf("%v %v %v %v: %s", r.ScheduledAt, r.Status, r.Failure, r.Reason, r.Message)
		}
		if r.Status.Measured() {
			late = append(late, r.CheckedAt.Sub(r.ScheduledAt).Abs())
		}
	}
	out.P50, out.P99, out.Most = racetrack.Millis(racetrack.Quantile(late, .5)), racetrack.Millis(racetrack.Quantile(late, .99)), racetrack.Millis(racetrack.Quantile(late, 1))
	out.PeakMB = racetrack.Round(testusage.MemoryOf(t, p.pid, "VmHWM"))
	out.HangingUS = racetrack.Round(float64((after.cpu - before.cpu).Microseconds()) / (after.rows("down") - before.rows("down")))
	t.Logf("%+v; rows meanwhile: %v down, %v up, %v unknown, %v missed", *out, after.rows("down")-before.rows("down"),
		after.rows("up")-before.rows("up"), after.rows("unknown")-before.rows("unknown"), after.rows("missed")-before.rows("missed"))
	if out.Hanging < besideHanging {
		t.Errorf("only %d hung at once: the figures would be those of another load", out.Hanging)
	}
	w.end()
	_ = syscall.Kill(p.pid, syscall.SIGKILL) // nothing more is measured, and it would wait for those that hang
	return out
}
