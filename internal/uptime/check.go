package uptime

import "time"

// Check is one scheduled visit: what the stream carries. It holds all a prober
// needs, so that a prober never asks the relational database.
type Check struct {
	TargetID    int64
	ScheduledAt time.Time
	Interval    time.Duration
	SpecVersion int64
	Regions     []string // resolved when published: who must run it
	Kind        Kind
	URL         string
	Timeout     time.Duration
	Spec        SpecText
}

// ExpiresAt is the instant after which running the check is no longer worth it.
func (c Check) ExpiresAt() time.Time { return c.ScheduledAt.Add(Expiry(c.Interval)) }

// Slot is the check's slot in a region.
func (c Check) Slot(region string) Slot {
	return Slot{TargetID: c.TargetID, Region: region, ScheduledAt: c.ScheduledAt}
}

// Missed is the row of a slot that nobody measured in time.
func (c Check) Missed(region string, reason Reason, prober string) Result {
	return Result{TargetID: c.TargetID, Region: region, ScheduledAt: c.ScheduledAt, Status: StatusMissed, Reason: reason, Prober: prober, SpecVersion: c.SpecVersion}
}
