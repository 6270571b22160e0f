package scaler

import (
	"math"
	"time"
)

// Marks of the signals.
const (
	lagUp, lagDown       = 5.0, 0.5 // s
	depthUp, depthDown   = 0.60, 0.20
	memoryUp, memoryDown = 0.75, 0.50
	writerUp, writerDown = 0.80, 0.40

	wellUsed = 0.70 // share of places that may be needed and leave enough for surprises

	turnsWindow = time.Minute
	turnsMost   = 2 // changes of direction in any such window
)

// Signals are what is known in a cycle. NaN: missing.
type Signals struct {
	Lag                   float64 // s
	Depth, Memory, Writer float64 // shares, 1 is full
}

func (s Signals) complete() bool {
	for _, v := range [...]float64{s.Lag, s.Depth, s.Memory, s.Writer} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return false
		}
	}
	return true
}

// Limits of a prober.
type Limits struct {
	Min, Max  int // workers
	PerWorker int // places of one
	Most      int // places, whatever the workers: the process can bear no more
}

// places of so many workers.
func (l Limits) places(workers int) int { return min(workers*l.PerWorker, l.Most) }

// Direction of a decision.
type Direction string

// Directions.
const (
	Up   Direction = "up"
	Down Direction = "down"
	Hold Direction = "hold"
)

// Reason of a decision. The set is closed.
type Reason string

// Reasons.
const (
	ReasonLag      Reason = "lag"      // up: checks wait in the stream
	ReasonDepth    Reason = "depth"    // up: the stream fills
	ReasonMemory   Reason = "memory"   // up: Redis fills
	ReasonWriter   Reason = "writer"   // down: the store does not keep up; hold: it forbids the step up
	ReasonIdle     Reason = "idle"     // down: all is well, and fewer would do
	ReasonInUse    Reason = "in_use"   // hold: all is well, but fewer might not do
	ReasonSteady   Reason = "steady"   // hold: nothing asks for anything
	ReasonMissing  Reason = "missing"  // hold: a signal is not known
	ReasonAtMax    Reason = "at_max"   // hold: more is not allowed
	ReasonAtMin    Reason = "at_min"   // hold: less is not allowed
	ReasonReversal Reason = "reversal" // hold: the direction changed twice within a minute
)

// Decision of one cycle.
type Decision struct {
	Direction Direction
	Reason    Reason
	Workers   int // from now on
}

// State is what decisions leave behind. It begins with Workers set and nothing else.
type State struct {
	Workers int
	Barred  bool                 // the writer has been above its upper mark, and not below its lower one since
	Last    Direction            // of the last step; empty: none yet
	Turns   [turnsMost]time.Time // the newest changes of direction, oldest first
}

// Decide makes the decision of a cycle. needed is how many places the checks of the last
// minute might take.
func (l Limits) Decide(s State, now time.Time, in Signals, needed float64) (State, Decision) {
	if !in.complete() {
		return s, Decision{Hold, ReasonMissing, s.Workers}
	}
	switch {
	case in.Writer > writerUp:
		s.Barred = true
	case in.Writer < writerDown:
		s.Barred = false
	}
	direction, reason := l.wish(s, in, needed)
	switch {
	case direction == Hold:
		return s, Decision{Hold, reason, s.Workers}
	case direction == Up && s.Workers >= l.Max:
		return s, Decision{Hold, ReasonAtMax, s.Workers}
	case direction == Down && s.Workers <= l.Min:
		return s, Decision{Hold, ReasonAtMin, s.Workers}
	}
	if s.Last != "" && s.Last != direction {
		if oldest := s.Turns[0]; !oldest.IsZero() && now.Sub(oldest) < turnsWindow {
			return s, Decision{Hold, ReasonReversal, s.Workers}
		}
		copy(s.Turns[:], s.Turns[1:])
		s.Turns[turnsMost-1] = now
	}
	s.Last = direction
	if direction == Up {
		s.Workers++
	} else {
		s.Workers--
	}
	return s, Decision{direction, reason, s.Workers}
}

// wish is where the signals point to, whether there may be a step or not.
func (l Limits) wish(s State, in Signals, needed float64) (Direction, Reason) {
	asks := Reason("")
	switch {
	case in.Lag > lagUp:
		asks = ReasonLag
	case in.Depth > depthUp:
		asks = ReasonDepth
	case in.Memory > memoryUp:
		asks = ReasonMemory
	}
	switch {
	case asks != "" && s.Barred:
		return Hold, ReasonWriter
	case asks != "":
		return Up, asks
	case in.Writer > writerUp:
		return Down, ReasonWriter
	case in.Lag >= lagDown || in.Depth >= depthDown || in.Memory >= memoryDown:
		return Hold, ReasonSteady
	case s.Workers > l.Min && needed > wellUsed*float64(l.places(s.Workers-1)):
		return Hold, ReasonInUse
	}
	return Down, ReasonIdle
}
