package httpapi

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Results is what the API needs of the result store.
type Results interface {
	Results(context.Context, resultstore.ResultQuery) ([]uptime.Result, error)
	LatestN(ctx context.Context, ids []int64, n int, since time.Time) (map[int64][]uptime.Result, error)
	Series(context.Context, resultstore.SeriesQuery) (resultstore.Series, error)
	Uptime(ctx context.Context, id int64, from, to time.Time) (resultstore.Uptime, error)
}

const clickHouse = "ClickHouse"

type resultBody struct {
	TargetID     int64             `json:"target_id"`
	Region       string            `json:"region"`
	ScheduledAt  instant           `json:"scheduled_at"`
	CheckedAt    nullable[instant] `json:"checked_at" doc:"null when nobody tried"`
	Status       string            `json:"status" enum:"up,degraded,down,unknown,missed"`
	Failure      string            `json:"failure" doc:"what was wrong at the target; empty when nothing was"`
	Reason       string            `json:"reason" doc:"why there is no measurement; empty when there is one"`
	HTTPStatus   int               `json:"http_status"`
	DNSUS        uint32            `json:"dns_us"`
	ConnectUS    uint32            `json:"connect_us"`
	TLSUS        uint32            `json:"tls_us"`
	WaitUS       uint32            `json:"wait_us"`
	TransferUS   uint32            `json:"transfer_us"`
	TotalUS      uint32            `json:"total_us"`
	Attempt      uint8             `json:"attempt"`
	Prober       string            `json:"prober"`
	Message      string            `json:"message"`
	Address      string            `json:"address"`
	CertNotAfter nullable[instant] `json:"cert_not_after"`
}

func resultOf(r uptime.Result) resultBody {
	body := resultBody{
		TargetID: r.TargetID, Region: r.Region, ScheduledAt: instant(r.ScheduledAt), CheckedAt: maybeInstant(r.CheckedAt),
		Status: r.Status.String(), Failure: string(r.Failure), Reason: string(r.Reason), HTTPStatus: r.HTTPStatus,
		DNSUS: r.Phases.DNS, ConnectUS: r.Phases.Connect, TLSUS: r.Phases.TLS, WaitUS: r.Phases.Wait, TransferUS: r.Phases.Transfer, TotalUS: r.TotalUS,
		Attempt: r.Attempt, Prober: r.Prober, Message: r.Message, CertNotAfter: maybeInstant(r.CertNotAfter),
	}
	if r.Address.IsValid() {
		body.Address = r.Address.String()
	}
	return body
}

func (a *api) listResults(ctx context.Context, in *struct {
	TargetPath
	Page
	From   time.Time `query:"from" doc:"first slot, RFC 3339; by default as far as results are kept"`
	To     time.Time `query:"to" doc:"first slot that is not included; by default now"`
	Region string    `query:"region" maxLength:"32"`
}) (*listOutput[resultBody], error) {
	before, err := readSlotCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if !in.To.IsZero() && !in.From.Before(in.To) {
		return nil, mistakes([]Mistake{{Parameter: "from", Code: codeInvalidRange, Message: "from must be before to"}})
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	rows, err := a.Results.Results(ctx, resultstore.ResultQuery{TargetID: in.ID, From: in.From, To: in.To, Region: in.Region, Limit: in.Limit, Before: before})
	if err != nil {
		return nil, down(clickHouse, err)
	}
	out := &listOutput[resultBody]{Body: list[resultBody]{Items: make([]resultBody, len(rows))}}
	for i, r := range rows {
		out.Body.Items[i] = resultOf(r)
	}
	if len(rows) == in.Limit {
		last := rows[len(rows)-1]
		out.Body.NextCursor = slotCursor(last.ScheduledAt, last.Region)
	}
	return out, nil
}

// Bounds of a question for the newest results of many targets.
const (
	maxLatestRows = 100_000
)

type tickBody struct {
	Region      string            `json:"region"`
	ScheduledAt instant           `json:"scheduled_at"`
	CheckedAt   nullable[instant] `json:"checked_at"`
	Status      string            `json:"status" enum:"up,degraded,down,unknown,missed"`
	Failure     string            `json:"failure"`
	Reason      string            `json:"reason"`
	HTTPStatus  int               `json:"http_status"`
	TotalUS     uint32            `json:"total_us"`
}

type latestBody struct {
	TargetID int64      `json:"target_id"`
	Results  []tickBody `json:"results" nullable:"false" doc:"newest first"`
}

type latestOutput struct {
	Body struct {
		Items []latestBody `json:"items" nullable:"false"`
	}
}

func (a *api) latestResults(ctx context.Context, in *struct {
	IDs []int64 `query:"ids" required:"true" minItems:"1" maxItems:"1000" doc:"targets, comma separated"`
	N   int     `query:"n" minimum:"1" maximum:"1000" default:"90" doc:"slots of each"`
}) (*latestOutput, error) {
	if len(in.IDs)*in.N > maxLatestRows {
		return nil, mistakes([]Mistake{{Parameter: "n", Code: codeInvalidParameter, Message: "ids times n is at most 100000: ask for fewer at once"}})
	}
	targets, err := a.Targets.ByIDs(ctx, in.IDs)
	if err != nil {
		return nil, err
	}
	// Targets of one interval look equally far back: a daily one must not make all read months.
	byInterval := map[time.Duration][]int64{}
	for _, target := range targets {
		byInterval[target.Interval] = append(byInterval[target.Interval], target.ID)
	}
	found := map[int64][]uptime.Result{}
	for interval, ids := range byInterval {
		since := a.Now().Add(-time.Duration(in.N)*interval - uptime.Expiry(interval))
		latest, err := a.Results.LatestN(ctx, ids, in.N, since)
		if err != nil {
			return nil, down(clickHouse, err)
		}
		for id, rows := range latest {
			found[id] = rows
		}
	}
	out := &latestOutput{}
	out.Body.Items = make([]latestBody, 0, len(targets))
	for _, target := range targets {
		item := latestBody{TargetID: target.ID, Results: make([]tickBody, 0, len(found[target.ID]))}
		for _, r := range found[target.ID] {
			item.Results = append(item.Results, tickBody{
				Region: r.Region, ScheduledAt: instant(r.ScheduledAt), CheckedAt: maybeInstant(r.CheckedAt), Status: r.Status.String(),
				Failure: string(r.Failure), Reason: string(r.Reason), HTTPStatus: r.HTTPStatus, TotalUS: r.TotalUS,
			})
		}
		out.Body.Items = append(out.Body.Items, item)
	}
	return out, nil
}
