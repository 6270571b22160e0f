package consumer

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/failpoint"
	"github.com/probefleet/probefleet/internal/uptime"
)

// flight is one delivered entry that is neither settled nor given back.
type flight struct {
	entry  checkstream.Entry
	letter *checkstream.Letter // not nil: no delivery but a dead letter that is tried again
	row    *uptime.Result      // set once it is handed over; while failing, what its slot gets
	dead   string              // while failing: why
	lost   *uptime.Result      // while failing: the row that was refused
	acked  bool                // while failing: its entry was settled long ago
	ended  func()              // not nil: gives back the place of a suspect

	early     bool // it came before its slot
	overslept bool // … and this process was too busy to begin at the slot

	// Guarded by flights.mu.
	state   state
	since   time.Time // in this state
	renewed time.Time // taken, or last renewed
	refusal string    // why the store will never take its row
}

// flights knows every flight by its entry's id, and moves them along the statechart.
type flights struct {
	places  func() int // for checks up to measured; asked before each read
	machine *machine
	log     *slog.Logger
	taken   func(*edge)  // told of every edge, outside the lock
	illegal atomic.Int64 // transitions that were refused
	changed chan struct{}

	mu      sync.Mutex
	byID    map[string]*flight
	count   [states]int
	batches map[*batch]struct{}
}

func newFlights(places func() int, log *slog.Logger) *flights {
	return &flights{
		places: places, machine: newMachine(), log: log, changed: make(chan struct{}, 1),
		byID: make(map[string]*flight), batches: make(map[*batch]struct{}),
		taken: func(e *edge) {
			if !e.byRecorder() {
				failpoint.Hit(e.failpoint)
			}
		},
	}
}

// add starts flights for what was read, and leaves out those that fly already.
func (fs *flights) add(begun ...*flight) []*flight {
	now := time.Now()
	fresh := begun[:0]
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range begun {
		if _, known := fs.byID[f.entry.ID]; known {
			continue
		}
		f.since, f.renewed = now, now
		fs.byID[f.entry.ID] = f
		fs.count[reading]++
		fresh = append(fresh, f)
	}
	return fresh
}

// move takes flights along an edge. Only here does a flight change its state. One
// that has no such edge stays where it is: somebody else is in charge of it.
func (fs *flights) move(on event, moved ...*flight) {
	var took *edge
	now := time.Now()
	fs.mu.Lock()
	for _, f := range moved {
		e := fs.machine[f.state][on]
		if e == nil {
			fs.refuse(f, on)
			continue
		}
		took = e
		fs.count[f.state]--
		f.state, f.since = e.to, now
		if e.to == settled || e.to == released {
			delete(fs.byID, f.entry.ID)
			if f.ended != nil {
				f.ended()
			}
		} else {
			fs.count[e.to]++
		}
	}
	fs.mu.Unlock()
	fs.signal()
	if took != nil {
		fs.taken(took)
	}
}

// refuse is a defect of ours come to light: two parties in charge of one flight.
func (fs *flights) refuse(f *flight, on event) {
	fs.illegal.Add(1)
	fs.log.Error("illegal transition refused", "entry", f.entry.ID, "state", f.state.String(), "event", on.String())
}

func (fs *flights) signal() {
	select {
	case fs.changed <- struct{}{}:
	default:
	}
}

// free is how many more entries may be taken on: none, or less than none, when places
// were taken away meanwhile, or when acknowledgements do not keep up.
func (fs *flights) free() int {
	places := fs.places()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return min(places-fs.usingPlaces(), maxUnsettled-fs.count[stored]-fs.count[acking])
}

// inHand is how many entries use up places.
func (fs *flights) inHand() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.usingPlaces()
}

func (fs *flights) usingPlaces() int {
	return fs.count[reading] + fs.count[waiting] + fs.count[probing] + fs.count[measured]
}

// stale gives the ids held for longer than age since they were last given, and
// counts them as renewed. An expired check that has no durable row yet is left out: by
// then the publisher may state it and clear the way for other regions, and its row
// counts all the same when it comes.
func (fs *flights) stale(age time.Duration, shared time.Time) []string {
	now := time.Now()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var ids []string
	for id, f := range fs.byID {
		if f.letter == nil && now.Sub(f.renewed) > age && !f.hopeless(shared) {
			f.renewed = now
			ids = append(ids, id)
		}
	}
	return ids
}

// hopeless says that a check has expired while its row waits to become durable.
func (f *flight) hopeless(now time.Time) bool {
	unsaved := f.state >= measured && f.state <= spooling
	return unsaved && f.entry.Check.TargetID != 0 && now.After(f.entry.Check.ExpiresAt())
}

// size is how many flights there are; with none, nothing is owed a row or an acknowledgement.
func (fs *flights) size() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.byID)
}

// counts are by state.
func (fs *flights) counts() [states]int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.count
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
