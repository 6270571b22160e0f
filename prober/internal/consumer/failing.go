package consumer

import (
	"context"
	"errors"
	"strconv"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fail begins the end as a dead letter, for a reason: first its slot's row, if the slot is known.
func (c *Consumer) fail(how event, f *flight, reason string, row uptime.Result) {
	c.flights.move(how, f)
	row.IngestedAt = c.Clock.Now()
	f.row, f.dead = &row, reason
	c.failing.add(f)
}

// explain makes the row of a failing flight durable; then the entry may be buried.
func (c *Consumer) explain(ctx context.Context, f *flight) {
	if f.row.TargetID == 0 { // no slot to explain: the ledger's sweep will state it
		c.graves.add(f)
		return
	}
	rows := []uptime.Result{*f.row}
	c.announce(rows)
	c.metrics.result(f.row.Status)
	done := func(err error) {
		switch {
		case err == nil:
			c.graves.add(f)
		case c.o.Permanent(err): // such as a slot older than rows are kept: the letter has it all
			c.Log.Error("slot of a dead letter has no row", "entry", f.entry.ID, "error", err)
			c.graves.add(f)
		default:
			c.release(f)
		}
	}
	if !c.hand(ctx, rows, recorder.Watch{Done: done}) {
		c.release(f)
	}
}

// Refused is told by the recorder of each row that can never be stored: of a batch
// under way before its answer, and of a batch from the spool, whose entries were
// acknowledged long ago. The latter's slots get their row too.
func (c *Consumer) Refused(row uptime.Result, err error) {
	c.metrics.refused.Inc()
	if !errors.Is(err, recorder.ErrReplayed) {
		c.flights.markRefused(row, err.Error())
		return
	}
	c.Log.Error("row from the spool is refused for good", "target_id", row.TargetID, "scheduled_at", row.ScheduledAt, "row", row, "error", err)
	f := &flight{
		entry: checkstream.Entry{ID: entryID(row), TargetID: row.TargetID, Second: row.ScheduledAt.Unix()}, lost: &row, acked: true,
	}
	if row.Reason == uptime.ReasonDeadLetter || len(c.flights.add(f)) == 0 { // the one that flies brings a row of its own
		return
	}
	c.fail(hopeless, f, refusedReason(err.Error()), deadRow(&c.o, checkOf(row), "the store refused the row"))
}

// refuse ends a flight whose own row was refused.
func (c *Consumer) refuse(f *flight, why string) {
	if f.letter != nil { // it is a dead letter already, and stays one
		c.Log.Error("row of a replayed dead letter is refused for good", "letter", f.letter.ID, "error", why)
		c.release(f)
		return
	}
	f.lost = f.row
	c.fail(refused, f, refusedReason(why), deadRow(&c.o, checkOf(*f.row), "the store refused the row"))
}

func refusedReason(why string) string { return "row cannot be stored: " + why }

func checkOf(row uptime.Result) uptime.Check {
	return uptime.Check{TargetID: row.TargetID, ScheduledAt: row.ScheduledAt, SpecVersion: row.SpecVersion}
}

// entryID is the id of a row's entry in the stream.
func entryID(row uptime.Result) string {
	return strconv.FormatInt(row.ScheduledAt.Unix()*1000, 10) + "-" + strconv.FormatInt(row.TargetID, 10)
}

// bury moves an entry to the dead letters, where people look at it.
func (c *Consumer) bury(ctx context.Context, f *flight) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var moved bool
	var err error
	switch {
	case f.acked:
		moved, err = c.Settler.KeepRow(call, f.entry, *f.lost, f.dead)
	case f.lost != nil:
		moved, err = c.Settler.DeadRow(call, f.entry, *f.lost, f.dead)
	default:
		moved, err = c.Settler.Dead(call, f.entry, f.dead)
	}
	if err != nil {
		return err
	}
	c.flights.move(buried, f)
	if moved {
		c.metrics.deadLetters.Inc()
		c.Log.Error("entry became a dead letter", "entry", f.entry.ID, "target_id", f.entry.TargetID, "reason", f.dead)
	}
	return nil
}
