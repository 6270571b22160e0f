package statuspage

import (
	"html/template"
	"time"

	"github.com/probefleet/probefleet/internal/pagestore"
)

// View is all that is said of a page in public.
type View struct {
	Slug, Title, Description  string
	Theme, Accent, AccentDark string
	Zone                      *time.Location
	State                     string // of the page as a whole; "" when it shows nothing
	Manual                    bool   // of no component is there evidence: somebody says it all
	MadeAt                    time.Time
	EvidenceAt                time.Time // newest; zero: there is none
	WrittenAt                 time.Time // of a copy of what people wrote; zero: it was read just now
	HistoryAt                 time.Time // likewise of the days; zero: they were read lately
	NoHistory                 bool      // the days could not be read yet
	IncidentsCut              bool      // there may be more incidents
	Days                      []string  // names, the oldest first
	Subscribe                 bool      // people can
	Groups                    []GroupView
	Events                    []Event // the newest first
	Windows                   []Window
}

// GroupView is components under one heading.
type GroupView struct {
	Name       string
	State      string
	Components []ComponentView
}

// ComponentView is a line of a page.
type ComponentView struct {
	ID          int64
	Name        string
	Description string
	State       string
	Manual      bool
	Days        []Day // as many as the page has; none: nothing is counted
	Uptime      string
	Coverage    string
}

// Day is what a day came to.
type Day struct {
	Name        string
	State       string
	DownMinutes float64
}

// Event is an incident or an announcement.
type Event struct {
	ID           string // unique on the page
	Title        string // "": an automatic one, named by its components
	Kind, Impact string
	Auto         bool
	Components   []string
	State        string
	BegunAt      time.Time
	ToldAt       time.Time // when it was first told; zero: at once
	ResolvedAt   time.Time // zero: it goes on
	Updates      []Said    // the newest first
}

// Open says whether it goes on.
func (e Event) Open() bool { return e.ResolvedAt.IsZero() }

// Word is that of a state of it: an announcement is not investigated, it is made, until it is over.
func (e Event) Word(state string) string {
	if e.Kind == pagestore.KindAnnouncement && state != pagestore.Resolved {
		return pagestore.KindAnnouncement
	}
	return state
}

// ChangedAt is when something was last said of it.
func (e Event) ChangedAt() time.Time {
	if len(e.Updates) > 0 {
		return e.Updates[0].At
	}
	if !e.ResolvedAt.IsZero() {
		return e.ResolvedAt
	}
	return e.FirstTold()
}

// FirstTold is when it was first told: an automatic one after it began.
func (e Event) FirstTold() time.Time {
	if e.ToldAt.IsZero() {
		return e.BegunAt
	}
	return e.ToldAt
}

// Said is an update.
type Said struct {
	At    time.Time
	State string
	HTML  template.HTML // sanitised
	Text  string        // the same, plain
}

// Window is maintenance.
type Window struct {
	ID         string
	Name       string
	Active     bool
	From, To   time.Time
	Components []string
}

// Open are the events that go on.
func (v *View) Open() []Event { return v.events(true) }

// Past are the events that are over.
func (v *View) Past() []Event { return v.events(false) }

func (v *View) events(open bool) (all []Event) {
	for _, e := range v.Events {
		if e.Open() == open {
			all = append(all, e)
		}
	}
	return all
}

// ByHand says whether somebody says how all is, and nothing measures it.
func (v *View) ByHand() bool { return v.Manual && v.State != "" }

// Components are all of the page.
func (v *View) Components() (all []ComponentView) {
	for _, g := range v.Groups {
		all = append(all, g.Components...)
	}
	return all
}
