package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const maxNote = 4000

// Incidents keeps incidents and their timelines.
type Incidents interface {
	List(ctx context.Context, f incidentstore.Filter) ([]incidentstore.Incident, error)
	Get(ctx context.Context, id int64) (incidentstore.Incident, []incidentstore.Event, error)
	Decisions(ctx context.Context, ids []int64) (map[int64][]incidentstore.Event, error)
	Acknowledge(ctx context.Context, id int64, by, say string, at time.Time) error
	Note(ctx context.Context, id int64, key, author, say string, at time.Time) (incidentstore.Event, error)
}

// Confirmations keeps what regions saw that were asked to look again.
type Confirmations interface {
	Confirmations(ctx context.Context, targetID int64, from, to time.Time, limit int) ([]verdictstore.Confirmation, error)
	ConfirmationsOf(ctx context.Context, ids []int64, from, to time.Time, limit int) (map[int64][]verdictstore.Confirmation, error)
}

const maxConfirmations = 100

// IncidentPath names the incident in a path. (Huma passes over embedded types that are not exported.)
type IncidentPath struct {
	ID int64 `path:"id" minimum:"1"`
}

type subjectBody struct {
	Name string   `json:"name"`
	URL  string   `json:"url"`
	Kind string   `json:"kind"`
	Tags []string `json:"tags" nullable:"false"`
}

// Incident is an incident in answers. (Huma passes over embedded types that are not exported.)
type Incident struct {
	ID             int64             `json:"id"`
	TargetID       int64             `json:"target_id" doc:"0: it is about no target"`
	Target         subjectBody       `json:"target" doc:"as it was when the incident began; or what else it is about: a region that is blind (kind region), incidents with one cause (kind group), or a part of the fleet that does not do its work (kind fleet)"`
	Severity       string            `json:"severity" enum:"no_data,degraded,down"`
	State          string            `json:"state" enum:"open,acknowledged,resolved"`
	BeganAt        instant           `json:"began_at" doc:"the first failing check"`
	OpenedAt       instant           `json:"opened_at" doc:"when it was found"`
	AcknowledgedAt nullable[instant] `json:"acknowledged_at"`
	AcknowledgedBy string            `json:"acknowledged_by"`
	ResolvedAt     nullable[instant] `json:"resolved_at"`
	DurationS      int64             `json:"duration_s" doc:"from its beginning until its end, or now"`
	Explanation    string            `json:"explanation"`
	Because        []verdict.Clause  `json:"because,omitempty" nullable:"false" doc:"what explanation says, for pages in other languages; absent of some"`
	Failure        string            `json:"failure"`
	HTTPStatus     int               `json:"http_status" doc:"0: none"`
	Regions        []string          `json:"regions" nullable:"false" doc:"that saw it"`
	GroupID        nullable[int64]   `json:"group_id" doc:"of incidents with the same cause"`
}

type eventBody struct {
	ID     int64   `json:"id"`
	Kind   string  `json:"kind" enum:"opened,severity,note,acknowledged,notified,resolved,corrected"`
	At     instant `json:"at"`
	Author string  `json:"author" doc:"empty: the service"`
	Text   string  `json:"text"`
}

// confirmationBody is what a region saw that was asked to look again.
type confirmationBody struct {
	Region     string  `json:"region"`
	Prober     string  `json:"prober"`
	Slot       instant `json:"slot" doc:"that another region saw failing"`
	CheckedAt  instant `json:"checked_at"`
	Status     string  `json:"status" enum:"up,degraded,down,unknown"`
	Failure    string  `json:"failure"`
	Reason     string  `json:"reason" doc:"of what is unknown"`
	HTTPStatus int     `json:"http_status"`
	TotalUS    uint32  `json:"total_us"`
	Message    string  `json:"message"`
}

type timelineBody struct {
	Incident
	Timeline      []eventBody        `json:"timeline" nullable:"false"`
	PublicUpdates []publicUpdate     `json:"public_updates" nullable:"false" doc:"what people told readers of it: the updates of posts on status pages that name it, the oldest first; the newest 100"`
	Confirmations []confirmationBody `json:"confirmations" nullable:"false" doc:"what regions saw during it that were asked to look again at once when another one saw a failure; the first 100, for 90 days. They are no results: no figure counts them"`
}

// NewIncident shows an incident as it is at now.
func NewIncident(i incidentstore.Incident, now time.Time) Incident {
	body := Incident{
		ID: i.ID, TargetID: i.TargetID, Target: subjectBody{i.Subject.Name, i.Subject.URL, i.Subject.Kind, orEmpty(i.Subject.Tags)}, Severity: string(i.Severity), State: incidentstore.StateOpen,
		BeganAt: instant(i.FirstSlot), OpenedAt: instant(i.OpenedAt), AcknowledgedAt: maybeInstant(i.AcknowledgedAt), AcknowledgedBy: i.AcknowledgedBy, ResolvedAt: maybeInstant(i.ResolvedAt),
		Explanation: i.Cause.Explanation, Because: i.Cause.Because, Failure: i.Cause.Failure, HTTPStatus: i.Cause.HTTPStatus, Regions: orEmpty(i.Cause.Regions),
	}
	end := i.ResolvedAt
	switch {
	case !i.Open():
		body.State = incidentstore.StateResolved
	case !i.AcknowledgedAt.IsZero():
		body.State = incidentstore.StateAcknowledged
	}
	if end.IsZero() {
		end = now
	}
	body.DurationS = int64(max(0, end.Sub(i.FirstSlot)) / time.Second)
	if i.GroupID != 0 {
		body.GroupID = some(i.GroupID)
	}
	return body
}

func eventOf(e incidentstore.Event) eventBody {
	return eventBody{ID: e.ID, Kind: string(e.Kind), At: instant(e.At), Author: e.Author, Text: e.Text}
}

func (a *api) listIncidents(ctx context.Context, in *struct {
	Page
	TargetID int64     `query:"target_id" minimum:"1" doc:"only those of this target"`
	GroupID  int64     `query:"group_id" minimum:"1" doc:"only those with this cause"`
	State    string    `query:"state" enum:"open,acknowledged,resolved" doc:"acknowledged ones are open, too"`
	Severity string    `query:"severity" enum:"no_data,degraded,down"`
	From     time.Time `query:"from" doc:"only those that went on then or later, RFC 3339"`
	To       time.Time `query:"to" doc:"only those opened before"`
}) (*listOutput[Incident], error) {
	before, err := readIncidentCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Incidents.List(ctx, incidentstore.Filter{
		TargetID: in.TargetID, GroupID: in.GroupID, State: in.State, Severity: incidentstore.Severity(in.Severity), From: in.From, To: in.To, Before: before, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	return pageBy(found, in.Limit, func(i incidentstore.Incident) Incident { return NewIncident(i, a.Now()) }, func(last incidentstore.Incident) nullable[string] {
		return some(encodeCursor("i", fmt.Sprintf("%d.%d", last.OpenedAt.UnixMilli(), last.ID)))
	}), nil
}

func readIncidentCursor(cursor string) (*incidentstore.Cursor, error) {
	if cursor == "" {
		return nil, nil
	}
	text, ok := decodeCursor("i", cursor)
	millis, number, cut := strings.Cut(text, ".")
	at, err := strconv.ParseInt(millis, 10, 64)
	id, err2 := strconv.ParseInt(number, 10, 64)
	if !ok || !cut || cmp.Or(err, err2) != nil {
		return nil, badCursor()
	}
	return &incidentstore.Cursor{OpenedAt: time.UnixMilli(at).UTC(), ID: id}, nil
}

type timelineOutput struct{ Body timelineBody }

func (a *api) getIncident(ctx context.Context, in *IncidentPath) (*timelineOutput, error) {
	i, events, err := a.Incidents.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	until := i.ResolvedAt
	if until.IsZero() {
		until = a.Now()
	}
	confirmed, err := a.Confirmations.Confirmations(ctx, i.TargetID, i.FirstSlot, until, maxConfirmations)
	if err != nil {
		return nil, err
	}
	updates, err := a.publicUpdates(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	out := &timelineOutput{timelineBody{NewIncident(i, a.Now()), []eventBody{}, updates, []confirmationBody{}}}
	for _, e := range events {
		out.Body.Timeline = append(out.Body.Timeline, eventOf(e))
	}
	for _, c := range confirmed {
		out.Body.Confirmations = append(out.Body.Confirmations, confirmationBody{
			c.Region, c.Prober, instant(c.Slot), instant(c.CheckedAt), c.Status.String(), string(c.Failure), string(c.Reason), c.HTTPStatus, c.TotalUS, c.Message,
		})
	}
	return out, nil
}

// AcknowledgeInput says that somebody looks after an incident.
type AcknowledgeInput struct {
	Text *string `json:"text,omitempty" maxLength:"4000" doc:"what there is to say; told to whoever hears of acknowledgements"`
}

// NoteInput is a note.
type NoteInput struct {
	Text *string `json:"text" maxLength:"4000"`
}

// judgeNote judges what somebody has to say.
func judgeNote(said *string, needs bool) (found []Mistake) {
	text := strings.TrimSpace(deref(said))
	switch {
	case text == "" && needs:
		found = append(found, needed("/text"))
	case utf8.RuneCountInString(text) > maxNote:
		found = append(found, Mistake{Pointer: "/text", Code: codeTooLong, Message: fmt.Sprintf("at most %d characters", maxNote)})
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		found = append(found, Mistake{Pointer: "/text", Code: codeInvalidText, Message: "there are signs in it that cannot be shown"})
	}
	return found
}

func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// acknowledgeIncident may be repeated: the first one counts.
func (a *api) acknowledgeIncident(ctx context.Context, in *struct {
	IncidentPath
	Body document[AcknowledgeInput]
}) (*timelineOutput, error) {
	var fields AcknowledgeInput
	if p := read(in.Body, func(f AcknowledgeInput, _ nulls) []Mistake { fields = f; return judgeNote(f.Text, false) }); p != nil {
		return nil, p
	}
	if err := a.Incidents.Acknowledge(ctx, in.ID, identityOf(ctx).Actor, strings.TrimSpace(deref(fields.Text)), a.Now()); err != nil {
		return nil, err
	}
	a.Notified()
	a.audit(ctx, "incident.acknowledged", "incident:"+strconv.FormatInt(in.ID, 10), "")
	return a.getIncident(ctx, &in.IncidentPath)
}

func (a *api) noteIncident(ctx context.Context, in *struct {
	IncidentPath
	Idempotent
	Body document[NoteInput]
}) (*answer[eventBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[eventBody], error) {
		var fields NoteInput
		if p := read(in.Body, func(f NoteInput, _ nulls) []Mistake { fields = f; return judgeNote(f.Text, true) }); p != nil {
			return nil, p
		}
		actor := identityOf(ctx).Actor
		key := uuid.NewString()
		if in.Key != "" {
			key = a.Box.Fingerprint(actor + "\n" + in.Key) // also when the kept answer was lost
		}
		e, err := a.Incidents.Note(ctx, in.ID, key, actor, strings.TrimSpace(*fields.Text), a.Now())
		if err != nil {
			return nil, err
		}
		a.audit(ctx, "incident.noted", "incident:"+strconv.FormatInt(in.ID, 10), "")
		return &answer[eventBody]{Status: http.StatusCreated, Location: fmt.Sprintf("/api/v1/incidents/%d", in.ID), Body: stored[eventBody]{value: eventOf(e)}}, nil
	})
}
