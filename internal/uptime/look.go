package uptime

import (
	"net/netip"
	"time"
)

// Look is what one visit on demand saw from a region. It is of no slot and enters no
// history. A region that did not answer has StatusMissed.
type Look struct {
	Region       string     `json:"region"`
	Prober       string     `json:"prober,omitempty"`
	Attempt      int        `json:"attempt"` // of the job, 1 for the first
	CheckedAt    time.Time  `json:"checked_at,omitzero"`
	Status       Status     `json:"status"`
	Failure      Failure    `json:"failure,omitempty"`
	Reason       Reason     `json:"reason,omitempty"`
	Invalid      bool       `json:"invalid,omitempty"` // this prober has no way to make such a visit
	HTTPStatus   int        `json:"http_status,omitempty"`
	Phases       Phases     `json:"phases"`
	TotalUS      uint32     `json:"total_us"`
	Message      string     `json:"message,omitempty"`
	Address      netip.Addr `json:"address,omitzero"`
	CertNotAfter time.Time  `json:"cert_not_after,omitzero"`
	Seen         Seen       `json:"seen"`
	Evidence     *Evidence  `json:"evidence,omitempty"` // whatever the status is
}
