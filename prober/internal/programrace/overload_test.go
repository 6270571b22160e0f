//go:build bench

package programrace

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const (
	overloadFactor = 1.3
	overloadExpiry = 60 * time.Second // of a check whose interval is short
	overloadLength = 45 * time.Second // in which the stores merge more than once: in 15 s, where they may not, everything looks cheaper
	overloadRounds = 3
)

// offerMore offers probers more than they can do, in turns with what they can: one machine
// does more in one minute than in another, so that what was measured ten minutes ago says
// little.
func offerMore(t *testing.T, known *racetrack.Wholes) *racetrack.Overloads {
	t.Helper()
	if known == nil || len(known.Lines) == 0 || len(known.Lines[0].CPUUS) == 0 {
		t.Fatal("the CPU of a check is not known: measure the whole prober first")
	}
	out := &racetrack.Overloads{Stamp: racetrack.NewStamp()}
	for _, of := range known.Lines {
		t.Run(of.What, func(t *testing.T) {
			s, f := racetrack.StartServer(t), newFleet(t)
			line := racetrack.Overload{What: of.What}
			most := func() { line.Capacity = append(line.Capacity, settleMost(f, s, of)) }
			most()
			for range overloadRounds {
				r := expireSome(f, s, of.What, overloadFactor*line.Capacity[len(line.Capacity)-1])
				most()
				r.Capacity = racetrack.Round((line.Capacity[len(line.Capacity)-2] + line.Capacity[len(line.Capacity)-1]) / 2)
				t.Logf("%+v", r)
				line.Rounds = append(line.Rounds, r)
			}
			out.Lines = append(out.Lines, line)
		})
	}
	return out
}

// settleMost gives the checks a second that a prober settles when it is offered somewhat more
// than the CPU of a check promises, before any expire.
func settleMost(f *fleet, s racetrack.Server, of racetrack.Whole) float64 {
	f.t.Helper()
	f.empty(time.Now().Unix())
	p := f.start(s.Roots)
	defer p.stop()
	w := f.feed(s.Links(of.What), int(aboveCapacity*1e6/racetrack.Median(of.CPUUS)), wholeInterval)
	defer w.end()
	_, most := p.window(wholeInterval+3*time.Second, overloadLength)
	return racetrack.Round(most)
}

// expireSome offers a prober so much, and has done so for so long already, that checks expire
// before their turn comes.
func expireSome(f *fleet, s racetrack.Server, what string, rate float64) (out racetrack.Overloaded) {
	t := f.t
	t.Helper()
	out.Offered = racetrack.Round(rate)
	f.empty(time.Now().Add(-overloadExpiry - 5*time.Second).Unix())
	w := f.feed(s.Links(what), int(rate), wholeInterval)
	defer w.end()
	p := f.start(s.Roots)
	defer p.stop()
	racetrack.Within(t, 2*time.Minute, "the prober has come to checks that are still worth it", func() bool { return p.sample().rows("up") > rate/overloadFactor })
	<-time.After(5 * time.Second)
	profiled := p.profile("overload-" + what)
	before, others := p.sample(), testusage.CoreSoFar(t, racetrack.Others)
	<-time.After(overloadLength)
	after := p.sample()
	others = testusage.CoreSoFar(t, racetrack.Others) - others
	<-profiled
	w.end()
	per := func(n func(sample) float64) float64 {
		return racetrack.Round((n(after) - n(before)) / after.at.Sub(before.at).Seconds())
	}
	out.Busy = racetrack.Round(100 * (after.cpu - before.cpu).Seconds() / after.at.Sub(before.at).Seconds())
	out.Others = racetrack.Round(100 * others.Seconds() / after.at.Sub(before.at).Seconds())
	up, missed := func(s sample) float64 { return s.rows("up") }, func(s sample) float64 { return s.rows("missed") }
	out.Goodput, out.Missed, out.Other = per(up), per(missed), per(func(s sample) float64 { return s.all() - up(s) - missed(s) })
	racetrack.Within(t, 3*time.Minute, "every check has its row", func() bool { return p.sample().settled() >= float64(w.published.Load()) })
	if out.Left = int(float64(w.published.Load()) - p.sample().all()); out.Left != 0 {
		t.Errorf("%d of %d checks have no row", out.Left, w.published.Load())
	}
	return out
}
