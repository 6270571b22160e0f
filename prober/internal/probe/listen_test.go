package probe

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// What an answer lacks is told once the server pauses, and not before.
func TestPauseEndsAnAnswer(t *testing.T) {
	t.Parallel()
	const quiet = leastQuiet + 2*3*time.Millisecond // of a connection that took 3 ms
	for _, c := range []struct {
		name   string
		wants  []uptime.Assertion
		gap    time.Duration // between the pieces
		pieces string
		heard  string
		took   time.Duration
		total  time.Duration // of the target's time
	}{
		{"one piece", hears("not_contains", "busy"), 100 * time.Millisecond, "220 ready", "220 ready", 100*time.Millisecond + quiet, 100 * time.Millisecond},
		{"pieces of one answer", hears("not_contains", "busy"), quiet - time.Millisecond, "220 |bu|sy|more", "220 busy", 3 * (quiet - time.Millisecond), 3 * (quiet - time.Millisecond)},
		{"an answer and another", hears("not_contains", "busy"), quiet + time.Millisecond, "220 |busy", "220 ", 2*quiet + time.Millisecond, quiet + time.Millisecond},
		{"one that is decided", hears("contains", "220"), 100 * time.Millisecond, "22|0 |busy", "220 ", 200 * time.Millisecond, 200 * time.Millisecond},
		{"one that is as wanted", hears("equals", "220 "), 100 * time.Millisecond, "22|0 ", "220 ", 200*time.Millisecond + quiet, 200 * time.Millisecond},
		{"one that is more than wanted", hears("equals", "220 "), 100 * time.Millisecond, "22|0 |x", "220 x", 300 * time.Millisecond, 300 * time.Millisecond},
		{"one that never comes", hears("contains", "220"), 6 * time.Second, "220", "", 5 * time.Second, 5 * time.Second},
		{"silence", hears("absent", ""), 6 * time.Second, "220", "", 5 * time.Second, 0},
		{"no pause before the timeout", hears("not_contains", "y"), 200 * time.Millisecond, strings.Repeat("x|", 30), strings.Repeat("x", 24), 5 * time.Second, 4800 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := New(options(nil))
				check := checkAt("tcp://127.0.0.1:25", uptime.Spec{Assertions: c.wants})
				v := visitorOf(t, e, check).(*tcpVisitor)
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					for piece := range strings.SplitSeq(c.pieces, "|") {
						time.Sleep(c.gap) // in a bubble
						if _, err := io.WriteString(theirs, piece); err != nil {
							return
						}
					}
					_, _ = io.Copy(io.Discard, theirs)
				}()
				s := &sighting{}
				s.begin(e.plans.of(&check), 5*time.Second-time.Nanosecond) // before what happens then
				_ = ours.SetDeadline(s.deadline)
				mark := s.At
				hop := s.hop("")
				hop.Phases.Connect = 3000
				l := &listener{tcpVisitor: v, conn: ours, s: s, hop: hop, mark: &mark}
				bad := l.listen(t.Context())
				took := time.Since(s.At)
				s.end()
				_ = ours.Close()
				time.Sleep(10 * time.Second) // in a bubble: until the server is done
				if string(s.Received) != c.heard || took.Round(time.Millisecond) != c.took || time.Duration(s.TotalUS)*time.Microsecond != c.total {
					t.Errorf("%+v, %q after %v, %d µs of them the target's", bad, s.Received, took, s.TotalUS)
				}
				if (bad.failure == uptime.FailureTimeout) != (c.name == "one that never comes") {
					t.Errorf("%+v", bad)
				}
			})
		})
	}
}
