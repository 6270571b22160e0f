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
	errorBusy    = 120 // seconds beside other checks at a load: of few results without a mark one more or less decides
	errorSettle  = 4   // seconds in which the CPU of a check is found out
)

// errorLoads are the shares of the prober's core that other checks keep busy: at the first most
// results are exact, at the second few can be.
var errorLoads = []float64{0.3, busyShare}

// measureErrors has a prober visit a server that notes how long each answer took it, first
// with nothing else to do and then with its core busy with other checks, every second one
// over TLS. What is compared is the total of a row minus what the server did for that visit,
// from the instant at which its kernel had the request to the one before it wrote the answer:
// what is left is the prober's, and how far that is from the idle prober's median is the
// error. The server shares its core with the stores, so that totals alone would be off by
// what those do to it; how far they are is kept beside (whole_p99_ms).
func measureErrors(t *testing.T) *racetrack.Accuracies {
	t.Helper()
	out := &racetrack.Accuracies{Stamp: racetrack.NewStamp(), AnswerMS: racetrack.Millis(racetrack.Answer)}
	s, timed := racetrack.StartServer(t), racetrack.StartTimedServer(t)
	f := newFleet(t)
	f.empty(time.Now().Unix())
	p := f.start(s.Roots)
	w := f.begin(&feeding{visits: []uptime.Check{visitOf(s.Link("http")), visitOf(s.Link("https"))}, interval: wholeInterval, also: steady(errorTargets, timed.Link), named: true}, 0)
	defer w.end()
	<-time.After(2 * time.Second) // the first checks may come late
	from, to := seconds(t, errorIdle, func() {})
	idle := f.visits(timed, w.also, from, to)
	if marked := racetrack.ErrorsOf(idle, idle).Marked; marked > len(idle)/10 {
		t.Errorf("%d of %d results are marked while there is next to nothing to do: others use this core", marked, len(idle))
	}
	for _, share := range errorLoads {
		out.Lines = append(out.Lines, errorsAt(f, p, w, timed, idle, share))
	}
	return out
}

// errorsAt keeps a share of the prober's core busy, and compares what it measures meanwhile with
// what it measured idle.
func errorsAt(f *fleet, p *prober, w *feeding, timed racetrack.TimedServer, idle []racetrack.Visit, share float64) (out racetrack.Accuracy) {
	t := f.t
	t.Helper()
	rate := 1000
	for range 3 { // the first may be far off, and more checks cost less each
		w.rate.Store(int64(rate))
		cpu, _ := p.window(errorSettle*time.Second, errorSettle*time.Second)
		rate = min(rateOf(share, cpu), 3*rate)
		t.Logf("%.1f µs CPU a check: %d a second", cpu, rate)
	}
	w.rate.Store(int64(rate))
	<-time.After(wholeInterval)
	before := p.sample()
	last := before
	from, to := seconds(t, errorBusy, func() {
		if time.Since(last.at) < errorSettle*time.Second {
			return
		}
		now := p.sample()
		w.rate.Store(int64(rateOf(share, last.cpuTo(now)))) // the machine is faster now, or slower
		last = now
	})
	after := p.sample()
	busy := f.visits(timed, w.also, from, to)
	took := after.at.Sub(before.at).Seconds()
	out.Rate, out.Busy = racetrack.Round((after.settled()-before.settled())/took-errorTargets), racetrack.Round(100*(after.cpu-before.cpu).Seconds()/took)
	out.Errors = racetrack.ErrorsOf(idle, busy)
	t.Logf("%+v", out)
	if off := out.Busy - 100*share; off < -10 || off > 10 {
		t.Errorf("the prober's core was busy for %v %%, not %v: the figures would be those of another load", out.Busy, 100*share)
	}
	return out
}

// rateOf is how many checks a second, of so many µs each, keep a share of a core busy.
func rateOf(share, cpuUS float64) int { return max(int(share*1e6/cpuUS)-errorTargets, 0) }

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
