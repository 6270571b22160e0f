package uptime

import (
	"net/netip"
	"time"
)

// Phases are the parts of a probe in microseconds, summed over redirect hops.
type Phases struct {
	DNS      uint32 `json:"dns_us"`
	Connect  uint32 `json:"connect_us"`
	TLS      uint32 `json:"tls_us"`
	Wait     uint32 `json:"wait_us"`
	Transfer uint32 `json:"transfer_us"`
}

// Result is one slot's row: a measurement, or the reason why there is none.
type Result struct {
	TargetID     int64
	Region       string
	ScheduledAt  time.Time
	CheckedAt    time.Time // start of the first attempt; zero when nobody tried
	Status       Status
	Failure      Failure // FailureNone unless something was wrong at the target
	Reason       Reason  // set exactly for unknown and missed
	HTTPStatus   int
	Phases       Phases
	TotalUS      uint32
	Message      string // one line for people, capped, no CR or LF, no secrets
	Address      netip.Addr
	CertNotAfter time.Time // zero without TLS
	Issuer       string    // of the server's own certificate; announced, and not stored
	Attempt      uint8     // 1 for the first delivery; 0 when nobody tried
	Prober       string
	SpecVersion  int64
	Late         bool // measured, but started after the check's expiry
	IngestedAt   time.Time
	Seen         Seen
	Evidence     *Evidence // of measurements that are not up; nil where it was not asked for
	Print        *Print    // of those that are up, if it is to be stored; read only where it is asked for
}

// Seen is what a measurement saw besides its phases. What a kind of check does not have
// stays zero.
type Seen struct {
	Protocol   string `json:"protocol,omitempty"`    // of the last answer, such as HTTP/1.1
	TLSVersion uint16 `json:"tls_version,omitempty"` // as crypto/tls numbers it
	Hops       uint8  `json:"hops,omitempty"`        // requests, or connections
	WireBytes  uint32 `json:"wire_bytes,omitempty"`  // of the last body, as sent; at most what is read of one
	BodyBytes  uint32 `json:"body_bytes,omitempty"`  // of the last body, decoded; likewise
	DNSCached  bool   `json:"dns_cached,omitempty"`  // no name had to be looked up
	Saturated  bool   `json:"saturated,omitempty"`   // the prober was too busy for its times to be exact
}

// Slot is the row's key.
func (r *Result) Slot() Slot {
	return Slot{TargetID: r.TargetID, Region: r.Region, ScheduledAt: r.ScheduledAt}
}

// Classes of evidence, lowest first: a measurement outranks a reason whichever came last.
const (
	classReason   = 0
	classLate     = 1
	classMeasured = 2
)

// revisionStep is how exactly revisions tell ingest times apart, in µs: two probers' clocks
// agree no better, and what is beyond it would be a byte of noise in every row.
const revisionStep = 1 << 10

// Revision ranks the rows of one slot: class × 2^62 + ingest time in µs, to about a
// millisecond. The store keeps the highest, and of equal ones the one that came last, so
// a re-run, a re-send or a zombie never hides a measurement made in time.
func (r *Result) Revision() uint64 {
	class := uint64(classReason)
	switch {
	case r.Status.Measured() && r.Late:
		class = classLate
	case r.Status.Measured():
		class = classMeasured
	}
	return class<<62 | uint64(r.IngestedAt.UnixMicro())&(1<<62-revisionStep)
}

// LateRevision says whether a measurement of this revision was late.
func LateRevision(revision uint64) bool { return revision>>62 == classLate }
