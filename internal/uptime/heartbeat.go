package uptime

import "time"

// HeartbeatSpec says when a job is expected to ping. Exactly one of PeriodS and Cron is
// set; package heartbeat reads it.
type HeartbeatSpec struct {
	PeriodS int64  `json:"period_s,omitempty"` // at most so long after the ping before
	Cron    string `json:"cron,omitempty"`     // five fields
	Zone    string `json:"zone,omitempty"`     // IANA name that Cron is read in; empty: UTC
	GraceS  int64  `json:"grace_s"`            // how late a ping may be
}

// Grace is how late a ping may be.
func (h HeartbeatSpec) Grace() time.Duration { return time.Duration(h.GraceS) * time.Second }
