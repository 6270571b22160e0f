package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/resultstore"
)

// Ledger compares what was planned with what came of it.
type Ledger interface {
	Report(ctx context.Context, from, to time.Time) ([]ledger.Line, error)
}

type ledgerLine struct {
	Region      string `json:"region"`
	Planned     int64  `json:"planned" doc:"slots that were due; equals the sum of all others"`
	Up          int64  `json:"up"`
	Degraded    int64  `json:"degraded"`
	Down        int64  `json:"down"`
	Unknown     int64  `json:"unknown"`
	Missed      int64  `json:"missed"`
	InFlight    int64  `json:"in_flight" doc:"not expired yet, or not published yet: the publisher, or Redis, is behind"`
	Spooled     int64  `json:"spooled" doc:"measured, waiting at a prober"`
	Unexplained int64  `json:"unexplained" doc:"no row and no reason: must be 0"`
}

type ledgerBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Items      []ledgerLine      `json:"items" nullable:"false"`
	From       instant           `json:"from"`
	To         instant           `json:"to"`
}

func (a *api) ledger(ctx context.Context, in *Between) (*pastOutput[ledgerBody], error) {
	now := a.Now()
	from, to, err := in.resolve(now)
	if err != nil {
		return nil, err
	}
	if kept := now.Add(-resultstore.Retention).UTC(); from.Before(kept) {
		from = kept // rows before it are gone, and would be missed
	}
	if !from.Before(to) {
		return nil, mistakes([]Mistake{{Parameter: "to", Code: codeInvalidRange, Message: "nothing is kept of this range: results are kept for 30 days"}})
	}
	return past(ctx, a, "ledger "+window(from, to, now), func(ctx context.Context) (ledgerBody, error) {
		lines, err := a.Ledger.Report(ctx, from, to)
		if err != nil {
			return ledgerBody{}, down(clickHouse, err)
		}
		body := ledgerBody{From: instant(from), To: instant(to), Items: make([]ledgerLine, len(lines))}
		for i, l := range lines {
			body.Items[i] = ledgerLine{
				Region: l.Region, Planned: l.Planned, Up: l.Up, Degraded: l.Degraded, Down: l.Down, Unknown: l.Unknown,
				Missed: l.Missed, InFlight: l.InFlight, Spooled: l.Spooled, Unexplained: l.Unexplained,
			}
		}
		return body, nil
	})
}

type uptimeBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	From       instant           `json:"from"`
	To         instant           `json:"to"`
	Up         uint64            `json:"up"`
	Degraded   uint64            `json:"degraded"`
	Down       uint64            `json:"down"`
	Unknown    uint64            `json:"unknown"`
	Missed     uint64            `json:"missed"`
	Planned    uint64            `json:"planned" doc:"slots that have a row: each due slot gets one, those in flight a little later"`
	Uptime     nullable[float64] `json:"uptime" doc:"(up + degraded) / (up + degraded + down); null when nothing was measured"`
	Coverage   nullable[float64] `json:"coverage" doc:"measured / planned; null when nothing was planned"`
}

func (a *api) uptime(ctx context.Context, in *struct {
	TargetPath
	Between
}) (*pastOutput[uptimeBody], error) {
	now := a.Now()
	from, to, err := in.resolve(now)
	if err != nil {
		return nil, err
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	return past(ctx, a, fmt.Sprintf("uptime %d %s", in.ID, window(from, to, now)), func(ctx context.Context) (uptimeBody, error) {
		u, err := a.Results.Uptime(ctx, in.ID, from, to)
		if err != nil {
			return uptimeBody{}, down(clickHouse, err)
		}
		return uptimeOf(u, from, to), nil
	})
}

func uptimeOf(u resultstore.Uptime, from, to time.Time) uptimeBody {
	body := uptimeBody{From: instant(from), To: instant(to), Up: u.Up, Degraded: u.Degraded, Down: u.Down, Unknown: u.Unknown, Missed: u.Missed}
	measured := u.Up + u.Degraded + u.Down
	body.Planned = measured + u.Unknown + u.Missed
	if measured > 0 {
		body.Uptime = some(float64(u.Up+u.Degraded) / float64(measured))
	}
	if body.Planned > 0 {
		body.Coverage = some(float64(measured) / float64(body.Planned))
	}
	return body
}
