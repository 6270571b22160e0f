package consumer

import (
	"sync"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// suspectsAtOnce is how many entries of a second delivery are probed at a time: enough
// to settle in seconds what a dead prober left, few enough that the next crash leaves
// a short list. See docs/decisions/0006-suspects.md.
const suspectsAtOnce = 32

// suspects counts the entries in hand that were delivered before and not settled. One
// has its place until it is settled, not only until its visit is over: a neighbour whose
// row is not durable yet when another one ends the prober would be counted as its
// accomplice, and after a few such deaths be given up with it.
type suspects struct {
	freed chan struct{} // holds a token when one was settled or given back

	mu            sync.Mutex
	second, alone int
}

func newSuspects() *suspects { return &suspects{freed: make(chan struct{}, 1)} }

// room is how many may be taken over, with capacity for so many checks.
func (s *suspects) room(capacity int) checkstream.Room {
	s.mu.Lock()
	defer s.mu.Unlock()
	alone := max(0, min(1-s.alone, capacity))
	return checkstream.Room{Alone: alone, Entries: max(0, min(suspectsAtOnce-s.second, capacity-alone))}
}

// suspect says that the entry was delivered before.
func (f *flight) suspect() bool { return f.entry.Deliveries > 1 }

// begin takes the place of one; the answer gives it back.
func (s *suspects) begin(as action) (done func()) {
	count := &s.second
	if as == actAlone {
		count = &s.alone
	}
	s.mu.Lock()
	*count++
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		*count--
		s.mu.Unlock()
		select {
		case s.freed <- struct{}{}:
		default:
		}
	}
}
