package consumer

import (
	"context"
	"math"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

// take admits entries and starts what is to be done about each; it gives how many
// were new to us.
func (c *Consumer) take(ctx context.Context, entries []checkstream.Entry) int {
	if len(entries) == 0 {
		return 0
	}
	flights := make([]*flight, len(entries))
	for i, e := range entries {
		flights[i] = &flight{entry: e}
	}
	flights = c.flights.add(flights...)
	now := c.Clock.Now()
	for _, f := range flights {
		c.begin(ctx, f, admit(f.entry, &c.o, now, &c.slots))
	}
	return len(flights)
}

// begin starts a flight as the admission has ruled.
func (c *Consumer) begin(ctx context.Context, f *flight, r ruling) {
	if r.remark != "" {
		c.Log.Warn("entry is set aside", "remark", r.remark, "entry", f.entry.ID, "target_id", f.entry.TargetID, "deliveries", f.entry.Deliveries, "error", f.entry.Err)
	}
	switch r.action {
	case actRun, actSuspect, actAlone:
		if r.action != actRun {
			f.ended = c.suspects.begin(r.action)
		}
		c.promised.Add(int64(f.entry.Check.Timeout))
		c.flights.move(admitted, f)
		c.fly(ctx, f)
	case actRecord:
		c.land(f, explained, r.row)
	case actSettle:
		c.flights.move(owesNothing, f)
		c.acks.add(f)
	case actFail:
		c.fail(hopeless, f, r.dead, r.row)
	}
}

// fly brings a flight to its row. When ctx ends first the entry is given back.
func (c *Consumer) fly(ctx context.Context, f *flight) {
	c.checks.Add(1)
	f.early = f.entry.Check.ScheduledAt.After(c.Clock.Now())
	if ctx.Err() != nil || !c.departures.add(f) {
		c.release(f)
		c.checks.Done()
	}
}

// arrive is a flight at its slot: it is probed and lands.
func (c *Consumer) arrive(ctx context.Context, f *flight, departed time.Time) {
	check := &f.entry.Check
	turn, waited, err := c.enter(ctx, f)
	switch {
	case ctx.Err() != nil:
		if err == nil {
			turn.Leave()
		}
		c.release(f)
	case err != nil:
		c.turnedAway(f, err)
	default:
		c.flights.move(slotCame, f)
		start, began := c.Clock.Now(), time.Now()
		c.Prober.Check(ctx, check, func(o probe.Outcome) {
			c.young.End(departed)
			c.Hosts.LeaveAlone(f.entry.Check.URL, o.AnsweredBy, o.RetryAfter)
			turn.Leave()
			switch {
			case ctx.Err() != nil: // cut off by us: this outcome says nothing
				c.release(f)
			case o.Status == uptime.StatusDown:
				c.believe(f, began, c.visited(f, start, waited, &o))
				return
			default:
				if o.Status.Measured() {
					c.o.Answered(check.TargetID)
				}
				c.land(f, answered, c.visited(f, start, waited, &o))
			}
			c.checks.Done()
		})
		return
	}
	c.checks.Done()
}

// turnedAway states that the host had no room in time. It is apart because its row would lie on the
// stack of every visit, which has to stay within 8 KiB: see growStack of package probe.
//
//go:noinline
func (c *Consumer) turnedAway(f *flight, err error) {
	c.land(f, explained, c.hostBudget(f.entry.Check, err))
}

// visited is the row of what a visit came to.
func (c *Consumer) visited(f *flight, start time.Time, waited bool, o *probe.Outcome) uptime.Result {
	check := &f.entry.Check
	if f.letter == nil && !waited { // else it was the host that was late
		late := start.Sub(check.ScheduledAt)
		c.late.add(late)
		c.metrics.lateness.Observe(max(0, late.Seconds()))
	}
	o.Seen.Saturated = o.Seen.Saturated || f.overslept && o.Status.Measured()
	attempt := max(f.entry.Deliveries, 1) - 1 + int64(max(o.Attempts, 1))
	return uptime.Result{
		TargetID: check.TargetID, Region: c.o.Region, ScheduledAt: check.ScheduledAt, CheckedAt: start,
		Status: o.Status, Failure: o.Failure, Reason: o.Reason, HTTPStatus: o.HTTPStatus, Phases: o.Phases, TotalUS: o.TotalUS,
		Message: o.Message, Address: o.Address, CertNotAfter: o.CertNotAfter, Issuer: o.Issuer, Attempt: uint8(min(attempt, math.MaxUint8)),
		Prober: c.o.Name, SpecVersion: check.SpecVersion, Late: !start.Before(check.ExpiresAt()), Seen: o.Seen, Evidence: o.Evidence, Print: o.Print,
	}
}

// land hands a flight with its row to the settling loop.
func (c *Consumer) land(f *flight, how event, row uptime.Result) {
	row.IngestedAt = c.Clock.Now()
	c.flights.move(how, f)
	if !c.measured.add(f, &row) {
		c.release(f)
		return
	}
	c.metrics.result(row.Status)
}

// release gives entries back: they stay pending and are delivered again. A dead letter
// stays one: its claim lapses, and then it is tried again.
func (c *Consumer) release(given ...*flight) {
	ids := make([]string, 0, len(given))
	for _, f := range given {
		if f.letter == nil {
			ids = append(ids, f.entry.ID)
		}
	}
	c.flights.move(dropped, given...)
	if len(ids) == 0 {
		return
	}
	c.Settler.Release(ids)
	c.orphaned.note()
	c.wish.looked(false)
	c.metrics.released.Add(float64(len(ids)))
}
