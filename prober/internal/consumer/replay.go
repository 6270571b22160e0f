package consumer

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

const replayEvery = 5 * time.Second

// replay tries a dead letter again that somebody asked for: on its own, like the other
// suspects of the worst kind, since it may be what ended a prober. It says whether
// there was one.
func (c *Consumer) replay(ctx, probing context.Context) (bool, error) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	letters, err := c.Source.Replays(call, 1)
	if err != nil || len(letters) == 0 {
		return false, err
	}
	letter := &letters[0]
	f := &flight{letter: letter, entry: checkstream.Entry{
		ID: letter.EntryID, TargetID: letter.TargetID, Second: letter.ScheduledAt.Unix(), Deliveries: letter.Deliveries,
	}}
	r := ruling{action: actAlone}
	if letter.Check != nil {
		f.entry.Check = *letter.Check
	}
	// Its row was measured then, and nothing seen today says more about that slot. Without
	// its check, as of a row from a spool, there is nothing to visit either.
	if letter.Row != nil && (letter.ReplayTries <= 1 || letter.Check == nil) {
		r = ruling{action: actRecord, row: *letter.Row}
	}
	if len(c.flights.add(f)) == 0 { // it is on its way already
		return false, nil
	}
	c.Log.Info("replaying a dead letter", "letter", letter.ID, "entry", letter.EntryID, "reason", letter.Reason)
	c.begin(probing, f, r)
	return true, nil
}

// replayed removes a letter whose slot has its row now.
func (c *Consumer) replayed(ctx context.Context, f *flight) error {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := c.Settler.Replayed(call, *f.letter); err != nil {
		return err
	}
	c.flights.move(confirmed, f)
	c.metrics.replayed.Inc()
	return nil
}
