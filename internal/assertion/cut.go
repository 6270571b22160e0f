package assertion

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/uptime"
)

func (e *evaluation) size(c *check) outcome {
	o := e.observation
	size := max(o.BodySize, int64(len(o.Body)))
	if !o.BodyCut {
		return passedIf(ordered(c.op, size, c.number))
	}
	if c.number <= size { // the true size is above both
		return passedIf(ordered(c.op, math.MaxInt64, c.number))
	}
	e.cut = true
	return undecided
}

func (e *evaluation) hash(c *check) outcome {
	if e.observation.BodyCut {
		e.cut = true
		return undecided
	}
	return passedIf((hashOf(e.observation) == c.text) != negative(c.op))
}

func hashOf(o *Observation) string {
	sum := sha256.Sum256(o.Body)
	return hex.EncodeToString(sum[:])
}

func (e *evaluation) received(c *check) outcome {
	o := e.observation
	there := len(o.Received) > 0
	switch c.op {
	case uptime.OpExists:
		return passedIf(there)
	case uptime.OpAbsent:
		return passedIf(!there)
	}
	return e.bytes(c, o.Received, o.ReceivedCut)
}

// bytes compares a text that may have been cut.
func (e *evaluation) bytes(c *check, text []byte, cut bool) outcome {
	var found, certain bool
	switch c.op {
	case uptime.OpEquals, uptime.OpNotEquals:
		found = !cut && bytes.Equal(text, c.raw)
		certain = len(text) >= len(c.raw) || !bytes.HasPrefix(c.raw, text)
	case uptime.OpContains, uptime.OpNotContains:
		found = bytes.Contains(text, c.raw)
		certain = found
	case uptime.OpMatches, uptime.OpNotMatches:
		if cut {
			text = wholeRunes(text)
		}
		found, certain = c.pattern.find(text, cut)
	default:
		return failed
	}
	if cut && !certain {
		e.cut = true
		return undecided
	}
	return passedIf(found != negative(c.op))
}

// find looks for a match; in a text that was cut it also says whether what follows
// could not undo it.
func (p *pattern) find(text []byte, cut bool) (found, certain bool) {
	if !cut || !p.end {
		found = p.Match(text)
		return found, found
	}
	at := p.FindIndex(text)
	return at != nil, at != nil && at[1] < len(text)
}

// wholeRunes drops a rune that was cut.
func wholeRunes(text []byte) []byte {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}
