//go:build bench

package programrace

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const (
	errorTargets = 100 // of the timed server, each checked every second
	errorIdle    = 8   // seconds in which they are all there is
	errorBusy    = 120 // seconds beside other checks: of few results without a mark one more or less decides
	errorSettle  = 4   // seconds in which the CPU of a check is found out
)

// measureErrors has a prober visit a server that notes how long each answer took it, first
// with nothing else to do and then with its core 70 % busy with other checks, every second one
// over TLS. What is compared is the total of a row minus what the server did for that visit,
// from the instant at which its kernel had the request to the one before it wrote the answer:
// what is left is the prober's, and how far that is from the idle prober's median is the
// error. The server shares its core with the stores, so that totals alone would be off by
// what those do to it; how far they are is kept beside (whole_p99_ms).
func measureErrors(t *testing.T) *racetrack.Accuracy {
	t.Helper()
	out := &racetrack.Accuracy{Stamp: racetrack.NewStamp(), AnswerMS: racetrack.Millis(racetrack.Answer)}
	s, timed := racetrack.StartServer(t), racetrack.StartTimedServer(t)
	f := newFleet(t)
	f.empty(time.Now().Unix())
	p := f.start(s.Roots)
	w := f.begin(&feeding{visits: []uptime.Check{visitOf(s.Link("http")), visitOf(s.Link("https"))}, interval: wholeInterval, also: steady(errorTargets, timed.Link), named: true}, 0)
	<-time.After(2 * time.Second) // the first checks may come late
	from, to := seconds(t, errorIdle, func() {})
	idle := f.visits(timed, w.also, from, to)

	rate := 1000
	for range 3 { // the first may be far off, and more checks cost less each
		w.rate.Store(int64(rate))
		cpu, _ := p.window(errorSettle*time.Second, errorSettle*time.Second)
		rate = min(busyRate(cpu), 3*rate)
		t.Logf("%.1f µs CPU a check: %d a second", cpu, rate)
	}
	w.rate.Store(int64(rate))
	<-time.After(wholeInterval)
	before := p.sample()
	last := before
	from, to = seconds(t, errorBusy, func() {
		if time.Since(last.at) < errorSettle*time.Second {
			return
		}
		now := p.sample()
		w.rate.Store(int64(busyRate(last.cpuTo(now)))) // the machine is faster now, or slower
		last = now
	})
	after := p.sample()
	w.end()
	busy := f.visits(timed, w.also, from, to)

	took := after.at.Sub(before.at).Seconds()
	out.Rate, out.Busy = racetrack.Round((after.settled()-before.settled())/took-errorTargets), racetrack.Round(100*(after.cpu-before.cpu).Seconds()/took)
	out.Errors = racetrack.ErrorsOf(idle, busy)
	marked := racetrack.ErrorsOf(idle, idle).Marked
	t.Logf("%+v; %d of %d idle ones are marked", *out, marked, len(idle))
	if marked > len(idle)/10 {
		t.Errorf("%d of %d results are marked while there is next to nothing to do: others use this core", marked, len(idle))
	}
	if out.Busy < 60 || out.Busy > 80 {
		t.Errorf("the prober's core was busy for %v %%: the figures would be those of another load", out.Busy)
	}
	return out
}

// busyRate is how many checks a second, of so many µs each, keep a core as busy as it is meant to be.
func busyRate(cpuUS float64) int { return max(int(busyShare*1e6/cpuUS)-errorTargets, 0) }

// visits sets the rows of steady targets beside what the timed server noted about them.
func (f *fleet) visits(timed racetrack.TimedServer, targets []uptime.Check, from, to time.Time) (all []racetrack.Visit) {
	t := f.t
	t.Helper()
	rows, without := f.rowsOf(targets, from, to)
	noted, unknown := timed.Noted(t), 0
	for _, r := range rows {
		if r.Status != uptime.StatusUp {
			t.Errorf("%v of %v is %v: %s", r.TargetID, r.ScheduledAt, r.Status, r.Message)
			continue
		}
		took, found := noted[nameOf(r.TargetID, r.ScheduledAt.Unix())]
		if !found {
			unknown++
			continue
		}
		all = append(all, racetrack.Visit{Total: time.Duration(r.TotalUS) * time.Microsecond, Server: took, Marked: r.Seen.Saturated})
	}
	if without > 0 || unknown > 0 {
		t.Errorf("%d checks have no row, and the server does not know %d of the others", without, unknown)
	}
	return all
}
