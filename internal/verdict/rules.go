package verdict

import (
	"cmp"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// State is the folded status of a target.
type State string

// States a page can show.
const (
	StateUp          State = "up"
	StateDegraded    State = "degraded"
	StateDown        State = "down"
	StateMaintenance State = "maintenance"
	StateNoData      State = "no_data"
	StatePaused      State = "paused"
)

// Severity is how bad an incident is.
type Severity string

// Severities.
const (
	SeverityDown     Severity = "down"
	SeverityDegraded Severity = "degraded"
)

// Rules are what folding needs to know of a target.
type Rules struct {
	Interval, Timeout time.Duration
	Active            bool
	Regions           []string  // that are to check it now
	VisitedSince      time.Time // what was seen before was of something else; zero: nothing was
	Policy            Policy    // valid; the zero value is the default
}

// Conditions are what holds around a target: facts that others found out. They may be
// corrected later, and change with time only at their edges.
type Conditions struct {
	Maintenance []Span      // windows that hold the target
	Blind       []Blindness // of any region
	Parent      *Parent     // a target this one depends on, which is or was down; nil: it was not
	Await       *Await      // what is known of that target otherwise; nil: nothing is to be waited for
}

// Span is a stretch of time [From, To); a zero To has no end yet.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"`
}

// Holds says whether an instant is in it.
func (s Span) Holds(t time.Time) bool {
	return !t.Before(s.From) && (s.To.IsZero() || t.Before(s.To))
}

// Blindness is a stretch in which a region could not be believed.
type Blindness struct {
	Region string `json:"region"`
	Span
}

// Parent is a target that others depend on, and that is down, or was. What others saw while it
// was is told by it.
type Parent struct {
	TargetID int64     `json:"target_id"`
	Name     string    `json:"name"`
	Until    time.Time `json:"until,omitzero"` // when it was found to be down no more; zero: it is
}

// Holds says whether it was down at an instant; when it began nobody needs to know.
func (p *Parent) Holds(t time.Time) bool {
	return p != nil && (p.Until.IsZero() || t.Before(p.Until))
}

// Await is that an outage waits until a target it depends on was looked at since it began: else
// it would be told if it is seen first.
type Await struct {
	Good  time.Time     // slot of the oldest result by which that target is not down
	Known time.Time     // since when that is known
	For   time.Duration // an outage waits no longer than that
}

// Observation is a region's measurement.
type Observation struct {
	Region       string         `json:"region"`
	Status       uptime.Status  `json:"status"`
	Failure      uptime.Failure `json:"failure,omitempty"`
	HTTPStatus   int            `json:"http_status,omitempty"`
	Said         string         `json:"said,omitempty"` // what an answer said in place of an HTTP status; mostly empty
	ScheduledAt  time.Time      `json:"scheduled_at"`
	CheckedAt    time.Time      `json:"checked_at,omitzero"`
	TotalUS      uint32         `json:"total_us,omitempty"`
	CertNotAfter time.Time      `json:"cert_not_after,omitzero"`
	Revision     uint64         `json:"revision,omitempty"` // ranks the results of one slot
	Late         bool           `json:"-"`                  // measured after its expiry: no evidence
}

// Observed is the evidence that a result is.
func Observed(r *uptime.Result) Observation {
	return Observation{Region: r.Region, Status: r.Status, Failure: r.Failure, HTTPStatus: r.HTTPStatus, ScheduledAt: r.ScheduledAt.UTC(), CheckedAt: r.CheckedAt.UTC(),
		TotalUS: r.TotalUS, CertNotAfter: r.CertNotAfter, Revision: r.Revision(), Late: r.Late}
}

// Confirmed is the evidence that a visit is which was made to confirm what another region
// saw. It is of no slot: it counts as of the instant it was made.
func Confirmed(l *uptime.Look) Observation {
	at := l.CheckedAt.UTC().Truncate(time.Millisecond)
	return Observation{Region: l.Region, Status: l.Status, Failure: l.Failure, HTTPStatus: l.HTTPStatus, ScheduledAt: at, CheckedAt: at,
		TotalUS: l.TotalUS, CertNotAfter: l.CertNotAfter, Revision: 1}
}

// handedOut is for how long after an edit checks may come that were handed out before: the schedule
// is read each second, and checks are handed out a second ahead.
const handedOut = 5 * time.Second

// spokenSlack is for how long after others a region may tell of the same slot, besides the timeout.
const spokenSlack = 30 * time.Second

// FreshUntil is the instant after which a measurement is no longer evidence.
func (r Rules) FreshUntil(scheduledAt time.Time) time.Time {
	until := scheduledAt.Add(2*r.Interval + r.Timeout)
	if r.Former(scheduledAt) && r.VisitedSince.Before(until) {
		return r.VisitedSince
	}
	return until
}

// Former says whether what is seen of a slot may be of what the target was before it was made to be
// visited otherwise.
func (r *Rules) Former(scheduledAt time.Time) bool {
	return !r.VisitedSince.IsZero() && scheduledAt.Before(r.VisitedSince.Add(handedOut))
}

// degraded is what makes a result that is not down degraded, as in Seen; "" when nothing does.
func (r *Rules) degraded(o *Observation) string {
	rule := r.Policy.Degraded
	switch left := o.CertNotAfter.Sub(o.ScheduledAt); {
	case o.Status == uptime.StatusDegraded:
		return cmp.Or(string(o.Failure), seenDegraded)
	case rule.LatencyMS > 0 && int64(o.TotalUS) > int64(rule.LatencyMS)*1000:
		return seenSlow
	case rule.CertificateDays > 0 && !o.CertNotAfter.IsZero() && left < time.Duration(rule.CertificateDays)*24*time.Hour:
		return seenCertificate
	}
	return ""
}

// BlindAt says whether a region could not be believed at an instant.
func (c *Conditions) BlindAt(region string, t time.Time) bool {
	for i := range c.Blind {
		if b := &c.Blind[i]; b.Region == region && b.Holds(t) {
			return true
		}
	}
	return false
}

// blindSince is since when a region cannot be believed that cannot be at an instant.
func (c *Conditions) blindSince(region string, t time.Time) (since time.Time) {
	for i := range c.Blind {
		if b := &c.Blind[i]; b.Region == region && b.Holds(t) && (since.IsZero() || b.From.Before(since)) {
			since = b.From
		}
	}
	return since
}

func (c Conditions) maintained(t time.Time) bool {
	for _, s := range c.Maintenance {
		if s.Holds(t) {
			return true
		}
	}
	return false
}
