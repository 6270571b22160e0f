package httpapi

import (
	"context"
	"fmt"
	"net/http"
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
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const (
	// knownIncidents is how many of a target are told.
	knownIncidents = 20
	// enoughSlots decide a state, and enoughCounted where results in a row count.
	enoughSlots   = 4
	enoughCounted = verdict.MaxThreshold + 6
	// windowsAhead is how far beyond an instant maintenance is laid out.
	windowsAhead = 48 * time.Hour
	// windowsBack is how far back it is laid out at most: slots of a target that is checked once a day reach as far.
	windowsBack = 92 * 24 * time.Hour
	allBlind    = 1 << 30 // more windows than there can be
	// maxRecalls is how many answers as of an instant a node works on at once, and stepOfReach how
	// much further back than it takes is read at most, so that targets share a question.
	maxRecalls  = 4
	stepOfReach = 4
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
	regions   []schedulestore.Regions
	windows   []maintenancestore.Window
	laid      maintenancestore.Laid
	blind     []verdict.Blindness
	learnt    []time.Time // when each of them was found out
}

// recall answers about an instant while ClickHouse does, a few at a time.
func recall[T any](ctx context.Context, a *api, ask func(context.Context) (T, error)) (out T, err error) {
	if !a.Fleet.HistoryOK() {
		return out, down(clickHouse, errNotAnswering)
	}
	if !a.recalling.TryAcquire(1) {
		return out, problem(http.StatusServiceUnavailable, codeUnavailable, "too many questions about the past are under way: try again").retryAfter(retryWhenDown)
	}
	defer a.recalling.Release(1)
	return whileAnswering(ctx, a.Fleet, ask)
}

// around tells what was known around targets: of blindness, as far as results count that are told.
func (a *api) around(ctx context.Context, targets []uptime.Target, at time.Time) (r around, err error) {
	r.at = at
	if r.schedules, err = a.Schedules.KnownAt(ctx, idsOf(targets), at); err != nil {
		return r, err
	}
	if r.regions, err = a.Schedules.RegionsUntil(ctx, at); err != nil {
		return r, err
	}
	reach := 24 * time.Hour
	for _, t := range targets {
		t, rules := r.as(t)
		reach = max(reach, countsFor(rules), (asknown.MostSlots+1)*t.Interval)
	}
	from := at.Add(-max(maintenance.MaxDuration, min(reach, windowsBack)))
	if r.windows, err = a.windowsKnown(ctx, from, at); err != nil {
		return r, err
	}
	r.laid = maintenancestore.Lay(r.windows, from, at.Add(windowsAhead))
	r.blind, r.learnt, err = a.blindKnown(ctx, at.Add(-reach), at)
	return r, err
}

// windowsKnown are those that were known at an instant, with who carried their tags since another.
func (a *api) windowsKnown(ctx context.Context, since, at time.Time) (known []maintenancestore.Window, err error) {
	windows, err := a.Maintenance.Holding(ctx, since)
	for _, w := range windows {
		if w, is := w.KnownAt(at); is {
			known = append(known, w)
		}
	}
	return known, err
}

// blindKnown is the blindness since an instant that was known at another, and since when each was.
func (a *api) blindKnown(ctx context.Context, since, at time.Time) (known []verdict.Blindness, learnt []time.Time, err error) {
	blind, err := a.Blind.List(ctx, blindstore.Filter{From: since, To: at.Add(time.Millisecond), Limit: allBlind})
	for _, w := range blind {
		if w.OpenedAt.After(at) {
			continue
		}
		if w.To.After(at) {
			w.To = time.Time{}
		}
		known, learnt = append(known, w.Blindness), append(learnt, w.OpenedAt)
	}
	return known, learnt, err
}

// as is a target as it was planned; what else it was is not kept.
func (r *around) as(t uptime.Target) (uptime.Target, verdict.Rules) {
	if s, found := r.schedules[t.ID]; found {
		t = planned(t, s.Schedule, s.VisitedSince)
	}
	return t, live.RulesOf(t, r.regions[len(r.regions)-1].Active)
}

func planned(t uptime.Target, s uptime.Schedule, since time.Time) uptime.Target {
	t.Interval, t.Regions, t.Active, t.VisitedSince = s.Interval, s.Regions, s.Active, since
	return t
}

// before is what a target was judged by since an instant, before it was as it was: by its schedules
// and the regions of those times.
func (r *around) before(t uptime.Target, since time.Time) (all []asknown.Earlier) {
	schedules := r.schedules[t.ID].Earlier
	var edges []time.Time
	for _, s := range schedules {
		edges = append(edges, s.Until)
	}
	for _, s := range r.regions[1:] {
		edges = append(edges, s.From)
	}
	slices.SortFunc(edges, time.Time.Compare)
	for _, edge := range slices.CompactFunc(edges, time.Time.Equal) {
		if !edge.After(since) || edge.After(r.at) {
			continue
		}
		then, _ := r.as(t)
		if i := slices.IndexFunc(schedules, func(s schedulestore.Earlier) bool { return !s.Until.Before(edge) }); i >= 0 {
			then = planned(t, schedules[i].Schedule, schedules[i].VisitedSince)
		}
		i := slices.IndexFunc(r.regions, func(s schedulestore.Regions) bool { return !s.From.Before(edge) })
		if i < 0 {
			i = len(r.regions)
		}
		all = append(all, asknown.Earlier{Until: edge, Rules: live.RulesOf(then, r.regions[max(0, i-1)].Active)})
	}
	return all
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

	maintained []verdict.Span // when it was
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
		if !slots {
			of.reach = stepped(of.reach)
		}
		readings[of], all[t.ID] = append(readings[of], t.ID), p
	}
	for of, ids := range readings {
		for chunk := range slices.Chunk(ids, idsPerQuestion) {
			rows, err := a.Results.Known(ctx, chunk, of.n, r.at.Add(-of.reach), r.at)
			if err != nil {
				return nil, down(clickHouse, err)
			}
			looks, err := a.pastLooks(ctx, rows, r.at.Add(-of.reach), r.at)
			if err != nil {
				return nil, err
			}
			for _, id := range chunk {
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				p := all[id]
				p.fold(r, rows[id], looks[id], nil)
				if silent := p.silent(); slots && len(silent) > 0 {
					older, err := a.Results.LastKnown(ctx, id, silent, p.target.CreatedAt, p.since, r.at)
					if err != nil {
						return nil, down(clickHouse, err)
					}
					p.fold(r, rows[id], looks[id], older)
				}
				all[id] = p
			}
		}
	}
	return all, nil
}

// stepped rounds a reach up to one of a few.
func stepped(reach time.Duration) time.Duration {
	step := 10 * time.Minute
	for step < reach {
		step *= stepOfReach
	}
	return step
}

// pastLooks are what regions saw that were asked to look again at what rows tell.
func (a *api) pastLooks(ctx context.Context, rows map[int64][]asknown.Row, from, to time.Time) (map[int64][]verdictstore.Confirmation, error) {
	var failed []int64
	for id, rows := range rows {
		if slices.ContainsFunc(rows, func(r asknown.Row) bool { return r.Known && r.Status == uptime.StatusDown }) {
			failed = append(failed, id)
		}
	}
	return a.Confirmations.ConfirmationsOf(ctx, failed, from, to, maxConfirmations)
}

// silent are the regions that were to check it, and of which no measurement was read.
func (p *pastTarget) silent() (regions []string) {
	for _, region := range p.rules.Regions {
		if !slices.ContainsFunc(p.Regions, func(r asknown.Row) bool { return r.Region == region }) {
			regions = append(regions, region)
		}
	}
	return regions
}

func (p *pastTarget) fold(r around, rows []asknown.Row, looks []verdictstore.Confirmation, older []asknown.Row) {
	id := p.target.ID
	past := asknown.Past{
		At: r.at, From: p.since, Born: p.target.CreatedAt.After(p.since), TargetID: id, Kind: p.target.Kind, Rules: p.rules, Earlier: r.before(p.target, p.since), PausedAt: p.schedule.PausedAt,
		Rows:   slices.DeleteFunc(rows, func(r asknown.Row) bool { return r.ScheduledAt.Before(p.since) }),
		Older:  older,
		Around: verdict.Conditions{Maintenance: r.laid.Of(id), Blind: r.blind}, Learnt: r.learnt,
	}
	if h := p.target.Spec.Heartbeat; h != nil {
		past.Grace = h.Grace()
	}
	for _, i := range p.incidents {
		if i.Open() {
			past.Incident = &asknown.Incident{State: verdict.State(i.Severity), Since: i.FirstSlot, Why: i.Cause.Explanation, Because: i.Cause.Because}
			break
		}
	}
	for _, c := range looks {
		if !c.CheckedAt.Before(p.since) && !p.rules.Former(c.Slot) {
			past.Looks = append(past.Looks, uptime.Look{Region: c.Region, CheckedAt: c.CheckedAt, Status: c.Status, Failure: c.Failure, HTTPStatus: c.HTTPStatus, TotalUS: c.TotalUS, Message: c.Message})
		}
	}
	p.Told, p.maintained = asknown.Fold(past), past.Around.Maintenance
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
	return recall(ctx, a, func(ctx context.Context) (*knownOutput, error) { return a.pastTarget(ctx, target, at) })
}

func (a *api) pastTarget(ctx context.Context, target uptime.Target, at time.Time) (*knownOutput, error) {
	r, err := a.around(ctx, []uptime.Target{target}, at)
	if err != nil {
		return nil, err
	}
	_, rules := r.as(target)
	if _, err = a.instantOf(at, "target", target.CreatedAt, countsFor(rules)); err != nil {
		return nil, err
	}
	found, err := a.Incidents.List(ctx, incidentstore.Filter{TargetID: target.ID, To: at.Add(time.Millisecond), Limit: knownIncidents})
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
	return &knownOutput{knownTargetOf(all[target.ID], at, a.Now())}, nil
}
