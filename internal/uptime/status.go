package uptime

import "fmt"

// Status is what one slot came to. The numbers are stored (ClickHouse Enum8): never renumber.
type Status uint8

// A slot ends in exactly one of these. Unknown and Missed always carry a Reason.
const (
	StatusUp       Status = 1
	StatusDegraded Status = 2
	StatusDown     Status = 3
	StatusUnknown  Status = 4 // we tried and could not measure
	StatusMissed   Status = 5 // nobody tried in time
)

var statusNames = [...]string{StatusUp: "up", StatusDegraded: "degraded", StatusDown: "down", StatusUnknown: "unknown", StatusMissed: "missed"}

// String gives the word used in the API, the store and the pages.
func (s Status) String() string {
	if s == 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("status(%d)", uint8(s))
	}
	return statusNames[s]
}

// ParseStatus reads the word back.
func ParseStatus(word string) (Status, error) {
	for s, name := range statusNames {
		if name == word && name != "" {
			return Status(s), nil
		}
	}
	return 0, fmt.Errorf("unknown status %q", word)
}

// Measured says whether a probe really looked at the target: only measured
// results are evidence, and only they refresh a page.
func (s Status) Measured() bool { return s >= StatusUp && s <= StatusDown }

// MarshalText writes the word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Status) UnmarshalText(text []byte) error {
	parsed, err := ParseStatus(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// Failure names what went wrong at the target. The set is closed; empty means nothing did.
type Failure string

// Failures, in the order a request meets them.
const (
	FailureNone           Failure = ""
	FailureDNS            Failure = "dns"
	FailureConnectRefused Failure = "connect_refused"
	FailureConnectTimeout Failure = "connect_timeout"
	FailureTLSExpired     Failure = "tls_expired"
	FailureTLSName        Failure = "tls_name"
	FailureTLSUntrusted   Failure = "tls_untrusted"
	FailureTLSOther       Failure = "tls_other"
	FailureStatusCode     Failure = "status_code"
	FailureBody           Failure = "body"
	FailureHeader         Failure = "header"
	FailureLatency        Failure = "latency"
	FailureRedirectLimit  Failure = "redirect_limit"
	FailureTooLarge       Failure = "too_large"
	FailureProtocol       Failure = "protocol"
	FailureReset          Failure = "reset"
	FailureTimeout        Failure = "timeout"
	FailureReported       Failure = "reported" // the job behind a heartbeat said itself that it failed
)

// Failures are all of them but FailureNone, in their order.
func Failures() []Failure {
	return []Failure{
		FailureDNS, FailureConnectRefused, FailureConnectTimeout, FailureTLSExpired, FailureTLSName, FailureTLSUntrusted, FailureTLSOther, FailureStatusCode, FailureBody,
		FailureHeader, FailureLatency, FailureRedirectLimit, FailureTooLarge, FailureProtocol, FailureReset, FailureTimeout, FailureReported,
	}
}

// Reason says why a slot has no measurement. The set is closed; empty for measured slots.
type Reason string

// Reasons of missed slots: nobody tried in time.
const (
	ReasonNone          Reason = ""
	ReasonExpired       Reason = "expired"
	ReasonBackpressure  Reason = "backpressure"
	ReasonPublisherDown Reason = "publisher_down"
	ReasonRedisDown     Reason = "redis_down"
	ReasonRedisLost     Reason = "redis_lost"
	ReasonRegionDown    Reason = "region_down"
	ReasonTrimmed       Reason = "trimmed"
	ReasonLost          Reason = "lost"
)

// Reasons of unknown slots: we tried and could not measure.
const (
	ReasonBlockedAddress  Reason = "blocked_address"
	ReasonRedirectBlocked Reason = "redirect_blocked"
	ReasonProbeDNS        Reason = "probe_dns"
	ReasonProbeBlind      Reason = "probe_blind"
	ReasonProbeHang       Reason = "probe_hang"
	ReasonFrozen          Reason = "frozen"
	ReasonHostBudget      Reason = "host_budget"
	ReasonDeadLetter      Reason = "dead_letter"
	ReasonInternal        Reason = "internal"
)
