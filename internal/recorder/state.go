package recorder

import (
	"time"

	"github.com/probefleet/probefleet/internal/spool"
)

// State is a snapshot for health pages.
type State struct {
	Buffered   int           // rows accepted and not settled
	OldestAge  time.Duration // of the oldest of them
	Attempt    int           // of the batch being written, from 1; 0 while none is
	Retrying   bool          // inserts fail: they are being repeated, or go to the spool
	LastError  string        // of the last failed insert; "" once one has worked
	Saturation float64       // Buffered over MaxBuffered: at 1 Record blocks
	Breaker    string        // closed, open or half_open
	Pressure   Level
	Spool      *spool.State // nil: there is none
	TooOld     int          // rows of the spool that were refused since the start: results of their time are not kept any more
	TooOldAt   time.Time    // when the last of them was; zero: none
}

// State tells how far behind the recorder is. It waits for nobody.
func (r *Recorder) State() State {
	var s State
	s.Buffered, s.OldestAge = r.held()
	s.Saturation = min(1, float64(s.Buffered)/float64(r.o.MaxBuffered))
	s.Breaker = r.breaker.name()
	r.mu.Lock()
	s.TooOld, s.TooOldAt = r.tooOld, r.tooOldAt
	s.Attempt, s.Retrying, s.LastError = r.attempt, r.retrying || r.replayFails || s.Breaker != "closed", r.lastErr
	r.mu.Unlock()
	full, crowded := s.Retrying, false
	if r.o.Spool != nil {
		state := r.o.Spool.State()
		s.Spool = &state
		full, crowded = state.Full, 5*state.Bytes > 4*state.MaxBytes
	}
	switch {
	case full && s.Saturation > .5:
		s.Pressure = LevelError
	case s.Retrying || crowded:
		s.Pressure = LevelDegraded
	}
	return s
}

// held counts the rows accepted and not settled.
func (r *Recorder) held() (rows int, oldest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.writing) > 0 {
		oldest = time.Since(r.writing[0].at)
	} else if len(r.queue) > 0 {
		oldest = time.Since(r.queue[0].at)
	}
	return len(r.queue) + len(r.writing), oldest
}
