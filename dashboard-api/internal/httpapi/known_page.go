package httpapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// knownPosts is how many posts of a page are looked through.
const knownPosts = 1000

type knownDay struct {
	Name        string  `json:"name"`
	State       string  `json:"state" enum:"up,degraded,down,maintenance,no_data"`
	DownMinutes float64 `json:"down_minutes"`
}

type knownComponent struct {
	ID            int64            `json:"id"`
	Name          string           `json:"name"`
	Description   string           `json:"description"`
	State         string           `json:"state" enum:"up,degraded,down,maintenance,no_data"`
	Manual        bool             `json:"manual" doc:"somebody says it: it is that of now, and no_data if the page was changed since"`
	UptimePercent nullable[string] `json:"uptime_percent"`
	Days          []knownDay       `json:"days" nullable:"false" doc:"90 up to the instant, the oldest first; empty: nothing is counted"`
}

type knownGroup struct {
	Name       string           `json:"name"`
	State      string           `json:"state"`
	Components []knownComponent `json:"components" nullable:"false"`
}

type knownSaid struct {
	At    instant `json:"at"`
	State string  `json:"state"`
	Text  string  `json:"text" doc:"plain"`
}

type knownEvent struct {
	ID         string            `json:"id"`
	Title      string            `json:"title" doc:"empty: an incident of its targets, named by its components"`
	Kind       string            `json:"kind" enum:"incident,announcement"`
	Impact     string            `json:"impact"`
	Components []string          `json:"components" nullable:"false"`
	State      string            `json:"state"`
	BegunAt    instant           `json:"begun_at"`
	ResolvedAt nullable[instant] `json:"resolved_at"`
	Updates    []knownSaid       `json:"updates" nullable:"false" doc:"the newest first"`
}

type knownWindow struct {
	Name       string   `json:"name"`
	Active     bool     `json:"active"`
	From       instant  `json:"from"`
	To         instant  `json:"to"`
	Components []string `json:"components" nullable:"false"`
}

type knownPageBody struct {
	At     instant       `json:"at"`
	ID     int64         `json:"id"`
	Slug   string        `json:"slug"`
	Title  string        `json:"title"`
	State  string        `json:"state" doc:"of the page as a whole; empty when it shows nothing"`
	Groups []knownGroup  `json:"groups" nullable:"false"`
	Events []knownEvent  `json:"events" nullable:"false" doc:"what people had written, and incidents if the page shows them; the newest first"`
	Maint  []knownWindow `json:"maintenance" nullable:"false" doc:"that was known, the next first"`
	Limits []limitBody   `json:"limits" nullable:"false" doc:"what cannot be told"`
}

type knownPageOutput struct{ Body knownPageBody }

// knownPage tells members what a page said. Its readers are not told: what was public then, and to
// whom, is not kept.
func (a *api) knownPage(ctx context.Context, in *struct {
	StatusPagePath
	AsKnownAt
}) (*knownPageOutput, error) {
	page, err := a.StatusPages.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	at, err := a.instantOf(in.At, "page", page.CreatedAt, 0)
	if err != nil {
		return nil, err
	}
	return recall(ctx, a, func(ctx context.Context) (*knownPageOutput, error) {
		page, err := a.StatusPages.KnownAt(ctx, page.ID, at)
		if err != nil {
			return nil, err
		}
		past, limits, err := a.pastPage(ctx, page, at)
		if err != nil {
			return nil, err
		}
		return &knownPageOutput{knownPageOf(page.ID, a.teller().AsKnown(past), limits)}, nil
	})
}

func (a *api) pastPage(ctx context.Context, page pagestore.Page, at time.Time) (past statuspage.Past, limits []limitBody, err error) {
	past = statuspage.Past{At: at, Page: page, States: map[int64]verdict.State{}}
	targets, err := a.Targets.ByIDs(ctx, statuspage.Bound(page))
	if err != nil {
		return past, nil, err
	}
	targets = slices.DeleteFunc(targets, func(t uptime.Target) bool { return t.CreatedAt.After(at) })
	r, err := a.around(ctx, targets, at)
	if err != nil {
		return past, nil, err
	}
	past.Windows = r.windows
	var reach, settled time.Duration
	for _, t := range targets {
		_, rules := r.as(t)
		reach, settled = max(reach, countsFor(rules)), max(settled, asknown.SettledAfter(rules.Interval))
	}
	if _, err = a.instantOf(at, "page", page.CreatedAt, reach); err != nil {
		return past, nil, err
	}
	if a.Now().Sub(at) < settled {
		limits = append(limits, limitBody{"unsettled", unsettled})
	}
	found, whole, err := a.pastIncidents(ctx, idsOf(targets), at)
	if err != nil {
		return past, nil, err
	}
	if !whole {
		limits = append(limits, limitBody{"incidents_cut", "There were more incidents than are looked through: the oldest are left out."})
	}
	incidents, err := a.knownOf(ctx, found, at)
	if err != nil {
		return past, nil, err
	}
	all, err := a.pastTargets(ctx, targets, r, incidents, false)
	if err != nil {
		return past, nil, err
	}
	changed, lost, counted := false, false, false
	for id, t := range all {
		lost, counted = lost || t.Lost, counted || t.Decided && !t.Lost
		past.States[id] = t.State
		past.Incidents = append(past.Incidents, incidents[id]...)
		changed = changed || !t.schedule.ChangedAt.IsZero()
	}
	if changed {
		limits = append(limits, limitBody{"target_changed", "Targets of it were changed after that: they are judged by their rules of now."})
	}
	if lost {
		limits = append(limits, limitBody{"rows_lost", "Results that may have counted then came, or were revised, later, and what was known of them is not kept: where an incident was open, what was decided stands; else the state is told without them."})
	}
	if counted {
		limits = append(limits, limitBody{"counted", "Results in a row count for targets of it, and older ones than are looked at here may have mattered: their states are those of their incidents."})
	}
	if past.Behind = a.Standing.Behind(at); !past.Behind.IsZero() {
		limits = append(limits, limitBody{"unaccounted", fmt.Sprintf("Checks due since %s are not all accounted for yet: days that were good as far as is known have no data from then on.", stamp(past.Behind))})
	}
	days, err := a.pastDays(ctx, &past, targets)
	if err != nil {
		return past, nil, err
	}
	posts, err := a.pastPosts(ctx, &past)
	return past, append(append(limits, days...), posts...), err
}

// pastIncidents are those of targets that a page could show; not all of them if there are too many.
func (a *api) pastIncidents(ctx context.Context, ids []int64, at time.Time) (all []incidentstore.Incident, whole bool, err error) {
	whole = true
	for chunk := range slices.Chunk(ids, idsPerQuestion) {
		found, err := a.Incidents.List(ctx, incidentstore.Filter{Targets: chunk, From: at.Add(-statuspage.PastShown), To: at.Add(time.Millisecond), Limit: statuspage.MostShown})
		if err != nil {
			return nil, false, err
		}
		all, whole = append(all, found...), whole && len(found) < statuspage.MostShown
	}
	return all, whole, nil
}

// termsKnown say what counts in a window, by what was known of maintenance and blindness.
func (a *api) termsKnown(ctx context.Context, targets []uptime.Target, window availability.Span, at time.Time) (map[int64]availability.Terms, error) {
	windows, err := a.windowsKnown(ctx, window.From, at)
	if err != nil {
		return nil, err
	}
	known, _, err := a.blindKnown(ctx, window.From, at)
	if err != nil {
		return nil, err
	}
	laid, maintained := maintenancestore.Lay(windows, window.From, window.To), map[int64]availability.Spans{}
	for _, t := range targets {
		var spans []availability.Span
		for _, s := range laid.Of(t.ID) {
			spans = append(spans, availability.Span{From: s.From, To: s.To})
		}
		maintained[t.ID] = availability.NewSpans(spans...)
	}
	byRegion, blind := map[string][]availability.Span{}, map[string]availability.Spans{}
	for _, b := range known {
		if b.To.IsZero() {
			b.To = window.To
		}
		byRegion[b.Region] = append(byRegion[b.Region], availability.Span{From: b.From, To: b.To})
	}
	for region, spans := range byRegion {
		blind[region] = availability.NewSpans(spans...)
	}
	return a.termsAmid(ctx, targets, window, maintained, blind)
}

// pastDays counts the days up to an instant, without what hours were corrected by since.
func (a *api) pastDays(ctx context.Context, past *statuspage.Past, targets []uptime.Target) (limits []limitBody, err error) {
	window, periods := statuspage.Days(past.Page, past.At)
	past.Periods = periods
	terms, err := a.termsKnown(ctx, targets, window, past.At)
	if err != nil {
		return nil, err
	}
	past.Accounts = make(map[int64]*availability.Account, len(terms))
	for id, t := range terms {
		past.Accounts[id] = availability.NewAccount(t.In(""), periods)
	}
	err = a.cells(ctx, terms, periods, resultstore.CellQuery{From: window.From, To: window.To, Whole: true}, func(id int64, _ string, c availability.Cell) { past.Accounts[id].Add(c) })
	if err != nil {
		return nil, err
	}
	corrections, err := a.corrections(ctx, idsOf(targets), window)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, told := range corrections.told {
		total += len(told)
	}
	whole := total < resultstore.MostCorrections // else the oldest of any target are left out
	for id, account := range past.Accounts {
		told := slices.DeleteFunc(slices.Clone(corrections.told[id]), func(c availability.Correction) bool { return c.Region != "" })
		whole = account.PutBack(told, past.At) && len(corrections.told[id]) < resultstore.MaxCorrections && whole
	}
	if !whole {
		limits = append(limits, limitBody{"days_corrected", "Hours of these days were corrected later, and not of all of them is kept what they came to before: such days are as they are counted now."})
	}
	return limits, nil
}

// pastPosts gives what people had written by an instant.
func (a *api) pastPosts(ctx context.Context, past *statuspage.Past) (limits []limitBody, err error) {
	page, at := past.Page, past.At
	if page.UpdatedAt.After(at) {
		limits = append(limits, limitBody{"page_changed", fmt.Sprintf("The page was changed after that, last at %s: its title, its groups and what they show are those of now. What was said by hand then is not kept: there is no data.", stamp(page.UpdatedAt))})
	}
	posts, err := a.StatusPages.Posts(ctx, page.ID, 0, knownPosts)
	if err != nil {
		return nil, err
	}
	edited := false
	for _, post := range posts {
		if then, is := post.KnownAt(at); is {
			past.Posts = append(past.Posts, then)
			edited = edited || post.Version > int64(len(post.Body.Updates))
		}
	}
	if edited {
		limits = append(limits, limitBody{"posts_edited", "Posts were edited: their titles, and what they are about, are those of now. What was said is as it was."})
	}
	removed, err := a.Audit.AuditLog(ctx, accountstore.AuditQuery{Action: "status-post.deleted", From: at, Limit: knownPosts})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(removed, func(e accountstore.AuditEntry) bool { return strings.HasPrefix(e.Object, pageObject(page.ID)+"/") }) {
		limits = append(limits, limitBody{"posts_removed", "Posts were removed after that: they are not kept."})
	}
	gone, err := a.Audit.AuditLog(ctx, accountstore.AuditQuery{Action: "target." + opDeleted, From: at, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(gone) > 0 {
		limits = append(limits, limitBody{"targets_removed", "Targets were deleted after that: whether the page showed them is not kept, and they are left out."})
	}
	return limits, nil
}

func knownPageOf(id int64, v *statuspage.View, limits []limitBody) knownPageBody {
	body := knownPageBody{At: instant(v.MadeAt), ID: id, Slug: v.Slug, Title: v.Title, State: v.State, Groups: []knownGroup{}, Events: []knownEvent{}, Maint: []knownWindow{}, Limits: orEmpty(limits)}
	for _, g := range v.Groups {
		group := knownGroup{Name: g.Name, State: g.State, Components: []knownComponent{}}
		for _, c := range g.Components {
			component := knownComponent{ID: c.ID, Name: c.Name, Description: c.Description, State: c.State, Manual: c.Manual, UptimePercent: maybeText(c.Uptime), Days: []knownDay{}}
			for _, d := range c.Days {
				component.Days = append(component.Days, knownDay(d))
			}
			group.Components = append(group.Components, component)
		}
		body.Groups = append(body.Groups, group)
	}
	for _, e := range v.Events {
		event := knownEvent{ID: e.ID, Title: e.Title, Kind: e.Kind, Impact: e.Impact, Components: orEmpty(e.Components), State: e.State, BegunAt: instant(e.BegunAt), ResolvedAt: maybeInstant(e.ResolvedAt), Updates: []knownSaid{}}
		for _, u := range e.Updates {
			event.Updates = append(event.Updates, knownSaid{instant(u.At), u.State, u.Text})
		}
		body.Events = append(body.Events, event)
	}
	for _, w := range v.Windows {
		body.Maint = append(body.Maint, knownWindow{w.Name, w.Active, instant(w.From), instant(w.To), orEmpty(w.Components)})
	}
	return body
}
