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

	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const (
	windows       = 5
	windowLength  = 8 * time.Second // rows become durable by the second
	steps         = 4
	wholeInterval = 5 * time.Second // of each target
	wholeLoad     = 0.92            // of the core at which the prober is measured
	aboveCapacity = 1.1             // times what a whole core would do, to see what it does: a backlog of seconds, and checks expire after a minute
)

// runWhole measures the CPU of the whole prober: read, probe, assert, insert, announce,
// acknowledge. Checks come at their instants, about as many as it can do.
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
	w := f.feed(s.Link(what), rate, wholeInterval)
	defer w.end()
	for range steps {
		cpu, at := p.window(wholeInterval+3*time.Second, windowLength)
		t.Logf("%s: %.1f µs CPU a check at %.0f of %d a second", what, cpu, at, rate)
		rate = min(int(wholeLoad*1e6/cpu), rate*5/4) // more than it can do would be in its way for a minute
		w.rate.Store(int64(rate))
	}
	out := racetrack.Whole{What: what}
	<-time.After(wholeInterval + 3*time.Second)
	before := p.sample()
	profiled := p.profile(what)
	for range windows {
		cpu, _ := p.window(0, windowLength)
		out.CPUUS = append(out.CPUUS, racetrack.Round(cpu))
	}
	after := p.sample()
	<-profiled
	seconds := after.at.Sub(before.at).Seconds()
	out.Rate, out.BusyPercent = racetrack.Round((after.settled()-before.settled())/seconds), racetrack.Round(100*(after.cpu-before.cpu).Seconds()/seconds)
	out.LatenessP99, out.PeakMemoryMB = after.lateness(before, .99), racetrack.MemoryOf(t, p.pid, "VmHWM")
	if failed := after.all() - after.rows("up"); failed > 0 {
		t.Errorf("%s: %v checks were not up", what, failed)
	}
	if out.Rate < 0.9*float64(rate) {
		t.Errorf("%s: %v checks a second were settled of %d: the figures would be those of another load", what, out.Rate, rate)
	}
	w.rate.Store(int64(aboveCapacity * 1e6 / racetrack.Median(out.CPUUS)))
	_, most := p.window(wholeInterval+3*time.Second, 2*windowLength)
	out.Capacity = racetrack.Round(most)
	t.Logf("%+v", out)
	return out
}

// profile keeps a CPU profile of what is measured in the folder PROFILE, if that is set.
func (p *prober) profile(what string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		dir := os.Getenv("PROFILE")
		if dir == "" {
			return
		}
		response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.ops, windows*windowLength/time.Second))
		if err != nil {
			p.t.Log(err)
			return
		}
		defer response.Body.Close()
		file, err := os.Create(filepath.Join(dir, what+".pprof"))
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
	before := p.sample()
	<-time.After(length)
	after := p.sample()
	n := after.settled() - before.settled()
	if n == 0 {
		p.t.Fatal("nothing was settled")
	}
	return float64((after.cpu - before.cpu).Microseconds()) / n, n / after.at.Sub(before.at).Seconds()
}

const (
	overloadFactor = 1.3
	overloadExpiry = 60 * time.Second // of a check whose interval is short
	overloadLength = 45 * time.Second // in which the stores merge more than once: 15 s were 89 to 98 % over HTTP
)

// offerMore offers probers more than they can do.
func offerMore(t *testing.T, known *racetrack.Wholes) *racetrack.Overloads {
	t.Helper()
	if known == nil || len(known.Lines) == 0 || known.Lines[0].Capacity == 0 {
		t.Fatal("the capacity is not known: measure the whole prober first")
	}
	out := &racetrack.Overloads{Stamp: racetrack.NewStamp()}
	for _, of := range known.Lines {
		t.Run(of.What, func(t *testing.T) { out.Lines = append(out.Lines, offerMoreOf(t, of)) })
	}
	return out
}

// offerMoreOf has done so for so long already that checks expire before their turn comes.
func offerMoreOf(t *testing.T, of racetrack.Whole) racetrack.Overload {
	t.Helper()
	out := racetrack.Overload{What: of.What, Capacity: of.Capacity}
	out.Offered = racetrack.Round(overloadFactor * out.Capacity)
	s := racetrack.StartServer(t)
	f := newFleet(t)
	f.empty(time.Now().Add(-overloadExpiry - 5*time.Second).Unix())
	w := f.feed(s.Link(of.What), int(out.Offered), 5*time.Second)
	p := f.start(s.Roots)
	racetrack.Within(t, 2*time.Minute, "the prober has come to checks that are still worth it", func() bool { return p.sample().rows("up") > out.Capacity })
	<-time.After(5 * time.Second)
	before := p.sample()
	<-time.After(overloadLength)
	after := p.sample()
	w.end()
	per := func(n func(sample) float64) float64 {
		return racetrack.Round((n(after) - n(before)) / after.at.Sub(before.at).Seconds())
	}
	out.Busy = racetrack.Round(100 * (after.cpu - before.cpu).Seconds() / after.at.Sub(before.at).Seconds())
	up, missed := func(s sample) float64 { return s.rows("up") }, func(s sample) float64 { return s.rows("missed") }
	out.Goodput, out.Missed, out.Other = per(up), per(missed), per(func(s sample) float64 { return s.all() - up(s) - missed(s) })
	racetrack.Within(t, 3*time.Minute, "every check has its row", func() bool { return p.sample().settled() >= float64(w.published.Load()) })
	if out.Left = int(float64(w.published.Load()) - p.sample().all()); out.Left != 0 {
		t.Errorf("%d of %d checks have no row", out.Left, w.published.Load())
	}
	t.Logf("%+v", out)
	return out
}
