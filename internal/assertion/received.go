package assertion

import (
	"bytes"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Progress is how far a text that is still arriving decides the assertions on it.
type Progress uint8

// Progress of a text.
const (
	Open    Progress = iota // an assertion does not pass yet, and still may
	Holding                 // all pass or are lost; what follows may undo that
	Settled                 // whatever follows changes nothing
)

// JudgesReceived says whether an assertion looks at what was received.
func (s *Set) JudgesReceived() bool { return s.received }

// WantsSilence says whether an assertion wants nothing to be received.
func (s *Set) WantsSilence() bool { return s.silence }

// Received says how far the assertions on the source received are decided by the first
// part of a text. It looks at the text once for each of them.
func (s *Set) Received(text []byte) Progress {
	least := Settled
	for i := range s.checks {
		if c := &s.checks[i]; c.source == uptime.SourceReceived {
			if least = min(least, c.progress(text)); least == Open {
				break
			}
		}
	}
	return least
}

// progress is Received for one assertion.
func (c *check) progress(text []byte) Progress {
	found, certain := false, false // whether it is what the op speaks of, and stays so
	switch c.op {
	case uptime.OpExists, uptime.OpAbsent:
		found = len(text) > 0
		certain = found
	case uptime.OpEquals, uptime.OpNotEquals:
		found = bytes.Equal(text, c.raw)
		certain = !bytes.HasPrefix(c.raw, text)
	case uptime.OpContains, uptime.OpNotContains:
		found = bytes.Contains(text, c.raw)
		certain = found
	case uptime.OpMatches, uptime.OpNotMatches:
		found, certain = c.pattern.find(wholeRunes(text), true)
	}
	switch {
	case certain:
		return Settled
	case found != (negative(c.op) || c.op == uptime.OpAbsent):
		return Holding
	}
	return Open
}
