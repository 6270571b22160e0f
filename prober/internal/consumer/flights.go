package consumer

import (
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// stage is where a flight is on its way; see the package comment.
type stage uint8

const (
	waiting stage = iota
	probing
	measured
	recording
	acking
	stages
)

var stageNames = [stages]string{"waiting", "probing", "measured", "recording", "acking"}

// flight is one delivered entry that is neither settled nor given back.
type flight struct {
	entry checkstream.Entry
	row   uptime.Result // set from measured on
	dead  string        // when not empty: settle as a dead letter, for this reason

	stage   stage     // guarded by flights.mu
	renewed time.Time // guarded by flights.mu: taken, or last renewed
}

// flights knows every flight by its entry's id.
type flights struct {
	capacity int

	mu      sync.Mutex
	byID    map[string]*flight
	count   [stages]int
	changed chan struct{} // holds a token when a flight moved on
}

func newFlights(capacity int) *flights {
	return &flights{capacity: capacity, byID: make(map[string]*flight), changed: make(chan struct{}, 1)}
}

// add starts a flight; false when this entry has one already.
func (fs *flights) add(e checkstream.Entry) (*flight, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if _, known := fs.byID[e.ID]; known {
		return nil, false
	}
	f := &flight{entry: e, renewed: time.Now()}
	fs.byID[e.ID] = f
	fs.count[waiting]++
	return f, true
}

func (fs *flights) move(to stage, moved ...*flight) {
	fs.mu.Lock()
	for _, f := range moved {
		fs.count[f.stage]--
		f.stage = to
		fs.count[to]++
	}
	fs.mu.Unlock()
	fs.signal()
}

// end forgets flights that were settled or given back.
func (fs *flights) end(ended ...*flight) {
	fs.mu.Lock()
	for _, f := range ended {
		fs.count[f.stage]--
		delete(fs.byID, f.entry.ID)
	}
	fs.mu.Unlock()
	fs.signal()
}

func (fs *flights) signal() {
	select {
	case fs.changed <- struct{}{}:
	default:
	}
}

// free is how many more entries may be taken on.
func (fs *flights) free() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.capacity - fs.count[waiting] - fs.count[probing] - fs.count[measured]
}

// stale gives the ids held for longer than age since they were last given, and
// counts them as renewed.
func (fs *flights) stale(age time.Duration) []string {
	now := time.Now()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var ids []string
	for id, f := range fs.byID {
		if now.Sub(f.renewed) > age {
			f.renewed = now
			ids = append(ids, id)
		}
	}
	return ids
}

func (fs *flights) counts() map[string]int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	counts := make(map[string]int, stages)
	for s, n := range fs.count {
		counts[stageNames[s]] = n
	}
	return counts
}

// waitEmpty waits for the last flight to end and gives how many did not.
func (fs *flights) waitEmpty(until time.Time) int {
	deadline := time.NewTimer(time.Until(until))
	defer deadline.Stop()
	for {
		fs.mu.Lock()
		left := len(fs.byID)
		fs.mu.Unlock()
		if left == 0 {
			return 0
		}
		select {
		case <-fs.changed:
		case <-deadline.C:
			return left
		}
	}
}
