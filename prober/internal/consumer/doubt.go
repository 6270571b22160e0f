package consumer

import (
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

// believe lands a flight that failed once it is known whether this prober can be believed.
//
// Until then the flight stays what it is, probing: it keeps its place, so those that wait
// are bounded like all others, and no goroutine. It has left its host. A drain waits for
// it as for a visit, and what is called off meanwhile lands all the same: it has its row.
//
// Only what is down is doubted. Who answered in time was reached, and so was who is
// degraded: that the answer was late or odd is no sign of a network that is gone, and opens
// no incident.
func (c *Consumer) believe(f *flight, began time.Time, row uptime.Result) {
	c.o.Believe(row.TargetID, began, func(doubt string) {
		if doubt != "" {
			row = doubted(&row, doubt)
		}
		c.land(f, answered, row)
		c.checks.Done()
	})
}

// doubted is the row of a check whose failure is not believed. What was seen may have been
// the network, so it is kept in words only.
func doubted(row *uptime.Result, doubt string) uptime.Result {
	return uptime.Result{
		TargetID: row.TargetID, Region: row.Region, ScheduledAt: row.ScheduledAt, CheckedAt: row.CheckedAt,
		Status: uptime.StatusUnknown, Reason: uptime.ReasonProbeBlind, Message: probe.Message(string(row.Failure) + ": " + row.Message + "; not believed: " + doubt),
		Attempt: row.Attempt, Prober: row.Prober, SpecVersion: row.SpecVersion, Late: row.Late,
	}
}
