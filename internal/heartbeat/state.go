package heartbeat

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Signal is what a ping says.
type Signal int

// Signals. An exit code other than 0 is Fail with its code.
const (
	Success Signal = iota
	Start          // the job begins: the time until Success is its duration
	Fail
	Log // nothing but a text
)

var signalNames = [...]string{Success: "success", Start: "start", Fail: "fail", Log: "log"}

func (s Signal) String() string { return signalNames[s] }

// Ping is one ping.
type Ping struct {
	At       time.Time
	Signal   Signal
	ExitCode int    // of Fail; 0: none was given
	Body     string // what came along, valid UTF-8
	BodyCut  bool
}

// Read gives the signal of a URL's last part: "", start, fail, log or an exit code.
func Read(word string) (s Signal, exitCode int, ok bool) {
	switch word {
	case "":
		return Success, 0, true
	case "start":
		return Start, 0, true
	case "fail":
		return Fail, 0, true
	case "log":
		return Log, 0, true
	}
	code, err := strconv.ParseUint(word, 10, 8)
	if err != nil || strconv.FormatUint(code, 10) != word {
		return 0, 0, false
	}
	if code == 0 {
		return Success, 0, true
	}
	return Fail, int(code), true
}

// State is where a heartbeat stands. Instants are whole milliseconds; zero is none.
type State struct {
	Expected time.Time // the next ping; none while it is paused
	Started  time.Time // of a job that has not ended
}

// Gap is a stretch in which nobody was there to receive pings.
type Gap struct{ From, To time.Time }

// Row is what an expectation, or a ping, came to.
type Row struct {
	At      time.Time // the slot
	Noted   time.Time // ranks the rows of one slot: a ping outranks what was said without one
	Status  uptime.Status
	Failure uptime.Failure
	Reason  uptime.Reason
	Took    time.Duration // from start to end; 0: not known
	Message string
	Body    string
	BodyCut bool
}

// Deadline is when a missing ping is no longer waited for; zero when none is expected.
func (s *Schedule) Deadline(st State) time.Time {
	if st.Expected.IsZero() {
		return time.Time{}
	}
	return st.Expected.Add(s.Grace)
}

// Due ends the expectation whose deadline has passed at now, and says what it came to; false
// when there is none. Ask again: more than one may have passed.
func (s *Schedule) Due(st State, gaps []Gap, now time.Time) (Row, State, bool) {
	deadline := s.Deadline(st)
	if deadline.IsZero() || deadline.After(now) {
		return Row{}, st, false
	}
	row := Row{At: st.Expected, Noted: st.Expected.Add(-before), Status: uptime.StatusDown, Failure: uptime.FailureTimeout,
		Message: "no ping came by " + deadline.UTC().Format("2006-01-02 15:04:05") + " UTC"}
	if !st.Started.IsZero() {
		row.Message = "started at " + st.Started.UTC().Format("2006-01-02 15:04:05") + " UTC, and no end of it was told in time"
	}
	since := st.Expected.Add(-min(s.Grace, s.earliest(st.Expected)))
	for _, gap := range gaps { // in which a ping would have counted for it
		if gap.From.Before(deadline) && gap.To.After(since) {
			row.Status, row.Failure, row.Reason = uptime.StatusMissed, uptime.FailureNone, uptime.ReasonRegionDown
			row.Message = "nobody was there to receive a ping"
		}
	}
	next := st
	next.Expected = milli(s.After(st.Expected))
	return row, next, true
}

const (
	before      = time.Minute // how long before its slot the row of a missing ping is dated
	maxDuration = time.Hour   // that a row holds in µs; the message tells of longer ones
)

// Take gives the row of a ping, if it has one, and what is expected after it. Deadlines
// that passed before it are the caller's to end first (Due).
func (s *Schedule) Take(st State, p Ping) (row Row, next State, has bool) {
	at := milli(p.At)
	next = st
	switch p.Signal {
	case Start:
		next.Started = at
		return Row{}, next, false
	case Log:
		return Row{}, next, false
	}
	row = Row{At: at, Noted: p.At, Status: uptime.StatusUp, Body: p.Body, BodyCut: p.BodyCut, Message: firstLine(p.Body)}
	if p.Signal == Fail {
		row.Status, row.Failure = uptime.StatusDown, uptime.FailureReported
		said := "the job said that it failed"
		if p.ExitCode > 0 {
			said = fmt.Sprintf("exit code %d", p.ExitCode)
		}
		if row.Message != "" {
			said += ": " + row.Message
		}
		row.Message = said
	}
	if took := at.Sub(st.Started); !st.Started.IsZero() && took >= 0 {
		if row.Took = min(took, maxDuration); row.Took < took {
			row.Message = strings.TrimSuffix("took "+took.Round(time.Second).String()+": "+row.Message, ": ")
		}
	}
	next.Started = time.Time{}
	if !st.Expected.IsZero() && !at.Before(st.Expected.Add(-s.earliest(st.Expected))) {
		from := at
		if s.period == 0 && from.Before(st.Expected) {
			from = st.Expected
		}
		next.Expected = milli(s.After(from))
	}
	return row, next, true
}

// Begin is the state of a heartbeat that is new, changed or resumed at now: nothing is
// expected of the time before.
func (s *Schedule) Begin(now time.Time) State {
	return State{Expected: milli(s.After(now))}
}

// Astray is how far the clocks of nodes may be apart: what lies further ahead was noted by
// one that was wrong.
const Astray = 5 * time.Minute

// TooFar says that more is skipped than a ping at now could have settled: what is expected
// was noted by a clock that was ahead.
func (s *Schedule) TooFar(st State, now time.Time) bool {
	if st.Expected.IsZero() {
		return false
	}
	next := s.After(now)
	if next.IsZero() {
		return false
	}
	second := s.After(next)
	return !second.IsZero() && st.Expected.After(second.Add(Astray))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(strings.TrimSpace(line))
	return string(runes[:min(len(runes), 200)])
}

// milli cuts an instant to whole milliseconds: slots have no more. None stays none.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}
