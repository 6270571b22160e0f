package httpapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	// knownIncidents is how many of a target are told.
	knownIncidents = 20
	// enoughSlots decide a state, and enoughCounted where results in a row count.
	enoughSlots   = 4
	enoughCounted = verdict.MaxThreshold + 6
	// windowsAhead is how far beyond an instant maintenance is laid out.
	windowsAhead = 48 * time.Hour
	allBlind     = 1 << 30 // more windows than there can be
)

// AsKnownAt names an instant of the past. (Huma passes over embedded types that are not exported.)
type AsKnownAt struct {
	At time.Time `query:"at" required:"true" doc:"RFC 3339, not in the future; to the millisecond"`
}

// instantOf judges an instant: what is asked for must have been there, and its results are to be
// there still. The clocks of readers who mean now may be a little ahead.
func (a *api) instantOf(at time.Time, what string, created time.Time, reach time.Duration) (time.Time, error) {
	refuse := func(format string, args ...any) (time.Time, error) {
		return at, mistakes([]Mistake{{Parameter: "at", Code: codeInvalidRange, Message: fmt.Sprintf(format, args...)}})
	}
	now := a.Now()
	if at.After(now.Add(sameNow)) {
		return refuse("at is in the future: the newest that is known is of %s", stamp(now))
	}
	if at.After(now) {
		at = now
	}
	at = at.UTC().Truncate(time.Millisecond)
	kept := a.Results.KeptSince().Add(reach)
	switch {
	case at.Before(created):
		return refuse("there was no such %s yet: the first instant that can be told is %s", what, stamp(later(created, kept)))
	case at.Before(kept):
		return refuse("results of then are not kept any more: the first instant that can be told is %s", stamp(later(created, kept)))
	}
	return at, nil
}

// stamp writes the first whole second from an instant on.
func stamp(t time.Time) string {
	whole := t.UTC().Truncate(time.Second)
	if whole.Before(t) {
		whole = whole.Add(time.Second)
	}
	return whole.Format(time.RFC3339)
}

// around is what was known at an instant besides the results of targets.
type around struct {
	at        time.Time
	schedules map[int64]schedulestore.Known
	active    []string // regions
	windows   []maintenancestore.Window
	laid      maintenancestore.Laid
	blind     []verdict.Blindness
}

func (a *api) around(ctx context.Context, ids []int64, at time.Time) (r around, err error) {
	r.at = at
	if r.schedules, err = a.Schedules.KnownAt(ctx, ids, at); err != nil {
		return r, err
	}
	if r.active, err = a.Schedules.RegionsAt(ctx, at); err != nil {
		return r, err
	}
	from := at.Add(-maintenance.MaxDuration)
	windows, err := a.Maintenance.Holding(ctx, from)
	if err != nil {
		return r, err
	}
	for _, w := range windows {
		if w, is := w.KnownAt(at); is {
			r.windows = append(r.windows, w)
		}
	}
	r.laid = maintenancestore.Lay(r.windows, from, at.Add(windowsAhead))
	blind, err := a.Blind.List(ctx, blindstore.Filter{From: from, To: at.Add(time.Millisecond), Limit: allBlind})
	if err != nil {
		return r, err
	}
	for _, w := range blind {
		if w.OpenedAt.After(at) {
			continue
		}
		if w.To.After(at) {
			w.To = time.Time{}
		}
		r.blind = append(r.blind, w.Blindness)
	}
	return r, nil
}

// as is a target as it was planned; what else it was is not kept.
func (r *around) as(t uptime.Target) (uptime.Target, verdict.Rules) {
	if s, found := r.schedules[t.ID]; found {
		t.Interval, t.Regions, t.Active = s.Interval, s.Regions, s.Active
	}
	return t, live.RulesOf(t, r.active)
}

// countsFor is for how long a measurement counts.
func countsFor(rules verdict.Rules) time.Duration {
	return rules.FreshUntil(time.Time{}).Sub(time.Time{})
}

// pastTarget is a target as it was known.
type pastTarget struct {
	asknown.Told
	target    uptime.Target
	rules     verdict.Rules
	schedule  schedulestore.Known
	incidents []incidentstore.Incident // the newest first
	since     time.Time                // results from then on were looked at
}

// pastTargets folds targets as they were known, with as many of the newest slots as it takes, or
// asknown.MostSlots if they are to be told.
func (a *api) pastTargets(ctx context.Context, targets []uptime.Target, r around, incidents map[int64][]incidentstore.Incident, slots bool) (map[int64]pastTarget, error) {
	type reading struct {
		n     int
		reach time.Duration
	}
	readings := map[reading][]int64{}
	all := make(map[int64]pastTarget, len(targets))
	for _, t := range targets {
		p := pastTarget{schedule: r.schedules[t.ID], incidents: incidents[t.ID]}
		p.target, p.rules = r.as(t)
		of := reading{enoughSlots, countsFor(p.rules)}
		if p.rules.Policy.Counts() {
			of = reading{enoughCounted, max(of.reach, enoughCounted*p.rules.Interval)}
		}
		if slots {
			of = reading{asknown.MostSlots, max(of.reach, (asknown.MostSlots+1)*p.rules.Interval)}
		}
		p.since = later(r.at.Add(-of.reach), a.Results.KeptSince()).UTC()
		readings[of], all[t.ID] = append(readings[of], t.ID), p
	}
	for of, ids := range readings {
		for chunk := range slices.Chunk(ids, idsPerQuestion) {
			rows, err := a.Results.Known(ctx, chunk, of.n, r.at.Add(-of.reach), r.at)
			if err != nil {
				return nil, down(clickHouse, err)
			}
			for _, id := range chunk {
				p := all[id]
				if err := a.foldPast(ctx, &p, r, rows[id]); err != nil {
					return nil, err
				}
				all[id] = p
			}
		}
	}
	return all, nil
}

func (a *api) foldPast(ctx context.Context, p *pastTarget, r around, rows []asknown.Row) error {
	id := p.target.ID
	past := asknown.Past{
		At: r.at, From: p.since, TargetID: id, Kind: p.target.Kind, Rules: p.rules, PausedAt: p.schedule.PausedAt, Rows: rows,
		Around: verdict.Conditions{Maintenance: r.laid.Of(id), Blind: r.blind},
	}
	if h := p.target.Spec.Heartbeat; h != nil {
		past.Grace = h.Grace()
	}
	for _, i := range p.incidents {
		if i.Open() {
			past.Incident = &asknown.Incident{State: verdict.State(i.Severity), Since: i.FirstSlot, Why: i.Cause.Explanation}
			break
		}
	}
	if slices.ContainsFunc(rows, func(r asknown.Row) bool { return r.Known && r.Status == uptime.StatusDown }) {
		looks, err := a.Confirmations.Confirmations(ctx, id, r.at.Add(-countsFor(p.rules)), r.at, maxConfirmations)
		if err != nil {
			return err
		}
		for _, c := range looks {
			past.Looks = append(past.Looks, uptime.Look{Region: c.Region, CheckedAt: c.CheckedAt, Status: c.Status, Failure: c.Failure, HTTPStatus: c.HTTPStatus, TotalUS: c.TotalUS, Message: c.Message})
		}
	}
	p.Told = asknown.Fold(past)
	return nil
}

// knownOf gives incidents as they were told at an instant, by target.
func (a *api) knownOf(ctx context.Context, found []incidentstore.Incident, at time.Time) (map[int64][]incidentstore.Incident, error) {
	ids := make([]int64, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	decisions, err := a.Incidents.Decisions(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := map[int64][]incidentstore.Incident{}
	for _, i := range found {
		if then, is := i.KnownAt(decisions[i.ID], at); is {
			all[i.TargetID] = append(all[i.TargetID], then)
		}
	}
	return all, nil
}

type knownOutput struct{ Body knownTargetBody }

func (a *api) knownTarget(ctx context.Context, in *struct {
	TargetPath
	AsKnownAt
}) (*knownOutput, error) {
	target, err := a.Targets.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	at, err := a.instantOf(in.At, "target", target.CreatedAt, 0)
	if err != nil {
		return nil, err
	}
	r, err := a.around(ctx, []int64{in.ID}, at)
	if err != nil {
		return nil, err
	}
	_, rules := r.as(target)
	if _, err = a.instantOf(at, "target", target.CreatedAt, countsFor(rules)); err != nil {
		return nil, err
	}
	found, err := a.Incidents.List(ctx, incidentstore.Filter{TargetID: in.ID, To: at.Add(time.Millisecond), Limit: knownIncidents})
	if err != nil {
		return nil, err
	}
	incidents, err := a.knownOf(ctx, found, at)
	if err != nil {
		return nil, err
	}
	all, err := a.pastTargets(ctx, []uptime.Target{target}, r, incidents, true)
	if err != nil {
		return nil, err
	}
	return &knownOutput{knownTargetOf(all[in.ID], at, a.Now())}, nil
}
