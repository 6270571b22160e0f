package consumer

import (
	"context"
	"math"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// take admits entries and starts what is to be done about each; it gives how many
// were new to us.
func (c *Consumer) take(ctx context.Context, entries []checkstream.Entry) int {
	if len(entries) == 0 {
		return 0
	}
	fresh := 0
	now := c.clock.now()
	for _, e := range entries {
		f, added := c.flights.add(e)
		if !added {
			continue
		}
		fresh++
		r := admit(e, &c.o, now, &c.slots)
		f.dead = r.dead
		if r.remark != "" {
			c.Log.Warn("entry is set aside", "remark", r.remark, "entry", e.ID, "target_id", e.TargetID, "deliveries", e.Deliveries, "error", e.Err)
		}
		switch r.action {
		case actRun:
			c.checks.Go(func() { c.fly(ctx, f) })
		case actSuspect, actAlone:
			done := c.suspects.begin(r.action)
			c.checks.Go(func() {
				defer done()
				c.fly(ctx, f)
			})
		case actRecord:
			c.checks.Go(func() { c.land(ctx, f, r.row) })
		case actSettle:
			c.flights.move(acking, f)
			c.acks.add(f)
		}
	}
	return fresh
}

// fly brings a flight to its row. When ctx ends first the entry is given back.
func (c *Consumer) fly(ctx context.Context, f *flight) {
	if !c.awaitSlot(ctx, f) {
		c.release(f)
		return
	}
	c.visit(ctx, f)
}

// awaitSlot waits for the slot and says whether ctx still lives.
func (c *Consumer) awaitSlot(ctx context.Context, f *flight) bool {
	if wait := f.entry.Check.ScheduledAt.Sub(c.clock.now()); wait > 0 {
		return sleep(ctx, wait)
	}
	return ctx.Err() == nil
}

// visit probes and lands.
func (c *Consumer) visit(ctx context.Context, f *flight) {
	check := &f.entry.Check
	if !c.clock.now().Before(check.ExpiresAt()) { // it waited for its turn for too long
		c.land(ctx, f, check.Missed(c.o.Region, uptime.ReasonExpired, c.o.Name))
		return
	}
	c.flights.move(probing, f)
	start := c.clock.now()
	o := c.Prober.Check(ctx, *check)
	if ctx.Err() != nil { // cut off by us: this outcome says nothing
		c.release(f)
		return
	}
	late := start.Sub(check.ScheduledAt)
	c.late.add(late)
	c.metrics.lateness.Observe(max(0, late.Seconds()))
	attempt := max(f.entry.Deliveries, 1) - 1 + int64(max(o.Attempts, 1))
	c.land(ctx, f, uptime.Result{
		TargetID: check.TargetID, Region: c.o.Region, ScheduledAt: check.ScheduledAt, CheckedAt: start,
		Status: o.Status, Failure: o.Failure, Reason: o.Reason, HTTPStatus: o.HTTPStatus, Phases: o.Phases, TotalUS: o.TotalUS,
		Message: o.Message, Address: o.Address, CertNotAfter: o.CertNotAfter, Attempt: uint8(min(attempt, math.MaxUint8)),
		Prober: c.o.Name, SpecVersion: check.SpecVersion, Late: !start.Before(check.ExpiresAt()),
	})
}

// land hands a flight with its row to the settling loop.
func (c *Consumer) land(ctx context.Context, f *flight, row uptime.Result) {
	row.IngestedAt = c.clock.now()
	f.row = row
	c.flights.move(measured, f)
	select {
	case c.measured <- f:
		c.metrics.result(row.Status)
	case <-ctx.Done():
		c.release(f)
	}
}

// release gives entries back: they stay pending and are delivered again.
func (c *Consumer) release(given ...*flight) {
	ids := make([]string, len(given))
	for i, f := range given {
		ids[i] = f.entry.ID
	}
	c.flights.end(given...)
	c.Settler.Release(ids)
	c.orphaned.note()
	c.metrics.released.Add(float64(len(given)))
}
