package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// maxPeriods bounds the days or months of an answer.
const maxPeriods = 400

type regionFigures struct {
	Region string `json:"region"`
	Figures
}

type periodBody struct {
	Name    string          `json:"name" doc:"such as 2026-03-29, or 2026-03"`
	From    instant         `json:"from"`
	To      instant         `json:"to"`
	Partial bool            `json:"partial" doc:"the range cuts some of the day or month off"`
	State   string          `json:"state" enum:"up,degraded,down,unknown,no_data" doc:"down: the target as a whole was down at least once; degraded: it was slow or a region could not reach it; unknown: less than half was measured; no_data: nothing was due"`
	Folded  Figures         `json:"folded" doc:"of the target as a whole"`
	Regions []regionFigures `json:"regions" nullable:"false"`
}

type uptimeBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	From       instant           `json:"from"`
	To         instant           `json:"to"`
	Lacks
	Figures
	Zone    string          `json:"zone" doc:"IANA name of the zone of the days and months"`
	By      string          `json:"by" enum:"none,day,month"`
	Folded  Figures         `json:"folded" doc:"of the target as a whole, where all regions of one slot time count once: down when more than half of those that measured found it down. The figures outside are the sums of the regions, but downtime_minutes is that of the target as a whole"`
	Regions []regionFigures `json:"regions" nullable:"false"`
	Periods []periodBody    `json:"periods" nullable:"false" doc:"the days or months of the range, as long as each of them was"`
}

// ZoneOf is the zone of days and months.
type ZoneOf struct {
	Zone string `query:"zone" maxLength:"64" default:"UTC" doc:"IANA name of the time zone of days and months, such as Europe/Berlin"`
}

func (z ZoneOf) resolve() (*time.Location, error) {
	zone, err := availability.Zone(z.Zone)
	if err != nil {
		return nil, mistakes([]Mistake{{Parameter: "zone", Code: codeUnknownZone, Message: err.Error()}})
	}
	return zone, nil
}

func (a *api) uptime(ctx context.Context, in *struct {
	TargetPath
	Between
	ZoneOf
	By string `query:"by" enum:"none,day,month" default:"none" doc:"divide the range into days or months of the zone"`
}) (*pastOutput[uptimeBody], error) {
	now := a.Now()
	from, to, err := in.upTo(longestFigures, now)
	if err != nil {
		return nil, err
	}
	zone, err := in.ZoneOf.resolve()
	if err != nil {
		return nil, err
	}
	span := availability.Span{From: wholeMilli(from), To: wholeMilli(to)}
	periods := availability.Periods(span, zone, availability.By(in.By))
	if len(periods) > maxPeriods {
		return nil, mistakes([]Mistake{{Parameter: "by", Code: codeInvalidRange, Message: fmt.Sprintf("this makes %d periods; at most %d: take months, or a shorter range", len(periods), maxPeriods)}})
	}
	target, err := a.Targets.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	terms, err := a.terms(ctx, []uptime.Target{target}, span)
	if err != nil {
		return nil, err
	}
	question := fmt.Sprintf("uptime %d %s %s %s", in.ID, in.By, zone, window(from, to, now))
	return recent(ctx, a, about{question: question, targets: []int64{in.ID}, span: span, terms: termsOf(terms)}, func(ctx context.Context) (uptimeBody, error) {
		accounts, err := a.account(ctx, span, terms, periods)
		if err != nil {
			return uptimeBody{}, err
		}
		corrections, err := a.corrections(ctx, []int64{in.ID}, span)
		if err != nil {
			return uptimeBody{}, err
		}
		body := uptimeOf(accounts[in.ID], span, periods, corrections.of(in.ID).hours)
		body.From, body.To, body.Zone, body.By = instant(from), instant(to), zone.String(), in.By
		body.Lacks = a.lacks(span)
		return body, nil
	})
}

func uptimeOf(series map[string]*availability.Account, window availability.Span, periods []availability.Period, corrections []availability.Correction) uptimeBody {
	body := uptimeBody{Regions: []regionFigures{}, Periods: make([]periodBody, len(periods))}
	whole, regions := series[""], sortedRegions(series)
	for i, p := range periods {
		body.Periods[i] = periodBody{
			Name: p.Name, From: instant(p.From), To: instant(p.To), Partial: p.Partial, State: string(whole.ByPeriod[i].State()),
			Folded: figuresOf(whole.ByPeriod[i], revisedAt(corrections, "", p.Span)), Regions: []regionFigures{},
		}
	}
	revised := revisedAt(corrections, "", window)
	body.Folded = figuresOf(whole.Total, revised)
	for _, region := range regions {
		account, last := series[region], revisedAt(corrections, region, window)
		body.Regions = append(body.Regions, regionFigures{region, figuresOf(account.Total, last)})
		for i, p := range periods {
			body.Periods[i].Regions = append(body.Periods[i].Regions, regionFigures{region, figuresOf(account.ByPeriod[i], revisedAt(corrections, region, p.Span))})
		}
		if last.After(revised) {
			revised = last
		}
	}
	sum := acrossRegions(series, func(account *availability.Account) availability.Figures { return account.Total })
	body.Figures = figuresOf(sum, revised)
	return body
}
