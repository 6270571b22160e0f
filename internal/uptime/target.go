package uptime

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of check a target asks for.
type Kind string

// Kinds, and the URLs they visit.
const (
	KindHTTP      Kind = "http"      // http and https
	KindTCP       Kind = "tcp"       // tcp://host:port
	KindTLS       Kind = "tls"       // tls://host[:port], port 443 unless it says otherwise
	KindDNS       Kind = "dns"       // dns://[server[:port]]/name?type=MX (RFC 4501); without a server the prober's own resolver is asked
	KindICMP      Kind = "icmp"      // icmp://host
	KindGRPC      Kind = "grpc"      // grpc://host:port[/service] and grpcs://: the health check of grpc.health.v1
	KindWebSocket Kind = "websocket" // ws and wss
	KindHeartbeat Kind = "heartbeat" // heartbeat://name: nothing is visited, the other side pings us
)

// Probed says whether probers visit targets of this kind.
func (k Kind) Probed() bool { return k != KindHeartbeat }

// Limits of what a target may ask for; MinInterval is in a file of its own.
const (
	MaxInterval     = 24 * time.Hour
	DefaultInterval = 60 * time.Second
	MinTimeout      = 100 * time.Millisecond
	MaxTimeout      = 30 * time.Second
)

// Target is a URL or host a user registered. Its ID is never used again after a deletion.
type Target struct {
	ID          int64
	Name        string
	URL         string
	Kind        Kind
	Interval    time.Duration // whole seconds, MinInterval to MaxInterval; of a heartbeat the longest time between two expected pings
	Timeout     time.Duration // of one probe, redirects included
	Regions     []string      // sorted; empty means every region
	Active      bool
	Spec        Spec
	Policy      PolicyText
	Tags        []string // sorted: see ParseTags
	ParentID    int64    // the target it depends on; 0: none
	SpecVersion int64    // the schedule_seq of the last change: rises with every edit
	// VisitedSince is when it was last made to be visited otherwise: what was seen before was of something
	// else, and is no evidence of how the target is. Zero: it was never visited otherwise.
	VisitedSince time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// VisitedAlike says whether two targets are the same thing that is looked at in the same way, so that what is
// seen of one says how the other is. How long is waited for it is no part of that. Of a heartbeat, nothing
// of the plan is: a ping is a ping.
func VisitedAlike(a, b Target) bool {
	if a.Kind != b.Kind || !a.Kind.Probed() {
		return a.Kind == b.Kind
	}
	return a.URL == b.URL && a.Spec.Text() == b.Spec.Text()
}

// PolicyText says when a target is down and when people hear of it: a verdict.Policy as
// JSON, empty for the default. Only who judges looks inside.
type PolicyText string

// Expect is what a target must answer to be up.
type Expect struct {
	Status []StatusRange `json:"status,omitempty"` // empty means 200-399
}

// IsZero says whether it is the default, however it was written.
func (e Expect) IsZero() bool { return len(e.Status) == 0 }

// Accepts says whether an HTTP status code counts as up.
func (e Expect) Accepts(code int) bool {
	if len(e.Status) == 0 {
		return code >= 200 && code <= 399
	}
	for _, r := range e.Status {
		if code >= r.From && code <= r.To {
			return true
		}
	}
	return false
}

// StatusRange is an inclusive range of HTTP status codes, written "200-399" or "204".
type StatusRange struct{ From, To int }

// ParseStatusRange reads "204" or "200-399"; codes are 100 to 599, in three digits.
func ParseStatusRange(text string) (StatusRange, error) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	first, last := statusCode(from), statusCode(to)
	if first < 100 || last > 599 || first > last {
		return StatusRange{}, fmt.Errorf("status range %q: want a code or a range of codes from 100 to 599, such as 204 or 200-399", text)
	}
	return StatusRange{first, last}, nil
}

// statusCode reads three digits; 0 for anything else.
func statusCode(text string) int {
	code, err := strconv.ParseUint(text, 10, 16)
	if err != nil || len(text) != 3 {
		return 0
	}
	return int(code)
}

// String writes the shortest form.
func (r StatusRange) String() string {
	if r.From == r.To {
		return strconv.Itoa(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

// MarshalJSON writes the text form.
func (r StatusRange) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

// UnmarshalJSON reads the text form.
func (r *StatusRange) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	parsed, err := ParseStatusRange(text)
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// DefaultTimeout is half the interval, at most ten seconds.
func DefaultTimeout(interval time.Duration) time.Duration {
	return min(10*time.Second, interval/2)
}
