package httpapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	figuresPath = "/api/v1/targets:figures"

	// figuresSpan is the longer window of the figures of many targets, figuresDay the shorter.
	figuresSpan = 30 * 24 * time.Hour
	figuresDay  = 24 * time.Hour

	// certificateSpan is how far back a certificate is looked for whose target has shown none since.
	certificateSpan = 48 * time.Hour
)

// RowFigures are what a line about a target has room for.
type RowFigures struct {
	Uptime   nullable[float64] `json:"uptime" doc:"as uptime in the answer of getUptime; null when nothing was measured"`
	Coverage nullable[float64] `json:"coverage" doc:"measured / planned; null when nothing was planned"`
}

type targetFiguresBody struct {
	TargetID     int64             `json:"target_id"`
	Last24h      RowFigures        `json:"last_24h"`
	Last30d      RowFigures        `json:"last_30d"`
	CertNotAfter nullable[instant] `json:"cert_not_after" doc:"when the certificate ends that was seen last, the first to end where regions saw several; null when none was seen in the last checks or, of a target that fails, in the last 48 hours"`
}

type figuresPage struct {
	Lacks
	StaleSince nullable[instant]   `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Items      []targetFiguresBody `json:"items" nullable:"false" doc:"by id; those that are gone are left out"`
}

// figuresOfMany are what lists of targets show of each, in as few questions as their terms allow.
func (a *api) figuresOfMany(ctx context.Context, in *struct {
	IDs []int64 `query:"ids" required:"true" minItems:"1" maxItems:"100" doc:"targets, comma separated"`
}) (*pastOutput[figuresPage], error) {
	targets, err := a.Targets.ByIDs(ctx, in.IDs)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(targets, func(a, b uptime.Target) int { return int(a.ID - b.ID) })
	ids := idsOf(targets)
	now := wholeMilli(a.Now())
	span := availability.Span{From: now.Add(-figuresSpan), To: now}
	terms, err := a.terms(ctx, targets, span)
	if err != nil {
		return nil, err
	}
	return recent(ctx, a, about{question: fmt.Sprint("figures ", ids), targets: ids, span: span, terms: termsOf(terms)}, func(ctx context.Context) (figuresPage, error) {
		page := figuresPage{Lacks: a.lacks(span), Items: make([]targetFiguresBody, len(targets))}
		if len(targets) == 0 {
			return page, nil
		}
		day := availability.Period{Span: availability.Span{From: now.Add(-figuresDay), To: now}}
		accounts, err := a.account(ctx, span, terms, []availability.Period{day})
		if err != nil {
			return page, err
		}
		ends, err := a.certificates(ctx, targets, now)
		if err != nil {
			return page, err
		}
		for i, target := range targets {
			series := accounts[target.ID]
			page.Items[i] = targetFiguresBody{
				TargetID:     target.ID,
				Last24h:      rowFigures(acrossRegions(series, func(account *availability.Account) availability.Figures { return account.ByPeriod[0] })),
				Last30d:      rowFigures(acrossRegions(series, func(account *availability.Account) availability.Figures { return account.Total })),
				CertNotAfter: maybeInstant(ends[target.ID]),
			}
		}
		return page, nil
	})
}

func rowFigures(f availability.Figures) RowFigures {
	return RowFigures{Uptime: ratio(f.Uptime()), Coverage: ratio(f.Coverage())}
}

// acrossRegions sums up a target: what its regions came to, but with the downtime of the target as a whole.
func acrossRegions(series map[string]*availability.Account, of func(*availability.Account) availability.Figures) (sum availability.Figures) {
	for region, account := range series {
		if region != "" {
			sum = sum.Add(of(account))
		}
	}
	sum.Downtime = of(series[""]).Downtime
	return sum
}

// certificates are when those end that the targets showed last. A failed check often saw none:
// where no region got through, what was seen before counts.
func (a *api) certificates(ctx context.Context, targets []uptime.Target, now time.Time) (map[int64]time.Time, error) {
	rows, err := a.Results.Newest(ctx, idsOf(targets))
	if err != nil {
		return nil, down(clickHouse, err)
	}
	newest := map[int64]time.Time{}
	for _, r := range rows {
		newest[r.TargetID] = later(newest[r.TargetID], r.ScheduledAt)
	}
	byID := make(map[int64]uptime.Target, len(targets))
	for _, target := range targets {
		byID[target.ID] = target
	}
	ends, through := map[int64]time.Time{}, map[int64]bool{}
	for _, r := range rows {
		target := byID[r.TargetID]
		if r.ScheduledAt.Before(newest[r.TargetID].Add(-2*target.Interval - target.Timeout)) {
			continue // of a region that checks it no more
		}
		through[r.TargetID] = through[r.TargetID] || r.Status == uptime.StatusUp || r.Status == uptime.StatusDegraded
		noteEnd(ends, r.TargetID, r.CertNotAfter)
	}
	var unseen []int64
	for _, target := range targets {
		if ends[target.ID].IsZero() && !through[target.ID] && !newest[target.ID].IsZero() {
			unseen = append(unseen, target.ID)
		}
	}
	if len(unseen) == 0 {
		return ends, nil
	}
	before, err := a.Results.Certificates(ctx, unseen, now.Add(-certificateSpan))
	if err != nil {
		return nil, down(clickHouse, err)
	}
	for id, end := range before {
		noteEnd(ends, id, end)
	}
	return ends, nil
}

// noteEnd keeps the first to end.
func noteEnd(ends map[int64]time.Time, id int64, end time.Time) {
	if at := ends[id]; !end.IsZero() && (at.IsZero() || end.Before(at)) {
		ends[id] = end
	}
}
