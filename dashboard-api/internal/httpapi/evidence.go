package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

type evidenceBody struct {
	StaleSince nullable[instant]         `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Result     resultBody                `json:"result"`
	Evidence   nullable[uptime.Evidence] `json:"evidence" doc:"what the visit saw, without secrets; null for visits that were up, and for slots that nobody measured"`
}

func (a *api) evidence(ctx context.Context, in *struct {
	TargetPath
	Region      string    `query:"region" required:"true" maxLength:"32"`
	ScheduledAt time.Time `query:"scheduled_at" required:"true" doc:"the slot, RFC 3339, as in its result"`
}) (*pastOutput[evidenceBody], error) {
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	slot := uptime.Slot{TargetID: in.ID, Region: in.Region, ScheduledAt: in.ScheduledAt.UTC()}
	if !regionName.MatchString(slot.Region) || slot.ScheduledAt.After(a.Now().Add(furthestSlot)) || slot.ScheduledAt.Unix() < 0 {
		return nil, noSuchSlot()
	}
	return past(ctx, a, fmt.Sprintf("evidence %d %q %d", in.ID, slot.Region, slot.ScheduledAt.UnixMilli()), func(ctx context.Context) (evidenceBody, error) {
		r, found, err := a.Results.Result(ctx, slot)
		switch {
		case err != nil:
			return evidenceBody{}, down(clickHouse, err)
		case !found:
			return evidenceBody{}, noSuchSlot()
		}
		return evidenceBody{Result: resultOf(r), Evidence: nullable[uptime.Evidence]{r.Evidence}}, nil
	})
}

// furthestSlot is how far ahead of us a prober's clock may be.
const furthestSlot = 24 * time.Hour

func noSuchSlot() *Problem {
	return problem(http.StatusNotFound, codeNotFound, "there is no result of this target for this region and scheduled_at")
}
