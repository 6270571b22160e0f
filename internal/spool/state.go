package spool

import "time"

// State is the spool as health pages and heartbeats show it.
type State struct {
	Batches, Rows   int
	Bytes, MaxBytes int64
	First, Last     time.Time     // slots of all rows; zero: none
	OldestAge       time.Duration // since the oldest batch was appended
	Corrupt         int           // files in DIR/corrupt: found by Open or moved there since
	Full            bool          // an Append was refused within the last minute and nothing has made room since
}

// State never waits for the disk.
func (s *Spool) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := State{
		Batches: len(s.waiting.entries), Rows: s.waiting.rows, Bytes: s.waiting.bytes, MaxBytes: s.max, Corrupt: s.lying + s.moved,
		Full: !s.refused.IsZero() && time.Since(s.refused) < fullRemembered,
	}
	if state.Batches > 0 {
		first, last := s.waiting.span()
		state.First, state.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
		state.OldestAge = max(0, time.Since(time.UnixMilli(s.waiting.entries[0].spooled)))
	}
	return state
}
