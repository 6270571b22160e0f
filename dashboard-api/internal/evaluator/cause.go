package evaluator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/sharedcause"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const (
	// gatherFor is how long an outage that may share its cause waits for others.
	gatherFor = 3 * time.Second
	// lately is how old an outage may be that was told alone and is still counted with others.
	lately = 10 * time.Minute
	// company is how many others there must be for a group.
	company = 2
	// examples are the members that a group names.
	examples = 3
)

// outages are those that are open, and what they share.
type outages struct {
	open   map[int64]verdictstore.Outage // by target; those in groups are not among them
	groups map[incidentstore.Group]map[int64]bool
	shared map[sharedcause.Value][]*target // while it is looked for causes
}

func newOutages(saved verdictstore.Saved) outages {
	o := outages{open: map[int64]verdictstore.Outage{}, groups: map[incidentstore.Group]map[int64]bool{}}
	for _, one := range saved.Outages {
		o.open[one.TargetID] = one
	}
	for _, g := range saved.Groups {
		o.groups[g.Group] = map[int64]bool{}
		for _, id := range g.Members {
			o.groups[g.Group][id] = true
		}
	}
	return o
}

// facts remembers what a result says of what a target can share with others.
func (t *target) facts(r *uptime.Result) {
	if !r.Status.Measured() || r.Late || r.ScheduledAt.Before(t.factsAt) {
		return
	}
	t.factsAt = r.ScheduledAt
	if r.Address.IsValid() {
		t.address = r.Address
	}
	if r.Issuer != "" {
		t.issuer = r.Issuer
	}
	if r.Status != uptime.StatusDown {
		t.good = r.ScheduledAt
	}
}

// recall takes what targets share from an entry that was folded in before.
func (f *fold) recall(e *entry) {
	for i := range e.results {
		if t, found := f.targets[e.results[i].TargetID]; found {
			t.facts(&e.results[i])
		}
	}
}

// shares is an outage of the target, with what is known of what it shares with others.
func (f *fold) shares(t *target) sharedcause.Outage {
	o := sharedcause.Outage{TargetID: t.Target.ID, Interval: t.Rules.Interval, Host: t.host, Address: t.address, Issuer: t.issuer}
	if f.nameServers != nil {
		o.DNSServer = f.nameServers(t.host)
	}
	return o
}

// note takes in what was decided about a target: an outage that people are to hear of is held
// until it is known whether it is one of many. What comes after it has it told before.
func (f *fold) note(t *target, d verdictstore.Decision) {
	id := t.Target.ID
	held, is := f.out.open[id]
	switch {
	case d.Kind == verdict.Opened && d.Notify == verdict.NotifyPage:
		if n := len(f.children[t.Target.ID]); n > 0 {
			d.Why += dependents(n)
			d.Because = append(d.Because, verdict.Clause{Is: verdict.FactDependents, N: n})
		}
		o := verdictstore.Outage{
			Outage: f.shares(t), Name: t.Target.Name, Tags: t.Target.Tags, Severity: incidentstore.Severity(d.Severity), At: d.At,
		}
		o.Slot, o.Failure = d.Slot, uptime.Failure(d.Failure)
		f.out.open[id], d.Hold = o, &o
	case is && !held.Told && (d.Kind == verdict.Resolved || d.Notify != verdict.NotifyNobody):
		f.tell(held, d.At)
	}
	f.decisions = append(f.decisions, d)
	if d.Kind == verdict.Resolved {
		f.over(id)
	}
}

// over forgets the outage of a target.
func (f *fold) over(id int64) {
	delete(f.out.open, id)
	for key, members := range f.out.groups {
		if delete(members, id); len(members) == 0 {
			delete(f.out.groups, key)
		}
	}
}

// tell has an outage told alone.
func (f *fold) tell(o verdictstore.Outage, at time.Time) {
	f.decisions = append(f.decisions, verdictstore.Decision{Decision: verdict.Decision{TargetID: o.TargetID, Slot: o.Slot, At: at}, Tell: true})
	o.Told = true
	f.out.open[o.TargetID] = o
}

// gather puts what waited long enough into groups with what has the same cause, and has the rest
// told alone. What belongs to a group that there is joins it at once.
func (f *fold) gather() {
	if f.now.IsZero() { // nothing has come yet: what is told now would be of the year 1
		return
	}
	var waiting []verdictstore.Outage
	for _, id := range slices.Sorted(maps.Keys(f.out.open)) {
		if o := f.out.open[id]; !o.Told {
			waiting = append(waiting, o)
		}
	}
	if len(waiting) == 0 {
		return
	}
	f.index()
	defer func() { f.out.shared = nil }()
	waiting = f.join(waiting)
	due := map[int64]bool{}
	for _, o := range waiting {
		if !f.now.Before(o.At.Add(gatherFor)) || !f.mayShare(o) {
			due[o.TargetID] = true
		}
	}
	if len(due) == 0 {
		return
	}
	var found []sharedcause.Outage
	for _, o := range f.out.open {
		if !o.Told || f.now.Sub(o.At) < lately {
			found = append(found, o.Outage)
		}
	}
	groups, _ := sharedcause.Find(found, f)
	for _, g := range groups {
		if slices.ContainsFunc(g.Members, func(id int64) bool { return due[id] }) {
			f.group(g)
		}
	}
	for _, o := range f.join(waiting) {
		if due[o.TargetID] {
			f.tell(o, f.now)
		}
	}
}

// join puts outages into groups that take them, and gives those that wait on.
func (f *fold) join(waiting []verdictstore.Outage) (left []verdictstore.Outage) {
	joined := map[incidentstore.Group][]int64{}
	for _, o := range waiting {
		if _, still := f.out.open[o.TargetID]; !still {
			continue
		}
		key, taken := f.taking(o.Outage)
		if !taken {
			left = append(left, o)
			continue
		}
		joined[key] = append(joined[key], o.TargetID)
	}
	for _, key := range slices.SortedFunc(maps.Keys(joined), func(a, b incidentstore.Group) int {
		return cmp.Or(a.FirstSlot.Compare(b.FirstSlot), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
	}) {
		f.group(sharedcause.Group{Value: sharedcause.Value{Kind: sharedcause.Kind(key.Kind), Value: key.Value}, Slot: key.FirstSlot, Members: joined[key]})
	}
	return left
}

// taking is the group that takes an outage, the most specific one.
func (f *fold) taking(o sharedcause.Outage) (best incidentstore.Group, found bool) {
	rank := func(g incidentstore.Group) int { return slices.Index(sharedcause.Kinds(), sharedcause.Kind(g.Kind)) }
	for key := range f.out.groups {
		g := sharedcause.Group{Value: sharedcause.Value{Kind: sharedcause.Kind(key.Kind), Value: key.Value}, Slot: key.FirstSlot}
		if g.Takes(o) && (!found || cmp.Or(cmp.Compare(rank(key), rank(best)), key.FirstSlot.Compare(best.FirstSlot), cmp.Compare(key.Value, best.Value)) < 0) {
			best, found = key, true
		}
	}
	return best, found
}

// group opens a group, or adds to one.
func (f *fold) group(g sharedcause.Group) {
	key := incidentstore.Group{Kind: string(g.Kind), Value: g.Value.Value, FirstSlot: g.Slot}
	known := f.out.groups[key]
	one := verdictstore.Grouping{Value: g.Value, Slot: g.Slot, At: f.now, Severity: incidentstore.Degraded}
	names, failures := []string{}, map[uptime.Failure]bool{}
	if known == nil {
		f.out.groups[key] = map[int64]bool{}
	}
	for _, id := range g.Members {
		o := f.out.open[id]
		one.Members = append(one.Members, o)
		if names, failures[o.Failure] = append(names, o.Name), true; o.Severity == incidentstore.Down {
			one.Severity = incidentstore.Down
		}
		f.out.groups[key][id] = true
		delete(f.out.open, id)
	}
	if len(failures) == 1 {
		one.Cause.Failure = string(one.Members[0].Failure)
	}
	shared := words(g.Kind) + " " + g.Value.Value
	n := len(names)
	listed := strings.Join(names[:min(n, examples)], ", ")
	if n > examples {
		listed += fmt.Sprintf(" and %d more", n-examples)
	}
	one.Subject = incidentstore.Subject{Name: fmt.Sprintf("%d targets: %s", n, shared), Kind: incidentstore.KindGroup}
	one.Cause.Explanation = fmt.Sprintf("%d targets fail together, since %s; they share the %s: %s. %d with the same are well.", n, g.Slot.UTC().Format("2006-01-02 15:04:05 UTC"), shared, listed, g.Healthy)
	one.Cause.Because = []verdict.Clause{{Is: verdict.FactTogether, N: n, Of: g.Healthy, What: string(g.Kind), Name: g.Value.Value, Names: names[:min(n, examples)], At: g.Slot.UTC()}}
	if known != nil {
		one.Cause.Explanation = fmt.Sprintf("%d more: %s.", n, listed)
		one.Cause.Because = []verdict.Clause{{Is: verdict.FactMore, N: n, Names: names[:min(n, examples)]}}
	}
	f.decisions = append(f.decisions, verdictstore.Decision{Group: &one})
}

// words are those for a kind of cause.
func words(kind sharedcause.Kind) string {
	return cmp.Or(map[sharedcause.Kind]string{sharedcause.KindIssuer: "issuer of certificates", sharedcause.KindDNSServer: "name servers at", sharedcause.KindFailure: "kind of failure"}[kind], string(kind))
}

// index finds targets by what they share with others.
func (f *fold) index() {
	f.out.shared = map[sharedcause.Value][]*target{}
	for _, t := range f.targets {
		if !t.Rules.Active {
			continue
		}
		for _, v := range f.shares(t).Values() {
			f.out.shared[v] = append(f.out.shared[v], t)
		}
	}
}

// mayShare says whether enough others share something with an outage that were not seen to be
// good since it began: else there is nothing to wait for.
func (f *fold) mayShare(o verdictstore.Outage) bool {
	for _, v := range o.Causes() {
		others := 0
		for _, t := range f.out.shared[v] {
			if t.Target.ID != o.TargetID && t.good.Before(o.Slot) {
				others++
			}
		}
		if others >= company {
			return true
		}
	}
	return false
}

var _ sharedcause.Census = (*fold)(nil)

// Good counts targets that do not fail and were seen since.
func (f *fold) Good(v sharedcause.Value, since time.Time) (n int) {
	for _, t := range f.out.shared[v] {
		if t.state.Incident == nil && !t.good.Before(since) {
			n++
		}
	}
	return n
}

// All counts targets that do not fail.
func (f *fold) All() (n int) {
	for _, t := range f.targets {
		if t.Rules.Active && t.state.Incident == nil {
			n++
		}
	}
	return n
}
