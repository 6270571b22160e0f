package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const reportPath = "/api/v1/reports/{month}"

// What a report is answered as.
const (
	mediaJSON = "application/json"
	mediaCSV  = "text/csv"
)

func reportMedia() map[string]reflect.Type {
	return map[string]reflect.Type{mediaJSON: typeOf[reportBody](), mediaCSV: typeOf[string]()}
}

type incidentBody struct {
	From            instant `json:"from" doc:"to the quarter hour"`
	To              instant `json:"to" doc:"to the quarter hour"`
	DownSlots       uint64  `json:"down_slots"`
	DowntimeMinutes float64 `json:"downtime_minutes"`
}

type countsBody struct {
	Up       uint64 `json:"up"`
	Degraded uint64 `json:"degraded"`
	Down     uint64 `json:"down"`
	Unknown  uint64 `json:"unknown"`
	Missed   uint64 `json:"missed"`
}

type correctionBody struct {
	Region    string     `json:"region" doc:"empty for the target as a whole"`
	Hour      instant    `json:"hour"`
	RevisedAt instant    `json:"revised_at"`
	Old       countsBody `json:"old"`
	New       countsBody `json:"new"`
}

type targetReportBody struct {
	TargetID    int64            `json:"target_id"`
	Name        string           `json:"name"`
	Folded      Figures          `json:"folded" doc:"of the target as a whole"`
	Regions     []regionFigures  `json:"regions" nullable:"false"`
	Incidents   []incidentBody   `json:"incidents" nullable:"false" doc:"when the target as a whole was down"`
	Corrections []correctionBody `json:"corrections" nullable:"false" doc:"hours that changed after they had closed, the newest 1000 changes; they are not part of the content that is hashed"`
}

type reportBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Month      string            `json:"month"`
	Zone       string            `json:"zone"`
	From       instant           `json:"from"`
	To         instant           `json:"to"`
	Lacks
	Complete    bool               `json:"complete" doc:"the month is over, its last hour has closed and every slot that was due has its row: only a correction changes it now"`
	ContentHash string             `json:"content_hash" doc:"of the figures and incidents: made again from the results it is the same"`
	Targets     []targetReportBody `json:"targets" nullable:"false" doc:"by id"`
}

type reportOutput struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	Disposition  string `header:"Content-Disposition"`
	Age          string `header:"Age" doc:"seconds since it was made, if it was not made for this request"`
	Stale        string `header:"X-Probefleet-Stale" doc:"on a copy: since=INSTANT when it was made; ClickHouse does not answer now"`
	ETag         string `header:"ETag" doc:"of application/json: with If-None-Match the answer is 304 while it is the same; a copy has none"`
	CacheControl string `header:"Cache-Control"`
	Vary         string `header:"Vary"`
	Hash         string `header:"X-Content-Hash" doc:"of text/csv: content_hash"`
	Body         []byte
}

func (a *api) report(ctx context.Context, in *struct {
	Month string `path:"month" doc:"such as 2026-03"`
	ZoneOf
	Format string  `query:"format" enum:"json,csv" default:"json" doc:"csv has one line per target and region, and comes from ClickHouse alone: there is no copy of it"`
	IDs    []int64 `query:"ids" maxItems:"1000" doc:"targets, comma separated; by default all there are"`
}) (*reportOutput, error) {
	zone, err := in.resolve()
	if err != nil {
		return nil, err
	}
	month, err := availability.Month(in.Month, zone)
	if err != nil {
		return nil, mistakes([]Mistake{{Parameter: "month", Code: codeInvalidParameter, Message: err.Error()}})
	}
	targets, err := a.reported(ctx, in.IDs)
	if err != nil {
		return nil, err
	}
	terms, err := a.terms(ctx, targets, month.Span)
	if err != nil {
		return nil, err
	}
	for id, t := range terms {
		t.Grain = availability.Quarter // rollups know no more, and a report must not depend on what it is made from
		terms[id] = t
	}
	question := fmt.Sprint("report ", month.Name, " ", zone, " ", idsOf(targets))
	compile := func(ctx context.Context) (reportBody, error) {
		return a.compile(ctx, month, zone.String(), targets, terms)
	}
	if in.Format != "csv" {
		out, err := recent(ctx, a, about{question: question, targets: idsOf(targets), span: month.Span, terms: termsOf(terms)}, compile)
		if err != nil {
			return nil, err
		}
		answer := &reportOutput{Status: out.Status, ContentType: mediaJSON, Age: out.Age, Stale: out.Stale, ETag: out.ETag, CacheControl: out.CacheControl, Vary: out.Vary}
		if out.Status == http.StatusOK {
			answer.Body = out.Body.raw
		}
		return answer, nil
	}
	if !a.Fleet.HistoryOK() {
		return nil, unavailable(clickHouse)
	}
	made, err := whileAnswering(ctx, a.Fleet, compile)
	if err != nil {
		return nil, err
	}
	return &reportOutput{
		Status: http.StatusOK, ContentType: mediaCSV + "; charset=utf-8", Disposition: `attachment; filename="probefleet-` + month.Name + `.csv"`, Hash: made.ContentHash, Body: reportCSV(made),
	}, nil
}

// reported are the targets of a report, by id: those asked for, or all.
func (a *api) reported(ctx context.Context, ids []int64) (all []uptime.Target, err error) {
	if len(ids) > 0 {
		if all, err = a.Targets.ByIDs(ctx, ids); err != nil {
			return nil, err
		}
		return all, unknownIDs(ids, all)
	}
	const page = 1000
	for after := int64(0); ; after = all[len(all)-1].ID {
		targets, err := a.Targets.List(ctx, targetstore.Filter{AfterID: after, Limit: page})
		if err != nil {
			return nil, err
		}
		if all = append(all, targets...); len(targets) < page {
			return all, nil
		}
	}
}

// unknownIDs is the problem of asking for targets that are not there: a sum over fewer than
// were asked for looks like that of all. Nil when all are there.
func unknownIDs(ids []int64, there []uptime.Target) error {
	var gone []Mistake
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if !slices.ContainsFunc(there, func(target uptime.Target) bool { return target.ID == id }) {
			gone = append(gone, Mistake{Parameter: "ids", Code: codeInvalidParameter, Message: fmt.Sprintf("there is no target %d", id)})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return mistakes(gone)
}

// compile makes a report. Incidents take a closer look at those targets that were down.
func (a *api) compile(ctx context.Context, month availability.Period, zone string, targets []uptime.Target, terms map[int64]availability.Terms) (reportBody, error) {
	accounts, err := a.account(ctx, month.Span, terms, nil)
	if err != nil {
		return reportBody{}, err
	}
	down := map[int64]availability.Terms{}
	for id, series := range accounts {
		if series[""].Total.Down > 0 {
			down[id] = terms[id]
		}
	}
	quarters := map[int64][]availability.Cell{}
	closer := resultstore.CellQuery{From: month.From, To: month.To, Width: availability.Quarter, Whole: true}
	if err := a.cells(ctx, down, nil, closer, func(id int64, _ string, c availability.Cell) { quarters[id] = append(quarters[id], c) }); err != nil {
		return reportBody{}, err
	}
	corrections, err := a.corrections(ctx, idsOf(targets), month.Span)
	if err != nil {
		return reportBody{}, err
	}
	content := availability.Report{Month: month, Zone: zone, Targets: make([]availability.TargetReport, len(targets))}
	body := reportBody{Month: month.Name, Zone: zone, From: instant(month.From), To: instant(month.To), Lacks: a.lacks(month.Span), Complete: availability.Closed(month.To, a.Now()) && a.Standing.Settled(month.To), Targets: make([]targetReportBody, len(targets))}
	for i, target := range targets {
		one := availability.TargetReport{TargetID: target.ID, Incidents: terms[target.ID].In("").Incidents(quarters[target.ID])}
		for region, account := range accounts[target.ID] {
			one.Series = append(one.Series, availability.Series{Region: region, Figures: account.Total})
		}
		content.Targets[i] = one
		body.Targets[i] = targetReportOf(target, accounts[target.ID], one.Incidents, corrections.of(target.ID), month.Span)
	}
	body.ContentHash = content.Hash()
	return body, nil
}

func targetReportOf(target uptime.Target, series map[string]*availability.Account, incidents []availability.Incident, corrected corrected, month availability.Span) targetReportBody {
	corrections, revised := corrected.told, corrected.hours
	body := targetReportBody{
		TargetID: target.ID, Name: target.Name, Folded: figuresOf(series[""].Total, revisedAt(revised, "", month)),
		Regions: []regionFigures{}, Incidents: make([]incidentBody, len(incidents)), Corrections: make([]correctionBody, len(corrections)),
	}
	for _, region := range sortedRegions(series) {
		body.Regions = append(body.Regions, regionFigures{region, figuresOf(series[region].Total, revisedAt(revised, region, month))})
	}
	for i, one := range incidents {
		body.Incidents[i] = incidentBody{instant(one.From), instant(one.To), one.Slots, availability.Figures{Downtime: one.Downtime}.DowntimeMinutes()}
	}
	for i, c := range corrections {
		body.Corrections[i] = correctionBody{c.Region, instant(c.Hour), instant(c.RevisedAt), countsBody(c.Old), countsBody(c.New)}
	}
	return body
}
