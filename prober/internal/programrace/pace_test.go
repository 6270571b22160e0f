//go:build bench

package programrace

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const (
	paceTargets  = 5000
	paceInterval = 10 * time.Second
	busyShare    = 0.7
)

// keepPace lets a prober check 5,000 targets every 10 s: how late it begins, on a core that
// is otherwise idle and on one that somebody else keeps busy; and what it occupies when
// there has been nothing to do for a while.
func keepPace(t *testing.T) *racetrack.Pace {
	t.Helper()
	out := &racetrack.Pace{Stamp: racetrack.NewStamp(), Targets: paceTargets, IntervalS: int(paceInterval / time.Second), BusyShare: busyShare, IdleAfterS: 30}
	s := racetrack.StartServer(t)
	f := newFleet(t)
	f.empty(time.Now().Unix())
	p := f.start(s.Roots)
	w := f.feed(s.Links("http"), paceTargets/out.IntervalS, paceInterval)
	window := func() (float64, float64) {
		<-time.After(3 * time.Second) // the first visit of each target makes its plan
		before := p.sample()
		<-time.After(20 * time.Second)
		after := p.sample()
		if down := after.all() - after.rows("up"); down > 0 {
			t.Errorf("%v checks were not up", down)
		}
		return after.lateness(before, .99), after.all() - before.all()
	}
	var starts float64
	out.JitterP99, starts = window()
	out.Starts = int(starts)
	burner := racetrack.Play(t, racetrack.Measured, "burner")
	out.BusyP99, _ = window()
	burner.Over()
	w.end()
	<-time.After(time.Duration(out.IdleAfterS) * time.Second)
	out.IdleMB, out.PeakMB = racetrack.Round(testusage.MemoryOf(t, p.pid, "VmRSS")), racetrack.Round(testusage.MemoryOf(t, p.pid, "VmHWM"))
	t.Logf("%+v", *out)
	return out
}

// burn keeps a core busy for a share of the time, in turns of 10 ms.
func burn() int {
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent has seen enough
		os.Exit(0)
	}()
	for {
		for begin := time.Now(); time.Since(begin) < time.Duration(busyShare*float64(10*time.Millisecond)); {
		}
		rest := syscall.NsecToTimespec(int64((1 - busyShare) * float64(10*time.Millisecond)))
		_ = syscall.Nanosleep(&rest, nil)
	}
}
