package statuspage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
)

const (
	daysShown    = 90
	pastShown    = 14 * 24 * time.Hour
	aheadShown   = 14 * 24 * time.Hour // of maintenance
	mostShown    = 2000                // incidents that are looked through, of targetsAsked
	targetsAsked = 500                 // at once, for their incidents
	writtenFresh = 2 * time.Second
	daysFresh    = 20 * time.Second
	writtenApart = 5 * time.Second // days are read again when results came, which on many pages is all the time
)

// written is what the relational database says of all pages.
type written struct {
	pages     []pagestore.Page
	hosts     []string // of pages, also of those that are not published
	posts     map[int64][]pagestore.Post
	incidents []incidentstore.Incident
	cut       []int64 // targets of which there may be more incidents
	windows   []maintenancestore.Window
}

func (p *Pages) readWritten(ctx context.Context) (w written, err error) {
	since := p.Now().Add(-pastShown)
	if w.pages, w.posts, err = p.Store.Published(ctx, since); err != nil {
		return w, err
	}
	if w.hosts, err = p.Store.Hosts(ctx); err != nil {
		return w, err
	}
	if err = p.readIncidents(ctx, &w, since); err != nil {
		return w, err
	}
	if len(w.pages) > 0 {
		w.windows, err = p.Windows.Holding(ctx, p.Now())
	}
	return w, err
}

// readIncidents reads those that pages show: the open ones, and apart from them, so that they are
// in nobody's way, those that ended lately.
func (p *Pages) readIncidents(ctx context.Context, w *written, since time.Time) error {
	var ids []int64
	for _, page := range w.pages {
		if page.Terms.ShowIncidents {
			ids = append(ids, bound(page)...)
		}
	}
	slices.Sort(ids)
	for chunk := range slices.Chunk(slices.Compact(ids), targetsAsked) {
		for _, f := range []incidentstore.Filter{{State: incidentstore.StateOpen}, {State: incidentstore.StateResolved, From: since}} {
			f.Targets, f.Limit = chunk, mostShown+1
			found, err := p.Incidents.List(ctx, f)
			if err != nil {
				return err
			}
			if len(found) > mostShown {
				found, w.cut = found[:mostShown], append(w.cut, chunk...)
			}
			w.incidents = append(w.incidents, found...)
		}
	}
	return nil
}

// history is the days of a page.
type history struct {
	periods  []availability.Period
	accounts map[int64]*availability.Account
	behind   time.Time // slots due since then may be without a row; zero: none that matter
}

func (p *Pages) readHistory(page pagestore.Page) func(context.Context) (history, error) {
	return func(ctx context.Context) (h history, err error) {
		window, periods := Days(page, p.Now())
		h.periods, h.behind = periods, p.Behind(p.Now())
		if ids := bound(page); len(ids) > 0 {
			h.accounts, err = p.Daily(ctx, ids, window, h.periods)
		}
		return h, err
	}
}

// Days are those that a page shows at an instant, the last one up to it.
func Days(page pagestore.Page, at time.Time) (availability.Span, []availability.Period) {
	zone := zoneOf(page)
	to := at.UTC().Truncate(time.Millisecond)
	today := to.In(zone)
	earlier := time.Date(today.Year(), today.Month(), today.Day()-daysShown-1, 12, 0, 0, 0, zone) // a midnight may not be there
	periods := availability.Periods(availability.Span{From: earlier.UTC(), To: to}, zone, availability.ByDay)
	periods = periods[max(0, len(periods)-daysShown):]
	return availability.Span{From: periods[0].From, To: to}, periods
}

func zoneOf(page pagestore.Page) *time.Location {
	zone, err := availability.Zone(page.Terms.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// bound are the targets of a page.
func bound(page pagestore.Page) (ids []int64) {
	for _, c := range page.Components() {
		ids = append(ids, c.Shown()...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// view makes what is said of a page now.
func (p *Pages) view(page pagestore.Page, w written, writtenAt time.Time, fine bool) *View {
	now, t := p.Now().UTC(), page.Terms
	v := &View{Slug: page.Slug, Title: t.Title, Description: t.Description, Theme: t.Theme, Accent: t.Accent, AccentDark: t.AccentDark, Zone: zoneOf(page), MadeAt: now, Manual: true, Subscribe: p.byEmail(t) || p.byWebhook(t)}
	if !fine {
		v.WrittenAt = writtenAt
	}
	h, readAt, historyFine := p.days(page).have()
	switch {
	case readAt.IsZero():
		v.NoHistory = true
	case !historyFine:
		v.HistoryAt = readAt
	}
	if !v.NoHistory && !h.behind.IsZero() {
		v.HistoryAt = h.behind
	}
	b := newBuilder(page, v, h, now)
	for id, s := range p.Live.States(bound(page)) {
		b.states[id] = stateOf(s.State)
		if s.LastResultAt.After(v.EvidenceAt) {
			v.EvidenceAt = s.LastResultAt
		}
	}
	b.build(p.writer, w.posts[page.ID], w.incidents, w.windows)
	v.IncidentsCut = t.ShowIncidents && slices.ContainsFunc(bound(page), func(id int64) bool { return slices.Contains(w.cut, id) })
	return v
}

// builder makes a view.
type builder struct {
	page    pagestore.Page
	view    *View
	now     time.Time
	history history
	states  map[int64]string   // of targets
	names   map[int64][]string // of the components that show a target
}

func newBuilder(page pagestore.Page, v *View, h history, now time.Time) *builder {
	b := &builder{page: page, view: v, now: now, history: h, states: map[int64]string{}, names: map[int64][]string{}}
	for _, day := range h.periods {
		v.Days = append(v.Days, day.Name)
	}
	for _, c := range page.Components() {
		for _, id := range c.Shown() {
			b.names[id] = append(b.names[id], c.Name)
		}
	}
	return b
}

// build says everything, once the states of targets are there.
func (b *builder) build(w *writer, posts []pagestore.Post, incidents []incidentstore.Incident, windows []maintenancestore.Window) {
	b.windows(windows)
	b.groups()
	b.posts(w, posts)
	if b.page.Terms.ShowIncidents {
		b.incidents(incidents)
	}
	slices.SortStableFunc(b.view.Events, func(x, y Event) int { return y.BegunAt.Compare(x.BegunAt) })
}

func (b *builder) groups() {
	var all []string
	for _, g := range b.page.Terms.Groups {
		group := GroupView{Name: g.Name}
		var states []string
		for _, c := range g.Components {
			component := b.component(c)
			states = append(states, component.State)
			group.Components = append(group.Components, component)
		}
		group.State = worst(states)
		all = append(all, states...)
		b.view.Groups = append(b.view.Groups, group)
	}
	b.view.State = worst(all)
}

func (b *builder) component(c pagestore.Component) ComponentView {
	v, shown := ComponentView{ID: c.ID, Name: c.Name, Description: c.Description}, c.Shown()
	if c.Rule == pagestore.RuleManual {
		v.State, v.Manual = c.State, true
	} else {
		b.view.Manual = false
		states := make([]string, len(shown))
		for i, id := range shown {
			if states[i] = b.states[id]; states[i] == "" {
				states[i] = pagestore.NoData
			}
		}
		v.State = combine(c.Rule, states)
	}
	var total availability.Figures
	var accounts []*availability.Account
	for _, id := range shown {
		if account := b.history.accounts[id]; account != nil {
			accounts = append(accounts, account)
			total = total.Add(account.Total)
		}
	}
	if len(accounts) == 0 {
		return v
	}
	v.Uptime, v.Coverage = total.Uptime().Percent(3), total.Coverage().Percent(1)
	for i, period := range b.history.periods {
		var states []string
		longest := 0.0
		for _, account := range accounts {
			figures := account.ByPeriod[i]
			if figures.Planned() == 0 && figures.Excluded == 0 { // it was not watched: a new target says nothing of the days before it
				continue
			}
			state := dayOf(figures)
			if state == pagestore.Up && !b.history.behind.IsZero() && period.To.After(b.history.behind) {
				state = pagestore.NoData // what came after may be missing
			}
			states, longest = append(states, state), max(longest, figures.DowntimeMinutes())
		}
		v.Days = append(v.Days, Day{Name: period.Name, State: combine(c.Rule, states), DownMinutes: longest})
	}
	return v
}

func (b *builder) windows(all []maintenancestore.Window) {
	for _, w := range all {
		next, found := w.Next(b.now)
		if !found || next.From.After(b.now.Add(aheadShown)) {
			continue
		}
		shown := Window{ID: fmt.Sprintf("maintenance-%d-%d", w.ID, next.From.Unix()), Name: w.Name, Active: !next.From.After(b.now), From: next.From, To: next.To}
		held := maintenancestore.Lay([]maintenancestore.Window{w}, next.From, next.To)
		for _, c := range b.page.Components() {
			if slices.ContainsFunc(c.Shown(), func(id int64) bool { return len(held.Of(id)) > 0 }) {
				shown.Components = append(shown.Components, c.Name)
			}
		}
		if len(shown.Components) == 0 {
			continue
		}
		if shown.Active {
			now := maintenancestore.Lay([]maintenancestore.Window{w}, b.now, b.now.Add(time.Second))
			for id := range b.names {
				if len(now.Of(id)) > 0 {
					b.states[id] = pagestore.Maintenance
				}
			}
		}
		b.view.Windows = append(b.view.Windows, shown)
	}
	slices.SortStableFunc(b.view.Windows, func(x, y Window) int { return x.From.Compare(y.From) })
}

func (b *builder) posts(w *writer, posts []pagestore.Post) {
	names := map[int64]string{}
	for _, c := range b.page.Components() {
		names[c.ID] = c.Name
	}
	for _, post := range posts {
		e := Event{ID: eventID(post.ID), Title: post.Body.Title, Kind: post.Body.Kind, Impact: post.Body.Impact, State: post.State(), BegunAt: post.BegunAt, ResolvedAt: post.ResolvedAt}
		for _, id := range post.Body.Components {
			if name := names[id]; name != "" {
				e.Components = append(e.Components, name)
			}
		}
		for _, u := range slices.Backward(post.Body.Updates) {
			said := Said{At: u.At, State: u.State}
			said.HTML, said.Text = w.write(u.Text)
			e.Updates = append(e.Updates, said)
		}
		b.view.Events = append(b.view.Events, e)
	}
}

// incidents are told by the names of components alone: what was found where is not public. One
// began with the first failing check, though it was not told before it was confirmed.
func (b *builder) incidents(all []incidentstore.Incident) {
	for _, i := range all {
		names := b.names[i.TargetID]
		if i.TargetID == 0 || len(names) == 0 {
			continue
		}
		state := pagestore.Investigating
		switch {
		case !i.Open():
			state = pagestore.Resolved
		case !i.AcknowledgedAt.IsZero():
			state = pagestore.Identified
		}
		b.view.Events = append(b.view.Events, Event{
			ID: "incident-" + strconv.FormatInt(i.ID, 10), Kind: pagestore.KindIncident, Auto: true, Impact: string(i.Severity), Components: names,
			State: state, BegunAt: i.FirstSlot, ToldAt: i.OpenedAt, ResolvedAt: i.ResolvedAt,
		})
	}
}
