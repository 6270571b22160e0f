package statuspage

import (
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// atlassian writes documents as Atlassian Statuspage does (API v2), for programs that read those.
type atlassian struct{ feed }

type stPage struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	URL       string `json:"url"`
	TimeZone  string `json:"time_zone"`
	UpdatedAt string `json:"updated_at"`
	// Stale is ours: incidents, maintenance and the page's own settings are of then, as newer ones
	// cannot be read. States are of UpdatedAt, and are no data where nothing new was heard.
	Stale *string `json:"stale_since,omitempty"`
}

type stStatus struct {
	Indicator   string `json:"indicator"`
	Description string `json:"description"`
}

type stComponent struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	Description *string  `json:"description"`
	Position    int      `json:"position"`
	Showcase    bool     `json:"showcase"`
	StartDate   *string  `json:"start_date"`
	PageID      string   `json:"page_id"`
	GroupID     *string  `json:"group_id"`
	Group       bool     `json:"group"`
	OnlyShow    bool     `json:"only_show_if_degraded"`
	Components  []string `json:"components,omitempty"`
	CreatedAt   string   `json:"created_at"`
	UpdatedAt   string   `json:"updated_at"`
}

type stUpdate struct {
	ID         string `json:"id"`
	IncidentID string `json:"incident_id"`
	Status     string `json:"status"`
	Body       string `json:"body"`
	CreatedAt  string `json:"created_at"`
	UpdatedAt  string `json:"updated_at"`
	DisplayAt  string `json:"display_at"`
}

type stIncident struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	Status         string        `json:"status"`
	Impact         string        `json:"impact"`
	Shortlink      string        `json:"shortlink"`
	PageID         string        `json:"page_id"`
	CreatedAt      string        `json:"created_at"`
	UpdatedAt      string        `json:"updated_at"`
	StartedAt      string        `json:"started_at"`
	MonitoringAt   *string       `json:"monitoring_at"`
	ResolvedAt     *string       `json:"resolved_at"`
	ScheduledFor   *string       `json:"scheduled_for,omitempty"`
	ScheduledUntil *string       `json:"scheduled_until,omitempty"`
	Updates        []stUpdate    `json:"incident_updates"`
	Components     []stComponent `json:"components"`
}

type stDocument struct {
	Page       stPage         `json:"page"`
	Status     *stStatus      `json:"status,omitempty"`
	Components *[]stComponent `json:"components,omitempty"`
	Incidents  *[]stIncident  `json:"incidents,omitempty"`
	Scheduled  *[]stIncident  `json:"scheduled_maintenances,omitempty"`
}

// document gives how to write the document of a name; nil: there is none.
func (a atlassian) document(name string) func(*View) any {
	var status, components, incidents, unresolved, upcoming, active bool
	switch name {
	case "summary":
		status, components, unresolved, upcoming, active = true, true, true, true, true
	case "status":
		status = true
	case "components":
		components = true
	case "incidents":
		incidents = true
	case "incidents/unresolved":
		unresolved = true
	case "scheduled-maintenances":
		upcoming, active = true, true
	case "scheduled-maintenances/upcoming":
		upcoming = true
	case "scheduled-maintenances/active":
		active = true
	default:
		return nil
	}
	return func(v *View) any {
		d := stDocument{Page: stPage{v.Slug, v.Title, a.base, v.Zone.String(), milli(v.MadeAt), optional(v.WrittenAt)}}
		if status {
			d.Status = &stStatus{indicator(v.State), stated("en", "banner."+v.State, v.ByHand())}
		}
		if components {
			all := a.components(v)
			d.Components = &all
		}
		if incidents || unresolved {
			all := []stIncident{}
			for _, e := range v.Events {
				if incidents || e.Open() {
					all = append(all, a.incident(v, e))
				}
			}
			d.Incidents = &all
		}
		if upcoming || active {
			all := []stIncident{}
			for _, w := range v.Windows {
				if w.Active && active || !w.Active && upcoming {
					all = append(all, a.window(v, w))
				}
			}
			d.Scheduled = &all
		}
		return d
	}
}

func milli(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func optional(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	text := milli(at)
	return &text
}

// indicator is the page's state in their words, which have none for not knowing, nor for showing
// nothing: neither is "none", which says that all is well.
func indicator(state string) string {
	switch state {
	case pagestore.Up:
		return "none"
	case pagestore.Down:
		return "major"
	case pagestore.Maintenance:
		return "maintenance"
	}
	return "minor"
}

// componentStatus likewise: what is not known is not operational.
func componentStatus(state string) string {
	switch state {
	case pagestore.Up:
		return "operational"
	case pagestore.Down:
		return "major_outage"
	case pagestore.Maintenance:
		return "under_maintenance"
	}
	return "degraded_performance"
}

func (a atlassian) components(v *View) []stComponent {
	all, at := []stComponent{}, milli(v.MadeAt)
	for i, g := range v.Groups {
		group := "g" + strconv.Itoa(i+1)
		head := stComponent{ID: group, Name: g.Name, Status: componentStatus(g.State), Position: len(all) + 1, PageID: v.Slug, Group: true, CreatedAt: at, UpdatedAt: at}
		named := g.Name != ""
		where := len(all)
		if named {
			all = append(all, head)
		}
		for _, c := range g.Components {
			one := stComponent{ID: strconv.FormatInt(c.ID, 10), Name: c.Name, Status: componentStatus(c.State), Position: len(all) + 1, PageID: v.Slug, CreatedAt: at, UpdatedAt: at}
			if c.Manual { // they have no word for it
				c.Description = strings.TrimSpace(c.Description + " (" + say("en", "by_hand") + ")")
			}
			if c.Description != "" {
				one.Description = &c.Description
			}
			if named {
				one.GroupID = &group
				all[where].Components = append(all[where].Components, one.ID)
			}
			all = append(all, one)
		}
	}
	return all
}

func (a atlassian) named(v *View, names []string) []stComponent {
	found := []stComponent{}
	for _, c := range a.components(v) {
		for _, name := range names {
			if !c.Group && c.Name == name {
				found = append(found, c)
			}
		}
	}
	return found
}

func (a atlassian) incident(v *View, e Event) stIncident {
	impact := map[string]string{pagestore.Down: "major", pagestore.Degraded: "minor", pagestore.NoData: "minor", pagestore.Maintenance: "maintenance"}[e.Impact]
	if impact == "" {
		impact = "none"
	}
	i := stIncident{
		ID: e.ID, Name: titleOf("en", e), Status: e.State, Impact: impact, Shortlink: a.base + "#" + e.ID, PageID: v.Slug, CreatedAt: milli(e.FirstTold()), UpdatedAt: milli(e.ChangedAt()), StartedAt: milli(e.BegunAt),
		ResolvedAt: optional(e.ResolvedAt), Updates: []stUpdate{}, Components: a.named(v, e.Components),
	}
	for n, u := range e.Updates {
		at := milli(u.At)
		i.Updates = append(i.Updates, stUpdate{e.ID + "-" + strconv.Itoa(len(e.Updates)-n), e.ID, u.State, u.Text, at, at, at})
		if u.State == pagestore.Monitoring {
			i.MonitoringAt = &at
		}
	}
	return i
}

func (a atlassian) window(v *View, w Window) stIncident {
	status := "scheduled"
	if w.Active {
		status = "in_progress"
	}
	from := milli(w.From)
	return stIncident{
		ID: w.ID, Name: w.Name, Status: status, Impact: "maintenance", Shortlink: a.base + "#" + w.ID, PageID: v.Slug, CreatedAt: from, UpdatedAt: from, StartedAt: from,
		ScheduledFor: &from, ScheduledUntil: optional(w.To), Updates: []stUpdate{}, Components: a.named(v, w.Components),
	}
}
