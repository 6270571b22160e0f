package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// script plays lines such as
//
//	60 eu,us down          results of the slot 60 s after noon, which come 1 s later
//	200 eu down of 60      the same slot, but it comes at 200 s
//	70 tick
//	70 parent | no parent | parent until 70 | await 0 30 1 (it was good at 0, for 30 s, known at 1) | pause | edit (another URL) | hourly | maintain 60-300 | blind us 60-300
//
// against a state, and gives its decisions as lines "at kind slot notify".
type script struct {
	t          *testing.T
	rules      Rules
	conditions Conditions
	state      FoldState
	decisions  []Decision
	revision   uint64
}

func play(t *testing.T, policy Policy, lines string) *script {
	t.Helper()
	s := &script{t: t, state: NewState(7), rules: Rules{Interval: time.Minute, Timeout: 10 * time.Second, Active: true, Regions: []string{"ap", "eu", "us"}, Policy: policy}}
	if found := policy.Validate(); found != nil {
		t.Fatal(found)
	}
	s.lines(lines)
	return s
}

func (s *script) lines(lines string) {
	s.t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			s.line(words)
		}
	}
}

func seconds(t *testing.T, word string) time.Time {
	t.Helper()
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		t.Fatal(err)
	}
	return noon.Add(time.Duration(n * float64(time.Second)))
}

func (s *script) line(words []string) {
	s.t.Helper()
	at := seconds(s.t, words[0])
	span := func(word string) Span {
		from, to, _ := strings.Cut(word, "-")
		if to == "" {
			return Span{From: seconds(s.t, from)}
		}
		return Span{seconds(s.t, from), seconds(s.t, to)}
	}
	switch words[1] {
	case "tick":
	case "parent":
		s.conditions.Parent = &Parent{TargetID: 9, Name: "the router"}
		if len(words) > 3 {
			s.conditions.Parent.Until = seconds(s.t, words[3])
		}
	case "await":
		s.conditions.Await = &Await{Good: seconds(s.t, words[2]), For: seconds(s.t, words[3]).Sub(noon), Known: seconds(s.t, words[4])}
	case "no":
		s.conditions.Parent = nil
	case "pause":
		s.rules.Active = false
	case "hourly":
		s.rules.Interval = time.Hour
	case "edit":
		s.rules.VisitedSince = at
	case "maintain":
		s.conditions.Maintenance = []Span{span(words[2])}
	case "blind":
		s.conditions.Blind = []Blindness{{words[2], span(words[3])}}
	default:
		slot := at
		at = at.Add(time.Second)
		if len(words) > 4 {
			at, slot = slot, seconds(s.t, words[4])
		}
		for _, region := range strings.Split(words[1], ",") {
			s.step(Event{at, s.observation(region, words[2], slot)})
		}
		return
	}
	s.step(Tick(at))
}

func (s *script) observation(region, word string, slot time.Time) *Observation {
	s.t.Helper()
	status, err := uptime.ParseStatus(word)
	if err != nil {
		s.t.Fatal(err)
	}
	s.revision++
	o := seen(region, status, 0)
	o.ScheduledAt, o.CheckedAt, o.Revision = slot, slot, s.revision
	return &o
}

func (s *script) step(e Event) {
	next, decisions := Step(s.state, s.rules, s.conditions, e)
	s.state = next
	s.decisions = append(s.decisions, decisions...)
}

func (s *script) told() string {
	var lines []string
	for _, d := range s.decisions {
		line := fmt.Sprintf("%v %s %v", d.At.Sub(noon).Seconds(), d.Kind, d.Slot.Sub(noon).Seconds())
		if d.Notify != "" {
			line += " " + string(d.Notify)
		}
		if d.SuppressedBy != "" {
			line += " by " + string(d.SuppressedBy)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
