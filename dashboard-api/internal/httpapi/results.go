package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Results is what the API needs of the result store.
type Results interface {
	Results(context.Context, resultstore.ResultQuery) ([]uptime.Result, error)
	LatestN(ctx context.Context, ids []int64, n int, since time.Time) (map[int64][]resultstore.Bar, error)
	Current(ctx context.Context, ids []int64) ([]resultstore.Bar, error)
	Newest(ctx context.Context, ids []int64) ([]uptime.Result, error) // with their certificates
	Certificates(ctx context.Context, ids []int64, since time.Time) (map[int64]time.Time, error)
	Series(context.Context, resultstore.SeriesQuery) (resultstore.Series, error)
	Matrix(context.Context, resultstore.SeriesQuery) (map[string]resultstore.Series, error)
	Failures(context.Context, resultstore.WindowQuery) (resultstore.Failures, error)
	Histogram(context.Context, resultstore.WindowQuery) (resultstore.Histogram, error)
	Result(context.Context, uptime.Slot) (r uptime.Result, found bool, err error)
	Turns
	Measured(ctx context.Context, ids []int64, from, to time.Time, fn func(*uptime.Result) error) error
	Known(ctx context.Context, ids []int64, n int, since, at time.Time) (map[int64][]asknown.Row, error)
	LastKnown(ctx context.Context, id int64, regions []string, since, before, at time.Time) ([]asknown.Row, error)
	Cycles(ctx context.Context, from, to time.Time) (resultstore.Cycled, error)
	KeptSince() time.Time   // from when on results are there
	RawKept() time.Duration // how long results are kept, as it is set now
	LastKept() resultstore.Retentions
	FiguresSince() time.Time // from when on there are surely figures
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
	Protocol     string            `json:"protocol" doc:"of the last answer, such as HTTP/1.1"`
	TLSVersion   string            `json:"tls_version" doc:"such as 1.3; empty without TLS"`
	Hops         uint8             `json:"hops" doc:"requests, or connections, that were made"`
	WireBytes    uint32            `json:"wire_bytes" doc:"of the last body, as sent; at most what is read of one"`
	BodyBytes    uint32            `json:"body_bytes" doc:"of the last body, decoded; likewise"`
	DNSCached    bool              `json:"dns_cached" doc:"no name had to be looked up"`
	Saturated    bool              `json:"saturated" doc:"the prober was too busy for its times to be exact"`
}

func resultOf(r uptime.Result) resultBody {
	body := resultBody{
		TargetID: r.TargetID, Region: r.Region, ScheduledAt: instant(r.ScheduledAt), CheckedAt: maybeInstant(r.CheckedAt),
		Status: r.Status.String(), Failure: string(r.Failure), Reason: string(r.Reason), HTTPStatus: r.HTTPStatus,
		DNSUS: r.Phases.DNS, ConnectUS: r.Phases.Connect, TLSUS: r.Phases.TLS, WaitUS: r.Phases.Wait, TransferUS: r.Phases.Transfer, TotalUS: r.TotalUS,
		Attempt: r.Attempt, Prober: r.Prober, Message: r.Message, CertNotAfter: maybeInstant(r.CertNotAfter),
		Protocol: r.Seen.Protocol, TLSVersion: tlsVersion(r.Seen.TLSVersion), Hops: r.Seen.Hops, WireBytes: r.Seen.WireBytes, BodyBytes: r.Seen.BodyBytes,
		DNSCached: r.Seen.DNSCached, Saturated: r.Seen.Saturated,
	}
	if r.Address.IsValid() {
		body.Address = r.Address.String()
	}
	return body
}

// tlsVersion names a version as crypto/tls numbers it; what it does not know has no name.
func tlsVersion(number uint16) string {
	switch number {
	case tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13:
		return strings.TrimPrefix(tls.VersionName(number), "TLS ")
	}
	return ""
}

type resultPage struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Items      []resultBody      `json:"items" nullable:"false"`
	NextCursor nullable[string]  `json:"next_cursor" doc:"null on the last page"`
}

func (a *api) listResults(ctx context.Context, in *struct {
	TargetPath
	Page
	From   time.Time `query:"from" doc:"first slot, RFC 3339; by default as far as results are kept"`
	To     time.Time `query:"to" doc:"first slot that is not included; by default now"`
	Region string    `query:"region" maxLength:"32"`
}) (*pastOutput[resultPage], error) {
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
	question := fmt.Sprintf("results %d %q %d %q %s %s", in.ID, in.Region, in.Limit, in.Cursor, in.From, in.To)
	return past(ctx, a, question, func(ctx context.Context) (page resultPage, err error) {
		rows, err := a.Results.Results(ctx, resultstore.ResultQuery{TargetID: in.ID, From: in.From, To: in.To, Region: in.Region, Limit: in.Limit + 1, Before: before})
		if err != nil {
			return page, down(clickHouse, err)
		}
		of := pageBy(rows, in.Limit, resultOf, func(last uptime.Result) nullable[string] { return slotCursor(last.ScheduledAt, last.Region) }).Body
		return resultPage{Items: of.Items, NextCursor: of.NextCursor}, nil
	})
}

// farthest is longer than results are ever kept.
const farthest = 100 * 365 * 24 * time.Hour

// maxLatestRows bounds a question for the newest results of many targets.
const maxLatestRows = 100_000

// ResultTick is a result where many are told of at once.
type ResultTick struct {
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
	TargetID int64        `json:"target_id"`
	Results  []ResultTick `json:"results" nullable:"false" doc:"newest first"`
}

type latestPage struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made; it says nothing of how the targets are now"`
	Items      []latestBody      `json:"items" nullable:"false"`
}

func (a *api) latestResults(ctx context.Context, in *struct {
	IDs []int64 `query:"ids" required:"true" minItems:"1" maxItems:"1000" doc:"targets, comma separated"`
	N   int     `query:"n" minimum:"1" maximum:"1000" default:"90" doc:"slots of each"`
}) (*pastOutput[latestPage], error) {
	if len(in.IDs)*in.N > maxLatestRows {
		return nil, mistakes([]Mistake{{Parameter: "n", Code: codeInvalidParameter, Message: "ids times n is at most 100000: ask for fewer at once"}})
	}
	targets, err := a.Targets.ByIDs(ctx, in.IDs)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(targets)) // those there are: nothing of a deleted target comes back in a copy
	for i, target := range targets {
		ids[i] = target.ID
	}
	return past(ctx, a, fmt.Sprint("latest ", in.N, ids), func(ctx context.Context) (latestPage, error) {
		found, err := a.newest(ctx, targets, in.N)
		if err != nil {
			return latestPage{}, down(clickHouse, err)
		}
		page := latestPage{Items: make([]latestBody, 0, len(targets))}
		for _, target := range targets {
			page.Items = append(page.Items, latestBody{TargetID: target.ID, Results: ticksOf(found[target.ID])})
		}
		return page, nil
	})
}

// newest gives the newest n slots of each target. Targets of one interval look
// equally far back: a daily one must not make all read months.
func (a *api) newest(ctx context.Context, targets []uptime.Target, n int) (map[int64][]resultstore.Bar, error) {
	byInterval := map[time.Duration][]int64{}
	for _, target := range targets {
		byInterval[target.Interval] = append(byInterval[target.Interval], target.ID)
	}
	found := map[int64][]resultstore.Bar{}
	for interval, ids := range byInterval {
		interval = min(interval, farthest/time.Duration(n)) // jobs may ping once a year: n of them are more than a Duration holds
		latest, err := a.Results.LatestN(ctx, ids, n, a.Now().Add(-time.Duration(n)*interval-uptime.Expiry(interval)))
		if err != nil {
			return nil, err
		}
		maps.Copy(found, latest)
	}
	return found, nil
}

func ticksOf(rows []resultstore.Bar) []ResultTick {
	ticks := make([]ResultTick, len(rows))
	for i, r := range rows {
		ticks[i] = ResultTick{
			Region: r.Region, ScheduledAt: instant(r.ScheduledAt), CheckedAt: maybeInstant(r.CheckedAt), Status: r.Status.String(),
			Failure: string(r.Failure), Reason: string(r.Reason), HTTPStatus: r.HTTPStatus, TotalUS: r.TotalUS,
		}
	}
	return ticks
}
