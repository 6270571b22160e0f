// Package pagestore keeps public status pages: what they show, and what people write on them.
//
// Guarantees:
//
//   - A target that is deleted is on no page any more, from the same transaction on.
//   - The ids of components are those of their page, and are never used again on it.
//   - A change made against an old version of a page or post can be refused (ErrConflict).
//     What a page shows is named by its version and the number of its targets: between two
//     versions targets only go.
//   - An incident that is deleted goes from the posts that tell of it, and they stay.
//
// A component names its targets one by one, or tags: those that carry all of them now are its
// members whenever the page is read.
package pagestore

import (
	"errors"
	"slices"
	"time"
)

// What can be wrong with a request, as opposed to with the database.
var (
	ErrNotFound     = errors.New("status page not found")
	ErrPostNotFound = errors.New("post not found")
	ErrConflict     = errors.New("it has changed since it was read")
	ErrTaken        = errors.New("another status page has this slug or host")
	ErrTargetGone   = errors.New("one of these targets is gone")
	ErrIncidentGone = errors.New("there is no such incident")
)

// Themes of a page.
const (
	ThemeAuto  = "auto" // as the reader's system
	ThemeLight = "light"
	ThemeDark  = "dark"
)

// Rules by which the states of targets become that of a component.
const (
	RuleWorst    = "worst"
	RuleMajority = "majority"
	RuleManual   = "manual" // somebody says it
)

// States of components, the worst first.
const (
	Down        = "down"
	Degraded    = "degraded"
	NoData      = "no_data"
	Maintenance = "maintenance"
	Up          = "up"
)

// Page is a status page.
type Page struct {
	ID        int64
	Slug      string
	Host      string // its own; "": none
	Published bool
	Terms     Terms
	Version   int64 // rises with every change
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Terms are what a page says of itself.
type Terms struct {
	Title         string   `json:"title"`
	Description   string   `json:"description,omitempty"`
	Theme         string   `json:"theme"`
	Accent        string   `json:"accent,omitempty"`      // #rrggbb on light; "": ours
	AccentDark    string   `json:"accent_dark,omitempty"` // #rrggbb on dark; "": ours
	Language      string   `json:"language"`
	Zone          string   `json:"zone"`                    // IANA, of its days and times
	PasswordHash  string   `json:"password_hash,omitempty"` // "": anybody may see it
	Allow         []string `json:"allow,omitempty"`         // ranges of addresses that may; none: all
	ShowIncidents bool     `json:"show_incidents,omitempty"`
	ByEmail       bool     `json:"by_email,omitempty"`   // people may subscribe so
	ByWebhook     bool     `json:"by_webhook,omitempty"` // likewise
	Groups        []Group  `json:"groups,omitempty"`
	LastComponent int64    `json:"last_component,omitempty"` // the highest id there ever was
}

// Group is components under one heading; "" has none.
type Group struct {
	Name       string      `json:"name"`
	Components []Component `json:"components"`
}

// Component is a line of a page.
type Component struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Rule        string   `json:"rule"`
	State       string   `json:"state,omitempty"` // of RuleManual
	Tags        []string `json:"tags,omitempty"`
	Targets     []int64  `json:"-"` // ascending; in a table of their own
	Members     []int64  `json:"-"` // ascending; that carry all of the tags, if there are any
}

// Shown are all targets of a component, ascending.
func (c Component) Shown() []int64 {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Targets, c.Members))))
}

// Components are all of a page, in order.
func (p Page) Components() (all []Component) {
	for _, g := range p.Terms.Groups {
		all = append(all, g.Components...)
	}
	return all
}

// Targets is how many bonds there are between components and targets.
func (p Page) Targets() (n int) {
	for _, c := range p.Components() {
		n += len(c.Targets)
	}
	return n
}

// Kinds of posts.
const (
	KindIncident     = "incident"
	KindAnnouncement = "announcement"
)

// States of a post, by its updates.
const (
	Investigating = "investigating"
	Identified    = "identified"
	Monitoring    = "monitoring"
	Resolved      = "resolved"
)

// Post is what people write: an incident, or an announcement.
type Post struct {
	ID         int64
	PageID     int64
	IncidentID int64 // of ours, that it tells of; 0: none. Not for readers
	Body       Body
	BegunAt    time.Time
	ResolvedAt time.Time // zero: it goes on
	Version    int64
}

// Body is what a post says.
type Body struct {
	Title      string   `json:"title"`
	Kind       string   `json:"kind"`
	Impact     string   `json:"impact,omitempty"`     // a state; "": none
	Components []int64  `json:"components,omitempty"` // that it is about
	Updates    []Update `json:"updates"`              // the oldest first, at least one
}

// Update is one thing that was said of a post.
type Update struct {
	At    time.Time `json:"at"`
	State string    `json:"state"`
	Text  string    `json:"text"`         // Markdown
	By    string    `json:"by,omitempty"` // who wrote it, as the audit log names them; "": not kept. Not for readers
}

// State is that of the newest update.
func (p Post) State() string {
	if n := len(p.Body.Updates); n > 0 {
		return p.Body.Updates[n-1].State
	}
	return Investigating
}

// KnownAt is the post with what had been said at an instant; false: nothing had. Its head is that
// of now: what it was called before is not kept.
func (p Post) KnownAt(at time.Time) (Post, bool) {
	p.ResolvedAt = time.Time{}
	var said []Update
	for _, u := range p.Body.Updates {
		if u.At.After(at) {
			break
		}
		said = append(said, u)
		if p.ResolvedAt = (time.Time{}); u.State == Resolved {
			p.ResolvedAt = u.At
		}
	}
	p.Body.Updates = said
	return p, len(said) > 0
}
