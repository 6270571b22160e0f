package runqueue

import (
	"runtime"
	"sync"
	"time"
)

// Young counts visits that began a moment ago and are not over.
//
// Those that wait for an answer are in no line, but they will be, all at once, when a server or a
// network that paused for a moment goes on. A prober that begins others for all of that time has
// thousands in flight then, each of which costs more and measures the others. What is still not
// over after the moment waits for something else, and holds up nobody.
type Young struct {
	mu    sync.Mutex
	now   int64      // the newest turn
	since [turns]int // visits that began in a turn and are not over, by the turn's remainder
	count int        // their sum
}

const (
	turn     = 10 * time.Millisecond
	turns    = 16
	mostEach = 1500 // young visits of a core: 9,000 may begin in a second however slow all targets are
)

// Room is how many more may begin.
func (y *Young) Room(now time.Time) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.advance(now)
	return max(0, mostEach*runtime.GOMAXPROCS(0)-y.count)
}

// Begin counts n visits that begin now.
func (y *Young) Begin(now time.Time, n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.advance(now)
	y.since[y.now%turns] += n
	y.count += n
}

// End takes off a visit that began then.
func (y *Young) End(began time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if at := turnOf(began); at > y.now-turns && y.since[at%turns] > 0 {
		y.since[at%turns]--
		y.count--
	}
}

func turnOf(t time.Time) int64 { return t.UnixNano() / int64(turn) }

// advance forgets visits that are not young any more.
func (y *Young) advance(now time.Time) {
	to := turnOf(now)
	for y.now = max(y.now, to-turns); y.now < to; {
		y.now++
		y.count -= y.since[y.now%turns]
		y.since[y.now%turns] = 0
	}
}
