package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// Planner says who is told of a change, and when. Its zero value makes links without a host.
type Planner struct {
	PublicURL string // where people reach the dashboard
}

var _ incidentstore.Planner = Planner{}

// Plan gives what is to be told of a change. A channel is told of a change once, by the
// rule that does so first; of an acknowledgement and of the end whoever heard of the incident,
// if the rule says so.
func (p Planner) Plan(c incidentstore.Change, b incidentstore.Book) []incidentstore.Notification {
	d := draft{change: c, book: b, payload: p.payload(c), at: map[string]int{}}
	switch c.Event.Kind {
	case incidentstore.Opened, incidentstore.SeverityChanged:
		for _, rule := range b.Rules {
			if rule.Enabled && matches(rule.Terms, c.Incident) {
				d.rule(rule)
			}
		}
	case incidentstore.Acknowledged:
		d.told(func(t incidentstore.Told) bool { return t.TellAcknowledged })
	case incidentstore.Resolved:
		d.told(func(t incidentstore.Told) bool { return t.TellResolved })
	}
	slices.SortStableFunc(d.all, func(a, b incidentstore.Notification) int { return a.DueAt.Compare(b.DueAt) })
	return d.all
}

// matches says whether a rule is about an incident.
func matches(t incidentstore.Terms, i incidentstore.Incident) bool {
	if len(t.Severities) > 0 && !slices.Contains(t.Severities, i.Severity) {
		return false
	}
	if t.Fleet != nil && i.Subject.Kind == incidentstore.KindFleet {
		return *t.Fleet
	}
	if len(t.Tags) == 0 && len(t.Targets) == 0 {
		return true
	}
	has := func(id int64) bool { return slices.Contains(t.Targets, id) }
	return has(i.TargetID) || slices.ContainsFunc(i.Members, has) || slices.ContainsFunc(t.Tags, func(tag string) bool {
		is := func(other string) bool { return strings.EqualFold(tag, other) } // rules of older releases may have capitals
		return slices.ContainsFunc(i.Subject.Tags, is) || slices.ContainsFunc(i.MemberTags, is)
	})
}

func (p Planner) payload(c incidentstore.Change) incidentstore.Payload {
	i := c.Incident
	payload := incidentstore.Payload{
		Event: c.Event.Kind, At: c.Event.At, IncidentID: i.ID, TargetID: i.TargetID, Subject: i.Subject, Severity: i.Severity, Since: i.FirstSlot, ResolvedAt: i.ResolvedAt,
		Explanation: i.Cause.Explanation, Failure: i.Cause.Failure, Regions: i.Cause.Regions, Link: linkTo(p.PublicURL, i.ID),
	}
	if c.Event.Kind == incidentstore.Acknowledged || c.Event.Kind == incidentstore.Resolved {
		payload.By, payload.Says = c.Event.Author, c.Event.Text
	}
	return payload
}

// linkTo is where an incident is shown.
func linkTo(publicURL string, incident int64) string {
	return fmt.Sprintf("%s/incidents/%d", publicURL, incident)
}

// draft is a plan in the making.
type draft struct {
	change  incidentstore.Change
	book    incidentstore.Book
	payload incidentstore.Payload
	all     []incidentstore.Notification
	at      map[string]int // by key
}

// rule plans what a rule says of an incident that opens, or gets worse or better.
func (d *draft) rule(r incidentstore.Rule) {
	at := d.change.Event.At
	if when, held, ever := due(r.Terms, d.payload.Severity, at); ever {
		for _, id := range r.Terms.Channels {
			n := d.notification(r, id, d.change.Event.Kind, when)
			n.Key = fmt.Sprintf("i%d/%s/c%d", d.payload.IncidentID, d.change.Key, id)
			if held {
				n.Unless = incidentstore.Resolved
			}
			d.add(n)
		}
	}
	if !d.change.Incident.AcknowledgedAt.IsZero() {
		return
	}
	for step, s := range r.Terms.Escalations {
		when, ever := next(r.Terms, d.payload.Severity, at.Add(time.Duration(s.AfterMinutes)*time.Minute))
		for _, id := range s.Channels {
			n := d.notification(r, id, incidentstore.Escalated, when)
			n.Key = fmt.Sprintf("i%d/escalated/r%d/%d/c%d", d.payload.IncidentID, r.ID, step+1, id)
			n.Unless, n.Digest = incidentstore.Acknowledged, ""
			if ever {
				d.add(n)
			}
		}
	}
	if r.Terms.ReminderMinutes == 0 {
		return
	}
	when, ever := next(r.Terms, d.payload.Severity, at.Add(time.Duration(r.Terms.ReminderMinutes)*time.Minute))
	for _, id := range r.Terms.Channels {
		n := d.notification(r, id, incidentstore.Reminded, when)
		n.Key = fmt.Sprintf("i%d/reminder/c%d/1", d.payload.IncidentID, id)
		n.Unless, n.Digest = incidentstore.Acknowledged, ""
		if ever {
			d.add(n)
		}
	}
}

// told plans a change for those who know of the incident.
func (d *draft) told(wants func(incidentstore.Told) bool) {
	for _, t := range d.book.Told {
		if !wants(t) {
			continue
		}
		var rule incidentstore.Rule // zero: it is gone; then at once
		if i := slices.IndexFunc(d.book.Rules, func(r incidentstore.Rule) bool { return r.ID == t.RuleID }); i >= 0 {
			rule = d.book.Rules[i]
		}
		when, _, ever := due(rule.Terms, d.payload.Severity, d.change.Event.At)
		if !ever {
			when = d.change.Event.At
		}
		n := d.notification(rule, t.ChannelID, d.change.Event.Kind, when)
		n.Key = fmt.Sprintf("i%d/%s/c%d", d.payload.IncidentID, d.change.Key, t.ChannelID)
		n.TellAcknowledged, n.TellResolved = t.TellAcknowledged, t.TellResolved
		d.add(n)
	}
}

func (d *draft) notification(r incidentstore.Rule, channel int64, event incidentstore.Kind, when time.Time) incidentstore.Notification {
	n := incidentstore.Notification{
		IncidentID: d.payload.IncidentID, ChannelID: channel, RuleID: r.ID, Event: event, Payload: d.payload, DueAt: when,
		TellAcknowledged: r.Terms.SendAcknowledged, TellResolved: r.Terms.SendResolved,
	}
	n.Payload.Event = event
	if event == incidentstore.Escalated || event == incidentstore.Reminded {
		n.Payload.At = when
	}
	if r.Terms.DigestMinutes > 0 {
		n.Digest = fmt.Sprintf("r%d", r.ID)
	}
	return n
}

// add takes a notification in, unless the channel hears the same before.
func (d *draft) add(n incidentstore.Notification) {
	if !d.book.Channels[n.ChannelID] {
		return
	}
	i, twice := d.at[n.Key]
	if !twice {
		d.at[n.Key] = len(d.all)
		d.all = append(d.all, n)
		return
	}
	first, second := d.all[i], n
	if second.DueAt.Before(first.DueAt) {
		first, second = second, first
	}
	first.TellAcknowledged, first.TellResolved = first.TellAcknowledged || second.TellAcknowledged, first.TellResolved || second.TellResolved
	d.all[i] = first
}

// Again is the reminder after one, by the rule as it is by now; false: there is none.
func Again(r incidentstore.Rule, n incidentstore.Notification, now time.Time) (incidentstore.Notification, bool) {
	every := time.Duration(r.Terms.ReminderMinutes) * time.Minute
	at := strings.LastIndexByte(n.Key, '/')
	count, err := strconv.Atoi(n.Key[at+1:])
	if n.Event != incidentstore.Reminded || !r.Enabled || every <= 0 || err != nil {
		return incidentstore.Notification{}, false
	}
	after := n.DueAt.Add(every)
	if late := now.Sub(after); late > 0 { // what was missed is not made up for
		after = after.Add((late/every + 1) * every)
	}
	when, ever := next(r.Terms, n.Payload.Severity, after)
	n.Key, n.DueAt, n.Payload.At, n.Attempts = n.Key[:at+1]+strconv.Itoa(count+1), when, when, 0
	return n, ever
}

// word is how a severity is said.
func word(s incidentstore.Severity) string {
	return cmp.Or(map[incidentstore.Severity]string{incidentstore.Down: "Down", incidentstore.Degraded: "Degraded", incidentstore.NoData: "No data"}[s], string(s))
}
