package probe

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	strainBeat    = 5 * time.Millisecond
	strainLimit   = 2 * time.Millisecond // that the 99th percentile of visits may be off
	strainSecond  = 200                  // beats of a second,
	strainAllowed = strainSecond / 200   // of which so many may be later: a visit waits twice at least, to connect and for the answer
	strainWindow  = 5 * strainSecond     // beats of five seconds,
	strainLasting = strainWindow / 200   // of which so many may be
)

// strainWatch judges whether this process is so busy, or its machine, that what it
// measures is not exact: a phase ends when the goroutine that waits for it runs again, so
// what delays goroutines is measured as if it were the target.
//
// A byte that is sent through the kernel every five milliseconds stands for all: how late it is
// read is how late answers are, whether they wait for a processor of Go's or the process for one
// of the machine's. A timer alone would not do: Go looks at timers between any two goroutines,
// and at what has come through the kernel when no other wants to run, or ten milliseconds later.
// Of the two hundred that are due in a second, those that were slept through included, one may be
// read more than two milliseconds late. With a second one a hundredth of visits would be, which wait
// twice each, and every visit under way within that second is marked saturated (uptime.Seen). Fewer
// beats would miss more of such seconds by chance, more would wake an idle machine for nothing: these
// take it a hundredth of a core. A busy process has seconds that go well by chance, and says nothing
// by them: over five seconds no larger share of the beats may be late than in one.
type strainWatch struct {
	wire     func() (send func(), came <-chan int64, end func()) // of a beat
	base     time.Time                                           // all times below are monotonic ns since base
	due      atomic.Int64                                        // when the next beat should come; -1: nobody watches
	strained atomic.Int64                                        // newest instant at which the limit was exceeded; -1: never
	late     [strainWindow]bool
	next     int          // in late
	second   atomic.Int64 // how many are late of the newest strainSecond,
	lasting  atomic.Int64 // and of all
}

func newStrainWatch(base time.Time) *strainWatch {
	w := &strainWatch{base: base}
	w.wire = w.pipe
	w.due.Store(-1)
	w.strained.Store(-1)
	return w
}

func (w *strainWatch) now() int64 { return int64(time.Since(w.base)) }

func (w *strainWatch) run(ctx context.Context) {
	send, came, end := w.wire()
	defer end()
	due := w.now() + int64(strainBeat)
	w.due.Store(due)
	defer w.due.Store(-1)
	timer := time.NewTimer(strainBeat)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			send()
		case at := <-came:
			due = w.beat(due, at)
			w.due.Store(due)
			timer.Reset(time.Duration(due - w.now()))
		}
	}
}

// pipe sends beats through the kernel, and says when each was read. Without a descriptor left
// for that it is when it was sent.
func (w *strainWatch) pipe() (send func(), came <-chan int64, end func()) {
	at := make(chan int64, 1) // there is one beat at a time
	from, to, err := os.Pipe()
	if err != nil {
		return func() { at <- w.now() }, at, func() {}
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for beat := make([]byte, 1); ; {
			if _, err := from.Read(beat); err != nil {
				return
			}
			at <- w.now()
		}
	})
	return func() { _, _ = to.Write([]byte{0}) }, at, func() { _, _ = to.Close(), from.Close(); reading.Wait() }
}

// beat judges the instant due, and those after it that have gone by, and gives the next.
func (w *strainWatch) beat(due, now int64) int64 {
	for steps := 0; due <= now; due += int64(strainBeat) {
		if steps++; steps > strainWindow { // all of the window is late: no more can be
			due += (now - due) / int64(strainBeat) * int64(strainBeat)
			continue
		}
		w.note(now-due > int64(strainLimit))
	}
	if w.tooMany(0) {
		w.strained.Store(now)
	}
	return due
}

func (w *strainWatch) note(late bool) {
	if w.late[(w.next+strainWindow-strainSecond)%strainWindow] {
		w.second.Add(-1)
	}
	if w.late[w.next] {
		w.lasting.Add(-1)
	}
	if late {
		w.second.Add(1)
		w.lasting.Add(1)
	}
	w.late[w.next] = late
	w.next = (w.next + 1) % strainWindow
}

// tooMany says whether the limit is exceeded if so many more beats are late.
func (w *strainWatch) tooMany(more int64) bool {
	return w.second.Load()+more > strainAllowed || w.lasting.Load()+more > strainLasting
}

// since says whether the process was strained at any time since mark, also when the beats
// that will notice it have not come yet: what delays them has delayed this, too.
func (w *strainWatch) since(mark int64) bool {
	if w.strained.Load() >= mark {
		return true
	}
	due := w.due.Load()
	over := w.now() - due - int64(strainLimit) - 1
	return due >= 0 && over >= 0 && w.tooMany(1+over/int64(strainBeat))
}
