package consumer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
)

func letterOf(id int64, ago time.Duration) checkstream.Letter {
	e := entryIn(id, -ago)
	return checkstream.Letter{
		ID: "9-" + e.ID, EntryID: e.ID, TargetID: id, ScheduledAt: e.Check.ScheduledAt, Reason: "too many deliveries", Deliveries: 6, Check: &e.Check, ReplayTries: 1,
	}
}

// A letter that somebody asks for is probed on its own, however late it is; its row says
// so, and the letter is removed once the row is durable.
func TestReplayGivesALateRowAndRemovesTheLetter(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.took = func(uptime.Check) time.Duration { return time.Second }
		r.sink.delay = 2 * time.Second
		for id := int64(1); id <= 3; id++ {
			r.stream.letters = append(r.stream.letters, letterOf(id, time.Hour))
		}
		r.start(t)
		wait(2500 * time.Millisecond)
		r.look(func() {
			if len(r.stream.replayed) != 0 {
				t.Error("a letter was removed before its row was durable")
			}
		})
		wait(20 * time.Second)
		r.look(func() {
			if len(r.stream.replayed) != 3 || r.visitor.most != 1 || len(r.stream.acked) != 0 || len(r.stream.renewed) != 0 {
				t.Errorf("removed %v, %d at once, acked %v, renewed %v", r.stream.replayed, r.visitor.most, r.stream.acked, r.stream.renewed)
			}
			for slot, rows := range r.sink.rows {
				if len(rows) != 1 || !rows[0].Late || rows[0].Status != uptime.StatusUp {
					t.Errorf("%v: %+v", slot, rows)
				}
			}
		})
		r.finish(t)
	})
}

// What the store refused once is offered to it again as it was; when it is refused
// again the letter stays, and the next attempt is a visit; but of a row from a spool
// there is no check any more, and nothing to visit.
func TestReplayOfARefusedRow(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		good, bad, again, bare := letterOf(1, time.Hour), letterOf(2, time.Hour), letterOf(3, time.Hour), letterOf(4, time.Hour)
		for _, l := range []*checkstream.Letter{&good, &bad, &again, &bare} {
			l.Row = &uptime.Result{TargetID: l.TargetID, Region: "eu", ScheduledAt: l.ScheduledAt, CheckedAt: l.ScheduledAt, Status: uptime.StatusDown, Failure: uptime.FailureTimeout}
		}
		again.ReplayTries, bare.ReplayTries = 2, 2
		bare.Check = nil
		r.sink.refusing(func(id int64) bool { return id == 2 })
		r.stream.letters = []checkstream.Letter{good, bad, again, bare}
		r.start(t)
		wait(30 * time.Second)
		r.look(func() {
			if len(r.stream.replayed) != 3 || len(r.visitor.at) != 1 || len(r.stream.dead) != 0 {
				t.Errorf("removed %v, visited %v, dead %v", r.stream.replayed, r.visitor.at, r.stream.dead)
			}
			for slot, rows := range r.sink.rows {
				if want := map[int64]uptime.Status{1: uptime.StatusDown, 3: uptime.StatusUp, 4: uptime.StatusDown}[slot.TargetID]; rows[0].Status != want {
					t.Errorf("%+v", rows)
				}
			}
		})
		r.finish(t)
	})
}

// Letters wait while there are suspects to be probed, and are not taken while there is
// no room to probe one.
func TestReplayWaitsItsTurn(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.took = func(uptime.Check) time.Duration { return 2 * time.Second }
		for id := int64(1); id <= 5; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, -30*time.Second, again(3)))
		}
		r.stream.letters = append(r.stream.letters, letterOf(10, time.Hour))
		r.start(t)
		wait(9 * time.Second)
		r.look(func() {
			if len(r.stream.letters) != 1 || r.visitor.most != 1 {
				t.Errorf("%d letters left, %d probed at once", len(r.stream.letters), r.visitor.most)
			}
		})
		wait(20 * time.Second)
		r.look(func() {
			if len(r.stream.replayed) != 1 || r.visitor.most != 1 {
				t.Errorf("removed %v, %d probed at once", r.stream.replayed, r.visitor.most)
			}
		})
		r.finish(t)
	})
}

// A row that the store refuses when it comes back from the spool was acknowledged long
// ago: its slot gets a row that says so.
func TestRowFromTheSpoolIsRefused(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.start(t)
		wait(time.Second)
		row := entryIn(4, -time.Hour).Check.Missed("eu", uptime.ReasonExpired, "p1")
		row.Status, row.Reason = uptime.StatusUp, ""
		r.c.Refused(row, errors.Join(recorder.ErrReplayed, errPermanent))
		r.c.Refused(row, errors.Join(recorder.ErrReplayed, errPermanent)) // a replay that was cut off
		wait(5 * time.Second)
		r.look(func() {
			rows := r.sink.rows[row.Slot()]
			if len(rows) == 0 || rows[len(rows)-1].Reason != uptime.ReasonDeadLetter || r.stream.lost[entryID(row)].Status != uptime.StatusUp {
				t.Errorf("%+v, letters with %+v", rows, r.stream.lost)
			}
		})
		r.finish(t)
	})
}

// One letter that Redis does not take holds up nobody.
func TestGraveThatIsRefusedHoldsUpNobody(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.stream.deadFails = "1-1"
		r.stream.fresh = append(r.stream.fresh, checkstream.Entry{ID: "1-1", Err: errors.New("poison")}, checkstream.Entry{ID: "1-2", Err: errors.New("poison")}, entryIn(3, 0))
		r.start(t)
		wait(10 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 1 || len(r.stream.dead) != 1 {
				t.Errorf("acked %v, dead %v", r.stream.acked, r.stream.dead)
			}
			r.stream.deadFails = ""
		})
		wait(10 * time.Second)
		r.finish(t)
		if len(r.stream.dead) != 2 || !strings.Contains(r.stream.dead["1-1"], "malformed: poison") {
			t.Errorf("dead %v", r.stream.dead)
		}
	})
}

// Attempts are a batch's own: the luck of another one does not reset them.
func TestAttemptsAreCountedPerBatch(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.script = func(rows []uptime.Result) (phases []recorder.Phase) {
			if rows[0].TargetID == 1 {
				for range 20 {
					phases = append(phases, recorder.Inserting, recorder.BackingOff)
				}
				phases = append(phases, recorder.Inserting)
			}
			return phases
		}
		for id := int64(1); id <= 10; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Duration(id-1)*300*time.Millisecond))
		}
		r.start(t)
		last := 0
		for range 8 {
			wait(400 * time.Millisecond)
			held := r.c.Held()
			if len(held.Retrying) != 1 || held.Retrying[0].Rows != 1 || held.Retrying[0].Attempt <= last {
				t.Fatalf("after attempt %d: %+v", last, held.Retrying)
			}
			last = held.Retrying[0].Attempt
		}
		if of := r.c.Held().States["backoff"]; of.Entries != 1 || of.OldestMS > 200 {
			t.Errorf("%+v", of)
		}
		r.look(func() {
			if len(r.stream.acked) < 8 {
				t.Errorf("%d others were acknowledged meanwhile", len(r.stream.acked))
			}
		})
		wait(10 * time.Second)
		r.finish(t)
	})
}

// A stop for a reason of its own: nothing is acknowledged any more, and the reason comes
// back at once.
func TestFatalStopIsPromptAndAcknowledgesNothing(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.delay = 2 * time.Second
		r.visitor.took = func(uptime.Check) time.Duration { return time.Second }
		for id := int64(1); id <= 10; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		broken := errors.New("the disk is broken")
		r.fatal = broken
		r.start(t)
		wait(1500 * time.Millisecond)
		began := time.Now()
		r.stop()
		<-r.ended
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		wait(time.Minute)
		r.look(func() {
			if len(r.stream.acked) != 0 || len(r.stream.pending) != 10 || r.stream.left {
				t.Errorf("acked %d, pending %d, said goodbye: %v", len(r.stream.acked), len(r.stream.pending), r.stream.left)
			}
		})
	})
}

// An answer that does not say which row was refused makes none of them durable.
func TestUnnamedRefusalSettlesNothing(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		answers := 0
		r.sink.answer = func([]uptime.Result) error {
			if answers++; answers > 2 { // one for the answer, one for what is kept
				return nil
			}
			return errPermanent
		}
		r.stream.fresh = append(r.stream.fresh, entryIn(1, 0))
		r.start(t)
		wait(30 * time.Second)
		r.finish(t)
		if len(r.stream.acked) != 1 || len(r.stream.dead) != 0 || len(r.sink.rows) != 1 {
			t.Errorf("acked %v, dead %v, rows %v", r.stream.acked, r.stream.dead, r.sink.rows)
		}
	})
}
