package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Kind is what was decided.
type Kind string

// Kinds of decisions.
const (
	Opened          Kind = "opened"
	Resolved        Kind = "resolved" // also of an incident that was suppressed: then SuppressedBy says so
	SeverityChanged Kind = "severity_changed"
	Suppressed      Kind = "suppressed"
	Corrected       Kind = "corrected"
	FlappingBegan   Kind = "flapping_began"
	FlappingEnded   Kind = "flapping_ended"
)

// Cause is what suppresses an incident.
type Cause string

// Causes.
const (
	ByMaintenance Cause = "maintenance"
	ByParent      Cause = "parent"
)

// Notify is who is to hear of a decision.
type Notify string

// Ways to notify.
const (
	NotifyNobody Notify = ""
	NotifyPage   Notify = "page" // somebody has to act
	NotifyNote   Notify = "note" // those who were paged want to know
)

// Decision is something that was found at a step. Of a target, kind and slot name it:
// an incident is known by its first failing slot, flapping by that of the incident with
// which it began or ended.
type Decision struct {
	Kind         Kind      `json:"kind"`
	TargetID     int64     `json:"target_id"`
	Slot         time.Time `json:"slot"`
	At           time.Time `json:"at"`
	Severity     Severity  `json:"severity,omitempty"`
	Began        time.Time `json:"began,omitzero"`
	Ended        time.Time `json:"ended,omitzero"` // of resolved: first good slot
	SuppressedBy Cause     `json:"suppressed_by,omitempty"`
	Notify       Notify    `json:"notify,omitempty"`
	Regions      []string  `json:"regions,omitempty"` // that fail
	Why          string    `json:"why"`
	Because      []Clause  `json:"because,omitempty"` // what it says, of opened and severity_changed
}

// decide notes a decision about the incident of a slot.
func (s *step) decide(kind Kind, slot time.Time, severity Severity, notify Notify, parts ...string) *Decision {
	s.decisions = append(s.decisions, Decision{Kind: kind, TargetID: s.TargetID, Slot: slot, At: s.At, Severity: severity, Notify: notify, Regions: s.verdict.DownRegions, Why: sentence(parts...)})
	return &s.decisions[len(s.decisions)-1]
}

// sentence joins parts, each of which ends without a full stop.
func sentence(parts ...string) string {
	var all []string
	for _, part := range parts {
		if part = strings.TrimSuffix(part, "."); part != "" {
			all = append(all, part+".")
		}
	}
	return strings.Join(all, " ")
}

// lasted is a duration as pages say it: 45 s, 5 min 45 s, 2 h 5 min, 3 d 4 h.
func lasted(d time.Duration) string {
	units := []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	d = d.Round(time.Second)
	for i, unit := range units[:len(units)-1] {
		if d < unit.of {
			continue
		}
		text, next := fmt.Sprintf("%d %s", d/unit.of, unit.name), units[i+1]
		if rest := d % unit.of / next.of; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, next.name)
		}
		return text
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
