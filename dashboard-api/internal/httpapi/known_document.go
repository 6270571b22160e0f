package httpapi

import (
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/verdict"
)

// limitBody is something that cannot be told of the past.
type limitBody struct {
	Code string `json:"code" enum:"target_changed,rows_lost,counted,unsettled,unaccounted,slots_cut,parent,page_changed,posts_edited,posts_removed,targets_removed,incidents_cut,days_corrected"`
	Text string `json:"text"`
}

const unsettled = "Results of then may still be on their way: asked again in some minutes, this may tell more."

type plannedBody struct {
	ID        int64    `json:"id"`
	Name      string   `json:"name" doc:"of now"`
	URL       string   `json:"url" doc:"of now"`
	Kind      string   `json:"kind"`
	IntervalS int64    `json:"interval_s" doc:"as it was"`
	Regions   []string `json:"regions" nullable:"false" doc:"as they were; empty: every region"`
	Active    bool     `json:"active" doc:"as it was"`
}

// knownRow is what was known of a slot in a region.
type knownRow struct {
	Region     string            `json:"region"`
	Known      bool              `json:"known" doc:"false: nothing of it was known then, or what was is not kept: it came, or was revised, later"`
	Status     string            `json:"status" enum:"up,degraded,down,unknown,missed," doc:"empty of what was not known"`
	Failure    string            `json:"failure"`
	Reason     string            `json:"reason"`
	HTTPStatus int               `json:"http_status"`
	TotalUS    uint32            `json:"total_us"`
	KnownAt    nullable[instant] `json:"known_at" doc:"when it was told; of a slot that a sweep explained, not before then"`
	LaterAt    nullable[instant] `json:"later_at" doc:"when something else was told of the slot, or something at all; null: nothing has been"`
}

type knownSlot struct {
	At   instant    `json:"at"`
	Rows []knownRow `json:"rows" nullable:"false"`
}

type knownStretch struct {
	From instant           `json:"from"`
	To   nullable[instant] `json:"to" doc:"null: it had no end yet"`
}

type knownRegion struct {
	Region      string            `json:"region"`
	Status      string            `json:"status" enum:"up,degraded,down"`
	Failure     string            `json:"failure"`
	HTTPStatus  int               `json:"http_status"`
	ScheduledAt instant           `json:"scheduled_at"`
	CheckedAt   nullable[instant] `json:"checked_at"`
	TotalUS     uint32            `json:"total_us"`
	Fresh       bool              `json:"fresh"`
	KnownAt     instant           `json:"known_at"`
}

type knownTargetBody struct {
	At            instant           `json:"at"`
	Target        plannedBody       `json:"target"`
	State         string            `json:"state" enum:"up,degraded,down,maintenance,no_data,paused"`
	Since         nullable[instant] `json:"since" doc:"null: since before looked_from"`
	Why           string            `json:"why"`
	Because       []verdict.Clause  `json:"because,omitempty" nullable:"false" doc:"what why says, for pages in other languages"`
	Basis         string            `json:"basis" enum:"results,incident" doc:"incident: results that counted then are not kept, or results in a row count, so that what was decided stands"`
	LastResultAt  nullable[instant] `json:"last_result_at" doc:"newest measured slot"`
	FreshUntil    nullable[instant] `json:"fresh_until"`
	SilentRegions []string          `json:"silent_regions" nullable:"false"`
	BlindRegions  []string          `json:"blind_regions" nullable:"false" doc:"that were known to be"`
	RegionStates  []knownRegion     `json:"region_states" nullable:"false" doc:"the newest measurement of each region"`
	Maintained    []knownStretch    `json:"maintained" nullable:"false" doc:"when it was maintained, as far back as slots are told, as was known then: what they came to then does not count"`
	Slots         []knownSlot       `json:"slots" nullable:"false" doc:"at most 90, the oldest first"`
	Incidents     []Incident        `json:"incidents" nullable:"false" doc:"the newest 20 that had been found, the newest first, as they were told; group_id is always null"`
	LookedFrom    instant           `json:"looked_from" doc:"results from then on were looked at"`
	Limits        []limitBody       `json:"limits" nullable:"false" doc:"what cannot be told"`
}

func knownTargetOf(p pastTarget, at, now time.Time) knownTargetBody {
	t := p.target
	body := knownTargetBody{
		At: instant(at), Target: plannedBody{t.ID, t.Name, t.URL, string(t.Kind), int64(t.Interval / time.Second), orEmpty(t.Regions), t.Active},
		State: string(p.State), Since: maybeInstant(p.Since), Why: p.Why, Because: p.Because, Basis: "results", LastResultAt: maybeInstant(p.LastResultAt), FreshUntil: maybeInstant(p.FreshUntil),
		SilentRegions: orEmpty(p.SilentRegions), BlindRegions: orEmpty(p.BlindRegions), RegionStates: []knownRegion{}, Maintained: []knownStretch{}, Slots: []knownSlot{}, Incidents: []Incident{}, LookedFrom: instant(p.since), Limits: []limitBody{},
	}
	for _, r := range p.Regions {
		body.RegionStates = append(body.RegionStates, knownRegion{
			r.Region, r.Status.String(), string(r.Failure), r.HTTPStatus, instant(r.ScheduledAt), maybeInstant(r.CheckedAt), r.TotalUS, !p.rules.FreshUntil(r.ScheduledAt).Before(at), instant(r.IngestedAt),
		})
	}
	for _, s := range p.maintained {
		if len(p.Slots) > 0 && !s.From.After(at) && (s.To.IsZero() || s.To.After(p.Slots[0][0].ScheduledAt)) {
			body.Maintained = append(body.Maintained, knownStretch{instant(s.From), maybeInstant(s.To)})
		}
	}
	for _, rows := range p.Slots {
		slot := knownSlot{At: instant(rows[0].ScheduledAt)}
		for _, r := range rows {
			slot.Rows = append(slot.Rows, knownRowOf(r))
		}
		body.Slots = append(body.Slots, slot)
	}
	for _, i := range p.incidents {
		body.Incidents = append(body.Incidents, NewIncident(i, at))
	}
	limit := func(code, format string, args ...any) {
		body.Limits = append(body.Limits, limitBody{code, fmt.Sprintf(format, args...)})
	}
	if changed := p.schedule.ChangedAt; !changed.IsZero() {
		limit("target_changed", "The target was changed after that, first at %s: its name, address, time limit and rule are those of now. Its interval, its regions and whether it was paused are as they were.", stamp(changed))
	}
	if p.Decided {
		body.Basis = "incident"
	}
	switch {
	case p.Lost && p.Decided:
		limit("rows_lost", "Results that counted then were revised later, and what they said is not kept: the state is that of the incident.")
	case p.Lost:
		limit("rows_lost", "Results that may have counted then came, or were revised, later, and what was known of them is not kept: the state is told without them.")
	case p.Decided:
		limit("counted", "Results in a row count, and older ones than are looked at here may have mattered: the state is that of the incident.")
	}
	if now.Sub(at) < asknown.SettledAfter(p.rules.Interval) {
		limit("unsettled", unsettled)
	}
	if at.Sub(p.since) < (asknown.MostSlots+1)*p.rules.Interval {
		limit("slots_cut", "Results before %s are not kept: there may have been slots before.", stamp(p.since))
	}
	if t.ParentID != 0 {
		limit("parent", "Whether what it depends on was down is not told here.")
	}
	return body
}

func knownRowOf(r asknown.Row) knownRow {
	row := knownRow{Region: r.Region, Known: r.Known, LaterAt: maybeInstant(r.LaterAt)}
	if r.Known {
		row.Status, row.Failure, row.Reason, row.HTTPStatus, row.TotalUS, row.KnownAt = r.Status.String(), string(r.Failure), string(r.Reason), r.HTTPStatus, r.TotalUS, maybeInstant(r.IngestedAt)
	}
	return row
}
