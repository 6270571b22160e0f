package consumer

import (
	"context"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
)

// enter gives a flight a place at its host, and says whether it had to wait for it.
//
// It belongs between the slot and the visit. Before the slot a place would be held for
// nothing; inside the engine the wait would be part of the visit, as if the target were
// slow. Here the flight stays what it is, waiting, uses no place of the prober's (the
// flights' places are more by those that wait for hosts), and its row says when its visit
// really began.
func (c *Consumer) enter(ctx context.Context, f *flight) (turn hostlimit.Turn, waited bool, err error) {
	check := &f.entry.Check
	turn, err = c.Hosts.Enter(check.URL)
	if err != nil || !turn.Waits() {
		return turn, false, err
	}
	c.flights.signal() // there is room for another
	patience := uptime.Expiry(check.Interval)
	if f.letter == nil {
		patience = check.ExpiresAt().Sub(c.Clock.Now())
	}
	return turn, true, turn.Await(ctx, patience)
}

// hostBudget is the row of a check that was not let to its host.
func (c *Consumer) hostBudget(check uptime.Check, refused error) uptime.Result {
	return uptime.Result{
		TargetID: check.TargetID, Region: c.o.Region, ScheduledAt: check.ScheduledAt, Status: uptime.StatusUnknown, Reason: uptime.ReasonHostBudget,
		Message: refused.Error(), Prober: c.o.Name, SpecVersion: check.SpecVersion,
	}
}
