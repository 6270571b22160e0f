package httpapi

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/blindstore"
)

// Blind knows when regions could not be believed.
type Blind interface {
	List(ctx context.Context, f blindstore.Filter) ([]blindstore.Window, error)
	Blind(ctx context.Context, from, to time.Time) (map[string]availability.Spans, error)
}

type blindWindowBody struct {
	ID         int64             `json:"id"`
	Region     string            `json:"region"`
	Sign       string            `json:"sign" enum:"canaries,mass_change" doc:"how it was found: its probers could not reach what they always must be able to reach; or many targets turned to failing there alone"`
	From       instant           `json:"from"`
	To         nullable[instant] `json:"to" doc:"null: it goes on"`
	Why        string            `json:"why"`
	IncidentID nullable[int64]   `json:"incident_id" doc:"by which people were told"`
}

func (a *api) listBlindWindows(ctx context.Context, in *struct {
	Page
	Region string `query:"region" maxLength:"64" doc:"only those of this region"`
	State  string `query:"state" enum:"open,all" default:"all"`
}) (*listOutput[blindWindowBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Blind.List(ctx, blindstore.Filter{Region: in.Region, Open: in.State == "open", BeforeID: before, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, func(w blindstore.Window) blindWindowBody {
		body := blindWindowBody{ID: w.ID, Region: w.Region, Sign: string(w.Sign), From: instant(w.From), To: maybeInstant(w.To), Why: w.Why}
		if w.IncidentID != 0 {
			body.IncidentID = some(w.IncidentID)
		}
		return body
	}, func(w blindstore.Window) int64 { return w.ID }), nil
}
