package httpapi

import (
	"context"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

type tidingBody struct {
	ID          int64             `json:"id"`
	IncidentID  int64             `json:"incident_id" doc:"what it was about; of several targets at once it is the incident of them all"`
	ChannelID   int64             `json:"channel_id"`
	Channel     string            `json:"channel" doc:"the channel's name"`
	ChannelKind string            `json:"channel_kind"`
	Event       string            `json:"event" enum:"opened,severity,acknowledged,resolved,escalated,reminder"`
	State       string            `json:"state" enum:"pending,sending,delivered,failed,cancelled" doc:"cancelled: before it was sent there was no need any more"`
	Attempts    int               `json:"attempts"`
	CreatedAt   instant           `json:"created_at"`
	NextAt      nullable[instant] `json:"next_at" doc:"while it is pending: when it is told, or tried again"`
	SettledAt   nullable[instant] `json:"settled_at" doc:"null: it is not settled"`
	Status      int               `json:"status" doc:"of HTTP or SMTP, at the newest attempt; 0: there was no answer, or no attempt"`
	Reason      string            `json:"reason" doc:"why it did not arrive, of the newest attempt; without secrets"`
}

// listTidings is for viewers, since timelines tell them as much: of what providers answer it shows
// only why something did not arrive.
func (a *api) listTidings(ctx context.Context, in *struct {
	TargetPath
	Page
}) (*listOutput[tidingBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := a.Alerts.Tidings(ctx, in.ID, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, tidingOf, func(t incidentstore.Tiding) int64 { return t.ID }), nil
}

func tidingOf(t incidentstore.Tiding) tidingBody {
	body := tidingBody{
		ID: t.ID, IncidentID: t.IncidentID, ChannelID: t.ChannelID, Channel: t.Channel, ChannelKind: t.ChannelKind, Event: string(t.Event), State: string(t.State),
		Attempts: t.Attempts, CreatedAt: instant(t.CreatedAt), SettledAt: maybeInstant(t.SettledAt), Status: t.Last.Status,
	}
	if t.State == incidentstore.Pending {
		body.NextAt = some(instant(t.NextAt))
	}
	if t.State != incidentstore.Delivered && t.Last.Outcome != incidentstore.OutcomeDelivered {
		body.Reason = t.Last.Excerpt
	}
	return body
}
