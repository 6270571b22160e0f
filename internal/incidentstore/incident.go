package incidentstore

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// Severity is how bad an incident is. The set is closed; programs rely on the words.
type Severity string

// Severities, the mildest first.
const (
	NoData   Severity = "no_data" // there is no evidence
	Degraded Severity = "degraded"
	Down     Severity = "down"
)

// Severities lists all of them.
func Severities() []Severity { return []Severity{NoData, Degraded, Down} }

// Kinds of the subjects of incidents that are about no target.
const (
	KindRegion = "region" // that is blind
	KindGroup  = "group"  // of incidents with one cause
	KindFleet  = "fleet"  // a part of it that does not do its work
)

// Subject is the target as it was when its incident began, or what else it is about.
type Subject struct {
	Name string   `json:"name"`
	URL  string   `json:"url"` // without what may be secret
	Kind string   `json:"kind"`
	Tags []string `json:"tags,omitempty"`
}

// Cause is why an incident was opened.
type Cause struct {
	Explanation string           `json:"explanation"`           // a sentence for people
	Because     []verdict.Clause `json:"because,omitempty"`     // what it says
	Failure     string           `json:"failure,omitempty"`     // of the closed list
	Regions     []string         `json:"regions,omitempty"`     // that saw it
	HTTPStatus  int              `json:"http_status,omitempty"` // 0: none
}

// Incident is a stretch in which something was wrong with a target.
type Incident struct {
	ID             int64
	TargetID       int64     // 0: it is about none
	FirstSlot      time.Time // the first failing one
	Severity       Severity
	Subject        Subject
	Cause          Cause
	OpenedAt       time.Time
	AcknowledgedAt time.Time // zero: nobody did
	AcknowledgedBy string    // as the audit log names who did
	ResolvedAt     time.Time // zero: it goes on
	GroupID        int64     // of incidents with the same cause; 0: none
	Members        []int64   // while it is told of a group: targets that are in it, or have come to it
	MemberTags     []string  // and what these carry
}

// Open says whether it goes on.
func (i Incident) Open() bool { return i.ResolvedAt.IsZero() }

// Kind is what happened. The set is closed; programs rely on the words.
type Kind string

// Kinds of what happens in an incident, and of what is told of it.
const (
	Opened          Kind = "opened"
	SeverityChanged Kind = "severity"
	Noted           Kind = "note"
	Acknowledged    Kind = "acknowledged"
	Notified        Kind = "notified" // somebody was told, or could not be
	Resolved        Kind = "resolved"
	Corrected       Kind = "corrected"

	Escalated Kind = "escalated" // told only: nobody has acknowledged
	Reminded  Kind = "reminder"  // told only: it goes on
	Tested    Kind = "test"      // told only: of a channel
)

// Event is an entry of a timeline.
type Event struct {
	ID     int64
	Kind   Kind
	At     time.Time
	Author string // as the audit log names who did it; "": the service
	Text   string
}

const incidentColumns = `i.id, i.target_id, i.first_slot_ms, i.severity, i.subject, i.cause, i.opened_at_ms, i.acknowledged_at_ms, i.acknowledged_by, i.resolved_at_ms, i.group_id`

func scanIncident(row interface{ Scan(...any) error }) (Incident, error) {
	var i Incident
	var firstSlot, opened int64
	var subject, cause string
	var target, acknowledged, resolved, group sql.NullInt64
	err := row.Scan(&i.ID, &target, &firstSlot, &i.Severity, &subject, &cause, &opened, &acknowledged, &i.AcknowledgedBy, &resolved, &group)
	if err != nil {
		return Incident{}, err
	}
	if err := errors.Join(json.Unmarshal([]byte(subject), &i.Subject), json.Unmarshal([]byte(cause), &i.Cause)); err != nil {
		i.Subject.Name = cmp.Or(i.Subject.Name, fmt.Sprintf("Incident %d", i.ID))
		i.Cause.Explanation = cmp.Or(i.Cause.Explanation, unreadable(err))
	}
	i.TargetID, i.FirstSlot, i.OpenedAt, i.AcknowledgedAt, i.ResolvedAt, i.GroupID = target.Int64, at(firstSlot), at(opened), instant(acknowledged), instant(resolved), group.Int64
	return i, nil
}

// unreadable is said where something is told of which not all can be read.
func unreadable(why error) string {
	return "What was written of it cannot be read by this release: " + why.Error()
}

// text is a value as JSON; of types that cannot fail.
func text(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}
