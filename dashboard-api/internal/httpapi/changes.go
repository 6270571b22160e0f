package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/whatchanged"
)

// Turns tells where regions went from good to bad.
type Turns interface {
	Turns(ctx context.Context, targetID int64, from, to time.Time, blind map[string]availability.Spans) ([]resultstore.Turn, error)
}

type changedHeader struct {
	Name   string `json:"name"`
	Before string `json:"before" doc:"empty: it was not there"`
	After  string `json:"after"`
}

type differenceBody struct {
	What    string          `json:"what" enum:"failure,http_status,phase,target,address,certificate,issuer,expiry,redirect,tls,protocol,headers"`
	Before  string          `json:"before" doc:"empty: none; of a phase its time in µs, of headers a hash of those compared, of an expiry RFC 3339, of a target that was edited its version"`
	After   string          `json:"after"`
	Phase   string          `json:"phase" enum:",dns,connect,tls,wait,transfer" doc:"of the difference phase: which"`
	Ended   bool            `json:"ended" doc:"of the difference phase: the bad check ended in it; else its time grew most, to twice and by 100 ms at least"`
	Headers []changedHeader `json:"headers" nullable:"false" doc:"of the difference headers: those that differ, of the few that seldom change"`
}

type gapBody struct {
	What string `json:"what" enum:"address,certificate,redirect,headers" doc:"of certificate: nor are its issuer and expiry, and the version of TLS"`
	Why  string `json:"why" enum:"no_print,unsteady,no_evidence,not_reached,elsewhere" doc:"no_print: nothing is stored of what the good check saw; unsteady: it changed so often that it is not stored; no_evidence: nothing is stored of what the bad check saw; not_reached: the bad check ended before; elsewhere: it ended at another server than the good one, which the difference redirect tells"`
}

type regionChanges struct {
	Region      string               `json:"region"`
	Good        nullable[resultBody] `json:"good" doc:"the last good result before the first bad one; null: there is none in the week before it"`
	Bad         resultBody           `json:"bad" doc:"the first bad result"`
	Differences []differenceBody     `json:"differences" nullable:"false"`
	Unknown     []gapBody            `json:"unknown" nullable:"false" doc:"of what it is not known whether it changed"`
}

type changesBody struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made"`
	Missing    string            `json:"missing" enum:",no_target,not_kept,no_failure,by_policy" doc:"why there are no regions: the incident is about no target; results of its time are not kept any more; no region has a failing result in the first day of the incident; by_policy: nor has one of a degraded incident, whose results are up but slower or with less time on the certificate than the policy allows"`
	Regions    []regionChanges   `json:"regions" nullable:"false" doc:"those that failed in the first day of the incident, at most 20, those that failed first in front"`
}

// incidentChanges compares, for each region that failed, the last good result with the first bad one.
func (a *api) incidentChanges(ctx context.Context, in *IncidentPath) (*pastOutput[changesBody], error) {
	i, _, err := a.Incidents.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	missing := ""
	switch {
	case i.TargetID == 0:
		missing = "no_target"
	case i.FirstSlot.Before(a.Results.KeptSince()):
		missing = "not_kept"
	}
	if missing != "" {
		return &pastOutput[changesBody]{Status: http.StatusOK, Body: stored[changesBody]{value: changesBody{Missing: missing, Regions: []regionChanges{}}}}, nil
	}
	until := i.ResolvedAt
	if until.IsZero() {
		until = a.Now()
	}
	return past(ctx, a, fmt.Sprintf("changes %d %d", i.TargetID, i.ID), func(ctx context.Context) (changesBody, error) {
		body := changesBody{Regions: []regionChanges{}}
		blind, err := a.Blind.Blind(ctx, i.FirstSlot.Add(-resultstore.GoodWithin), until)
		if err != nil {
			return body, err
		}
		turns, err := a.Results.Turns(ctx, i.TargetID, i.FirstSlot, until, blind)
		if err != nil {
			return body, down(clickHouse, err)
		}
		switch {
		case len(turns) > 0:
		case i.Severity == incidentstore.Degraded:
			body.Missing = "by_policy"
		default:
			body.Missing = "no_failure"
		}
		for _, t := range turns {
			body.Regions = append(body.Regions, changesOf(uptime.Kind(i.Subject.Kind), t))
		}
		return body, nil
	})
}

func changesOf(kind uptime.Kind, t resultstore.Turn) regionChanges {
	body := regionChanges{Region: t.Bad.Region, Bad: resultOf(t.Bad), Differences: []differenceBody{}, Unknown: []gapBody{}}
	if t.Good == nil {
		return body
	}
	body.Good = some(resultOf(*t.Good))
	differences, gaps := whatchanged.Between(kind, t.Good, &t.Bad)
	for _, d := range differences {
		shown := differenceBody{What: string(d.What), Before: d.Before, After: d.After, Phase: d.Phase, Ended: d.Ended, Headers: []changedHeader{}}
		for _, h := range d.Headers {
			shown.Headers = append(shown.Headers, changedHeader(h))
		}
		body.Differences = append(body.Differences, shown)
	}
	for _, g := range gaps {
		body.Unknown = append(body.Unknown, gapBody{string(g.What), string(g.Why)})
	}
	return body
}
