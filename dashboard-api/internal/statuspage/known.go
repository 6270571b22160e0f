package statuspage

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Past is what was known of a page at an instant: posts with what had been said by then, windows
// and incidents as they were told.
type Past struct {
	At        time.Time
	Page      pagestore.Page
	States    map[int64]verdict.State // of the targets that were there
	Posts     []pagestore.Post
	Incidents []incidentstore.Incident
	Windows   []maintenancestore.Window
	Periods   []availability.Period
	Accounts  map[int64]*availability.Account
	Behind    time.Time // slots due since then may be without a row; zero: none that matter
}

// PastShown is how long before an instant what was over by then is still shown, and MostShown how
// many incidents are looked through.
const (
	PastShown = pastShown
	MostShown = mostShown
)

// Teller tells of the past of pages.
type Teller struct{ writer *writer }

// NewTeller makes one.
func NewTeller() *Teller { return &Teller{newWriter()} }

// Bound are the targets of a page.
func Bound(page pagestore.Page) []int64 { return bound(page) }

// AsKnown makes what was said of a page at an instant, by the rules of the page of now. A component
// shows those of its targets that were there.
func (t *Teller) AsKnown(p Past) *View {
	p.Page.Terms.Groups = slices.Clone(p.Page.Terms.Groups)
	for i := range p.Page.Terms.Groups {
		g := &p.Page.Terms.Groups[i]
		g.Components = slices.Clone(g.Components)
		for j := range g.Components {
			c := &g.Components[j]
			c.Targets, c.Members = p.there(c.Targets), p.there(c.Members)
			if c.Rule == pagestore.RuleManual && p.Page.UpdatedAt.After(p.At) { // what was said then is not kept
				c.State = pagestore.NoData
			}
		}
	}
	v := &View{Slug: p.Page.Slug, Title: p.Page.Terms.Title, Description: p.Page.Terms.Description, Zone: zoneOf(p.Page), MadeAt: p.At, Manual: true}
	b := newBuilder(p.Page, v, history{p.Periods, p.Accounts, p.Behind}, p.At)
	for id, s := range p.States {
		b.states[id] = stateOf(s)
	}
	since := p.At.Add(-pastShown)
	b.build(t.writer, slices.DeleteFunc(slices.Clone(p.Posts), func(one pagestore.Post) bool {
		return !one.ResolvedAt.IsZero() && one.ResolvedAt.Before(since)
	}), p.Incidents, p.Windows)
	return v
}

func (p *Past) there(ids []int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { _, is := p.States[id]; return !is })
}
