package httpapi

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/ledger"
)

// Ledger compares what was planned with what came of it.
type Ledger interface {
	Report(ctx context.Context, from, to time.Time) ([]ledger.Line, error)
}

type ledgerLine struct {
	Region      string         `json:"region"`
	Planned     int64          `json:"planned" doc:"slots that were due, in ext-… and push results that were taken in; equals the sum of all others"`
	Up          int64          `json:"up"`
	Degraded    int64          `json:"degraded"`
	Down        int64          `json:"down"`
	Unknown     int64          `json:"unknown"`
	Missed      int64          `json:"missed"`
	InFlight    int64          `json:"in_flight" doc:"not expired yet, or not published yet: the publisher, or Redis, is behind"`
	Spooled     int64          `json:"spooled" doc:"measured, waiting on the disk of a prober; or taken in, waiting on that of an API node"`
	Unexplained int64          `json:"unexplained" doc:"no row and no reason: must be 0"`
	Reasons     []ledgerReason `json:"reasons" nullable:"false" doc:"why unknown and missed are what they are, the most frequent first; they add up to these"`
}

type ledgerReason struct {
	Status string `json:"status" enum:"unknown,missed"`
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// cycled is what the publisher noted: it is beside the account, which follows from the plan alone.
type cycled struct {
	Due       int64 `json:"due" doc:"checks: targets × regions"`
	Published int64 `json:"published" doc:"those that were put into the stream"`
	Missed    int64 `json:"missed" doc:"those that were stated as missed instead"`
}

type ledgerBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Items      []ledgerLine      `json:"items" nullable:"false"`
	Publisher  cycled            `json:"publisher" doc:"of the seconds that the publisher has come to and noted"`
	From       instant           `json:"from"`
	To         instant           `json:"to"`
}

func (a *api) ledger(ctx context.Context, in *Between) (*pastOutput[ledgerBody], error) {
	now := a.Now()
	from, to, err := in.resolve(now)
	if err != nil {
		return nil, err
	}
	retention := a.Results.RawKept()
	if kept := now.Add(-retention).UTC(); from.Before(kept) {
		from = kept // rows before it are gone, and would be missed
	}
	if !from.Before(to) {
		return nil, mistakes([]Mistake{{Parameter: "to", Code: codeInvalidRange, Message: "nothing is kept of this range: results are kept for " + days(retention)}})
	}
	return past(ctx, a, "ledger "+window(from, to, now), func(ctx context.Context) (ledgerBody, error) {
		lines, err := a.Ledger.Report(ctx, from, to)
		if err != nil {
			return ledgerBody{}, down(clickHouse, err)
		}
		noted, err := a.Results.Cycles(ctx, from, to)
		if err != nil {
			return ledgerBody{}, down(clickHouse, err)
		}
		body := ledgerBody{From: instant(from), To: instant(to), Publisher: cycled(noted), Items: make([]ledgerLine, len(lines))}
		for i, l := range lines {
			body.Items[i] = ledgerLine{
				Region: l.Region, Planned: l.Planned, Up: l.Up, Degraded: l.Degraded, Down: l.Down, Unknown: l.Unknown,
				Missed: l.Missed, InFlight: l.InFlight, Spooled: l.Spooled, Unexplained: l.Unexplained,
				Reasons: make([]ledgerReason, len(l.Reasons)),
			}
			for j, r := range l.Reasons {
				body.Items[i].Reasons[j] = ledgerReason{r.Status.String(), string(r.Reason), r.Count}
			}
		}
		return body, nil
	})
}
