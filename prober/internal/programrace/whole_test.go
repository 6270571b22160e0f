//go:build bench

package programrace

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const (
	windows       = 5
	windowLength  = 8 * time.Second // rows become durable by the second
	bareSeconds   = 3               // of bare sockets after each window: what this core could do at most just then
	steps         = 4
	wholeInterval = 5 * time.Second // of each target
	wholeLoad     = 0.92            // of the core at which the prober is measured
	aboveCapacity = 1.1             // times what a whole core would do, to see what it does: a backlog of seconds, and checks expire after a minute
)

// runWhole measures the CPU of the whole prober: read, probe, assert (three assertions), insert,
// announce, acknowledge. Checks come at their instants, about as many as it can do.
func runWhole(t *testing.T) *racetrack.Wholes {
	t.Helper()
	out := &racetrack.Wholes{Stamp: racetrack.NewStamp()}
	s := racetrack.StartServer(t)
	f := newFleet(t)
	out.Lines = []racetrack.Whole{runOne(f, s, "http", 8000), runOne(f, s, "https", 2000)}
	return out
}

// runOne raises the rate in steps until the core is busy, and then measures. Each step lasts
// until every target was visited before: what is worked out once a target is not counted.
func runOne(f *fleet, s racetrack.Server, what string, rate int) racetrack.Whole {
	t := f.t
	t.Helper()
	f.empty(time.Now().Unix())
	p := f.start(s.Roots)
	defer p.stop()
	w := f.feed(s.Links(what), rate, wholeInterval)
	defer w.end()
	for range steps {
		cpu, at := p.window(wholeInterval+3*time.Second, windowLength)
		t.Logf("%s: %.1f µs CPU a check at %.0f of %d a second", what, cpu, at, rate)
		rate = next(rate, cpu)
		w.rate.Store(int64(rate))
	}
	out := racetrack.Whole{What: what}
	p.settleAll(w, rate) // a step may have been more than it could do just then, and have left checks to expire
	<-time.After(wholeInterval + 3*time.Second)
	before := p.sample()
	var rates, busy, lateness, kept []float64
	for i := range windows {
		profiled := p.profile(fmt.Sprint(what, i+1))
		cpu, at := p.window(0, windowLength)
		<-profiled
		kept = append(kept, at/float64(rate))
		rates, busy, lateness = append(rates, at), append(busy, cpu*at/1e4), append(lateness, p.last.lateness(p.first, .99))
		out.CPUUS = append(out.CPUUS, racetrack.Round(cpu))
		p.settleAll(w, 0)
		out.BareUS = append(out.BareUS, racetrack.Round(racetrack.Saturated(t, racetrack.BareSockets, s.Link(what), s.Roots, bareSeconds).US()))
		rate = next(rate, cpu) // the machine's speed changes
		w.rate.Store(int64(rate))
		<-time.After(wholeInterval + 3*time.Second)
	}
	after := p.sample()
	out.Rate, out.BusyPercent = racetrack.Round(racetrack.Median(rates)), racetrack.Round(racetrack.Median(busy))
	out.LatenessP99, out.PeakMemoryMB = racetrack.Median(lateness), racetrack.Round(testusage.MemoryOf(t, p.pid, "VmHWM"))
	if failed := after.all() - before.all() - (after.rows("up") - before.rows("up")); failed > 0 {
		t.Errorf("%s: %v checks were not up", what, failed)
	}
	if racetrack.Median(kept) < 0.9 {
		t.Errorf("%s: of the checks that came these shares were settled in their time: %.2f; the figures would be those of another load", what, kept)
	}
	w.rate.Store(int64(aboveCapacity * 1e6 / racetrack.Median(out.CPUUS)))
	cpu, most := p.window(wholeInterval+3*time.Second, 2*windowLength)
	out.Capacity, out.CapacityBusy = racetrack.Round(most), racetrack.Round(cpu*most/1e4)
	t.Logf("%+v", out)
	return out
}

// next is the rate after one at which a check took that much CPU, in µs: more than the prober can do
// would be in its way for a minute.
func next(rate int, cpu float64) int { return min(int(wholeLoad*1e6/cpu), rate*5/4) }

// settleAll waits until all that was published is settled; then checks come at a rate again.
func (p *prober) settleAll(w *feeding, rate int) {
	p.t.Helper()
	w.rate.Store(0)
	racetrack.Within(p.t, time.Minute, "what was published is settled", func() bool { return p.sample().settled() >= float64(w.published.Load()) })
	w.rate.Store(int64(rate))
}

// profile keeps a CPU profile of a window in the folder PROFILE, if that is set.
func (p *prober) profile(name string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		dir := os.Getenv("PROFILE")
		if dir == "" {
			return
		}
		response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.ops, windowLength/time.Second))
		if err != nil {
			p.t.Log(err)
			return
		}
		defer response.Body.Close()
		file, err := os.Create(filepath.Join(dir, name+".pprof"))
		if err == nil {
			_, err = io.Copy(file, response.Body)
			_ = file.Close()
		}
		if err != nil {
			p.t.Log(err)
		}
	}()
	return done
}

// window gives the CPU a settled check, in µs, and the checks a second, after a pause.
func (p *prober) window(pause, length time.Duration) (cpu, rate float64) {
	p.t.Helper()
	<-time.After(pause)
	p.first = p.sample()
	<-time.After(length)
	p.last = p.sample()
	n := p.last.settled() - p.first.settled()
	if n == 0 {
		p.t.Fatal("nothing was settled")
	}
	return p.first.cpuTo(p.last), n / p.last.at.Sub(p.first.at).Seconds()
}
