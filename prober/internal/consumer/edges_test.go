package consumer

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
)

// What the targets of a journey are for; those from crowd on fill the prober up at
// its end.
const (
	plain int64 = iota + 1
	deleted
	tooLate
	garbage
	deadly
	overslept
	retried
	wandering
	spooledOne
	refusedOne
	spoolRefused
	givenBack
	givenBackPaused
	givenBackSpooling
	unexplained
	faraway
	endless
	crowd
)

const crowdSize = 10

// journey takes a prober along every edge of the statechart. Each life but the last
// may end by a kill.
type journey struct {
	*rig
	mu     sync.Mutex
	killAt string // failpoint of the edge to die at; "" is none
	died   bool
	seen   map[string]int
	given  map[int64]bool // whose answer was an error already
}

func newJourney(killAt string) *journey {
	j := &journey{rig: newRig(), killAt: killAt, seen: map[string]int{}, given: map[int64]bool{}}
	j.options.Capacity = 100
	j.edges = j.taken
	j.visitor.took = func(check uptime.Check) time.Duration {
		if check.TargetID == endless && !j.hasDied() {
			return time.Minute
		}
		return 0
	}
	phases := map[int64][]recorder.Phase{
		retried:    {recorder.Inserting, recorder.BackingOff, recorder.Inserting},
		wandering:  {recorder.Inserting, recorder.BackingOff, recorder.Spooling, recorder.BackingOff, recorder.Spooling, recorder.Inserting},
		spooledOne: {recorder.Spooling}, spoolRefused: {recorder.Spooling}, givenBackPaused: {recorder.BackingOff}, givenBackSpooling: {recorder.Spooling},
	}
	j.sink.script = func(rows []uptime.Result) []recorder.Phase {
		j.mu.Lock()
		defer j.mu.Unlock()
		id := rows[0].TargetID
		if id == givenBackPaused && j.given[id] {
			return nil // it is stored now, and not out of a pause
		}
		return phases[id]
	}
	j.sink.refusing(func(id int64) bool { return id == refusedOne || id == spoolRefused })
	refusing := j.sink.answer
	j.sink.answer = func(rows []uptime.Result) error {
		switch id := rows[0].TargetID; id {
		case givenBack, givenBackPaused, givenBackSpooling, unexplained:
			j.mu.Lock()
			defer j.mu.Unlock()
			if !j.given[id] {
				j.given[id] = true
				return errDown
			}
		}
		return refusing(rows)
	}
	return j
}

func (j *journey) taken(e *edge) {
	j.mu.Lock()
	j.seen[e.failpoint]++
	kill := e.failpoint == j.killAt && !j.died
	j.died = j.died || kill
	j.mu.Unlock()
	if kill {
		j.stream.kill()
	}
}

func (j *journey) hasDied() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.died
}

// pass lets time pass; a killed prober starts anew.
func (j *journey) pass(t *testing.T, d time.Duration) {
	t.Helper()
	was := j.hasDied()
	wait(d)
	if !was && j.hasDied() {
		j.restart(t)
	}
}

func (j *journey) restart(t *testing.T) {
	t.Helper()
	j.stop()
	<-j.ended
	j.start(t)
	wait(20 * time.Second)
}

// run is the journey; at its end everything is settled.
func (j *journey) run(t *testing.T) {
	t.Helper()
	j.start(t)
	for id := plain; id <= unexplained; id++ {
		j.look(func() { j.stream.fresh = append(j.stream.fresh, j.entry(id)) })
		j.pass(t, 1200*time.Millisecond) // each is a batch of its own
	}
	j.shared.jump.Store(int64(2 * time.Minute))
	j.pass(t, 30*time.Second)
	j.look(func() {
		j.sink.full = true
		j.stream.acksFail = 2
		j.stream.fresh = append(j.stream.fresh, entryIn(faraway, 170*time.Second), entryIn(endless, 2*time.Minute))
		for id := crowd; id < crowd+crowdSize; id++ {
			apart := time.Duration(id-crowd) * 2 * settleAge
			j.stream.fresh = append(j.stream.fresh, entryIn(id, 2*time.Minute+apart))
		}
	})
	j.pass(t, 3*time.Second)
	j.stop()
	<-j.ended
	j.look(func() { j.sink.full = false })
	j.start(t)
	wait(3 * time.Minute)
	if !j.hasDied() && j.killAt != "" {
		t.Fatalf("nothing came along %s", j.killAt)
	}
	j.finish(t)
	if n := len(j.stream.pending); n > 0 {
		t.Errorf("%d entries are still pending", n)
	}
	j.audit(t)
}

func (j *journey) entry(id int64) checkstream.Entry {
	switch id {
	case deleted:
		return entryIn(id, 0, func(e *checkstream.Entry) { e.Tombstoned = true })
	case tooLate:
		return entryIn(id, -2*time.Minute)
	case garbage:
		return entryIn(id, 0, func(e *checkstream.Entry) { e.Err, e.Check = errors.New("not a check"), uptime.Check{} })
	case deadly, unexplained:
		return entryIn(id, 0, again(6))
	case overslept:
		return entryIn(id, 30*time.Second)
	}
	return entryIn(id, 0)
}

// audit: every slot that is due a row has one, and every letter has its reason.
func (j *journey) audit(t *testing.T) {
	t.Helper()
	rows := map[int64][]uptime.Result{}
	for slot, of := range j.sink.rows {
		rows[slot.TargetID] = append(rows[slot.TargetID], of...)
	}
	for id := plain; id < crowd+crowdSize; id++ {
		due := id != deleted && id != garbage
		if (len(rows[id]) > 0) != due {
			t.Errorf("target %d has %d rows", id, len(rows[id]))
		}
		for _, row := range rows[id] {
			letter := id == deadly || id == unexplained || id == refusedOne || id == spoolRefused
			if letter && row.Reason != uptime.ReasonDeadLetter && row.Reason != uptime.ReasonExpired {
				t.Errorf("target %d: %+v", id, row)
			}
		}
	}
	if len(rows) != crowdSize+int(crowd)-3 {
		t.Errorf("%d targets have rows", len(rows))
	}
}

// A journey takes every edge, and nothing else.
func TestEveryEdgeIsTaken(t *testing.T) {
	in(t, func(t *testing.T) {
		j := newJourney("")
		j.run(t)
		for _, e := range statechart {
			if j.seen[e.failpoint] == 0 {
				t.Errorf("never seen: %v → %v (%s)", e.from, e.to, e.failpoint)
			}
		}
	})
}

// A prober that dies anywhere leaves nothing behind that the next one does not settle.
//
// Promise: a prober killed at any edge of its statechart loses and doubles nothing
func TestKilledAtEveryEdge(t *testing.T) {
	t.Parallel()
	for _, e := range statechart {
		t.Run(e.failpoint, func(t *testing.T) {
			in(t, func(t *testing.T) { newJourney(e.failpoint).run(t) })
		})
	}
}
