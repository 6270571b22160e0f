package statuspage

import (
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// kuma writes documents as the status pages of Uptime Kuma do.
type kuma struct {
	root      string            // URL of the host of the page
	figures   map[int64]float64 // uptime of components over 24 hours, 0 to 1
	figuresAt time.Time         // when they were read, if not lately
}

type kumaDocument struct {
	Config      kumaConfig        `json:"config"`
	Incident    *kumaIncident     `json:"incident"`
	Groups      []kumaGroup       `json:"publicGroupList"`
	Maintenance []kumaMaintenance `json:"maintenanceList"`
}

type kumaConfig struct {
	Slug        string  `json:"slug"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Icon        string  `json:"icon"`
	RefreshS    int     `json:"autoRefreshInterval"`
	Theme       string  `json:"theme"`
	Published   bool    `json:"published"`
	ShowTags    bool    `json:"showTags"`
	CSS         string  `json:"customCSS"`
	Footer      *string `json:"footerText"`
	PoweredBy   bool    `json:"showPoweredBy"`
	Analytics   *string `json:"googleAnalyticsId"`
	CertExpiry  bool    `json:"showCertificateExpiry"`
}

type kumaIncident struct {
	ID      int64   `json:"id"`
	Style   string  `json:"style"`
	Title   string  `json:"title"`
	Content string  `json:"content"`
	Pin     bool    `json:"pin"`
	Active  bool    `json:"active"`
	Created string  `json:"createdDate"`
	Updated *string `json:"lastUpdatedDate"`
}

type kumaGroup struct {
	ID       int64         `json:"id"`
	Name     string        `json:"name"`
	Weight   int           `json:"weight"`
	Monitors []kumaMonitor `json:"monitorList"`
}

type kumaMonitor struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	SendURL int    `json:"sendUrl"`
	Type    string `json:"type"`
}

// kumaMaintenance is maintenance as one of theirs that is begun by hand: those have no times.
type kumaMaintenance struct {
	Title    string   `json:"title"`
	Text     string   `json:"description"`
	Strategy string   `json:"strategy"`
	Active   bool     `json:"active"`
	Status   string   `json:"status"`
	Slots    []string `json:"timeslotList"`
}

type kumaHeartbeats struct {
	Beats  map[string][]kumaBeat `json:"heartbeatList"`
	Uptime map[string]float64    `json:"uptimeList"`
	Stale  *string               `json:"stale_since,omitempty"` // ours: what is of the past was read then
}

type kumaBeat struct {
	Status int      `json:"status"`
	Time   string   `json:"time"`
	Msg    string   `json:"msg"`
	Ping   *float64 `json:"ping"` // a page does not say it
}

// Statuses of beats.
const (
	kumaDown             = 0
	kumaUp               = 1
	kumaPending          = 2
	kumaUnderMaintenance = 3
)

// kumaStatus is a state in their numbers. They have none for not knowing, nor for being degraded:
// neither is up, and neither is down.
func kumaStatus(state string) int {
	switch state {
	case pagestore.Up:
		return kumaUp
	case pagestore.Down:
		return kumaDown
	case pagestore.Maintenance:
		return kumaUnderMaintenance
	}
	return kumaPending
}

const refreshS = 60 // how often whoever shows a page is to ask again

// page is what a page is made of: it says nothing of how that is.
func (k kuma) page(v *View) any {
	state := v.State
	if state == "" {
		state = pagestore.NoData
	}
	d := kumaDocument{
		Config: kumaConfig{Slug: v.Slug, Title: v.Title, Description: v.Description, Icon: k.root + prefix + "-/icon-" + state + ".svg", RefreshS: refreshS, Theme: v.Theme, Published: true},
		Groups: []kumaGroup{}, Maintenance: []kumaMaintenance{}, Incident: kumaPinned(v),
	}
	for i, g := range v.Groups {
		if len(g.Components) == 0 { // nothing in it has an id that it could have
			continue
		}
		group := kumaGroup{ID: g.Components[0].ID, Name: g.Name, Weight: i + 1}
		for _, c := range g.Components {
			group.ID = min(group.ID, c.ID) // it stays when groups change places
			one := kumaMonitor{ID: c.ID, Name: c.Name, Type: "group"}
			if c.Manual {
				one.Type = "manual"
			}
			group.Monitors = append(group.Monitors, one)
		}
		d.Groups = append(d.Groups, group)
	}
	for _, w := range v.Windows {
		if w.Active { // they list no other
			d.Maintenance = append(d.Maintenance, kumaMaintenance{Title: w.Name, Strategy: "manual", Active: true, Status: "under-maintenance", Slots: []string{}})
		}
	}
	return d
}

// kumaPinned is the one notice that a page of theirs has on top: the newest incident that goes on,
// else the newest announcement; nil: there is neither.
func kumaPinned(v *View) *kumaIncident {
	var chosen *Event
	for _, e := range v.Open() {
		if chosen == nil || chosen.Kind == pagestore.KindAnnouncement && e.Kind != pagestore.KindAnnouncement {
			chosen = &e
		}
	}
	if chosen == nil {
		return nil
	}
	e := *chosen
	i := &kumaIncident{ID: kumaEvent(e), Style: "info", Title: titleOf("en", e), Content: say("en", e.Word(e.State)), Pin: true, Active: true, Created: kumaSecond(e.FirstTold())}
	switch {
	case e.Impact == pagestore.Down:
		i.Style = "danger"
	case e.Kind != pagestore.KindAnnouncement && e.Impact != pagestore.Maintenance:
		i.Style = "warning"
	}
	if len(e.Updates) > 0 {
		i.Content = e.Updates[0].Text
	}
	if at := e.ChangedAt(); !at.Equal(e.FirstTold()) {
		updated := kumaSecond(at)
		i.Updated = &updated
	}
	return i
}

// kumaEvent numbers what happened. Theirs are all of one kind: what people wrote gets the even
// numbers, what was found the odd ones.
func kumaEvent(e Event) int64 {
	_, text, _ := strings.Cut(e.ID, "-")
	id, _ := strconv.ParseInt(text, 10, 64) // ours: it is a number
	if e.Auto {
		return 2*id + 1
	}
	return 2 * id
}

// beats are the days of each component, the oldest first, and then how it is now: who shows one
// state takes the last.
func (k kuma) beats(v *View) any {
	d := kumaHeartbeats{Beats: map[string][]kumaBeat{}, Uptime: map[string]float64{}}
	for _, c := range v.Components() {
		id := strconv.FormatInt(c.ID, 10)
		all := make([]kumaBeat, 0, len(c.Days)+1)
		for _, day := range c.Days {
			if at, err := time.ParseInLocation(time.DateOnly, day.Name, v.Zone); err == nil {
				all = append(all, kumaBeat{Status: kumaStatus(day.State), Time: kumaMilli(at)})
			}
		}
		d.Beats[id] = append(all, kumaBeat{Status: kumaStatus(c.State), Time: kumaMilli(v.MadeAt)})
		if uptime, known := k.figures[c.ID]; known {
			d.Uptime[id+"_24"] = uptime
		}
	}
	if stale := earlier(v.HistoryAt, k.figuresAt); !stale.IsZero() {
		d.Stale = optional(stale)
	}
	return d
}

// earlier is the first of two instants that are there.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Their instants are in UTC, and do not say so.
func kumaSecond(at time.Time) string { return at.UTC().Format(time.DateTime) }

func kumaMilli(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.000") }
