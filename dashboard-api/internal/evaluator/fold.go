package evaluator

import (
	"container/heap"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

// fold is all that is in memory of one term of evaluating. It is used by one goroutine.
type fold struct {
	turn    int64
	entry   string // newest that is folded in
	written string // newest that was committed
	targets map[int64]*target
	due     deadlines
	now     time.Time // how far time has passed
	windows []maintenancestore.Window
	laid    maintenancestore.Laid
	spread  time.Time // when the windows were last laid out

	children  map[int64][]*target // by what they depend on
	changed   map[int64]bool
	decisions []verdictstore.Decision
	saved     map[int64]verdict.FoldState // of targets that are not known yet

	orphans       []orphan
	asks          []checkstream.Visit
	confirmations []verdictstore.Confirmation
	out           outages
	watch         *selfdoubt.Watch
	blind         []selfdoubt.Window             // as the watch said last
	nameServers   func(host string) string       // nil: nobody knows
	kept          map[windowKey]selfdoubt.Window // as they were committed
}

// target is one that is watched.
type target struct {
	live.Watched
	host       string
	address    netip.Addr // that was visited last
	issuer     string     // of the certificate seen last
	good       time.Time  // newest slot in which a region saw it good
	factsAt    time.Time  // of these
	conditions verdict.Conditions
	state      verdict.FoldState
	stored     verdict.FoldState // as it was committed last; zero: never
	deadline   time.Time
	seen       bool      // in the list that was read last
	asked      time.Time // for others that depend on it
}

func newFold(saved verdictstore.Saved) *fold {
	f := &fold{
		turn: saved.Turn, entry: saved.Entry, written: saved.Entry, targets: map[int64]*target{}, children: map[int64][]*target{}, changed: map[int64]bool{}, saved: saved.States,
		out: newOutages(saved), watch: selfdoubt.New(), blind: saved.Blind, kept: map[windowKey]selfdoubt.Window{},
	}
	for _, w := range saved.Blind {
		f.kept[keyOf(w)] = w
	}
	return f
}

// Windows are laid out for so long, before and after now, and again when half of it is over.
const laidOut = 48 * time.Hour

// judge takes in which targets there are, and by what rules each is judged from now on.
func (f *fold) judge(watched []live.Watched, windows []maintenancestore.Window, now time.Time) {
	again := !sameWindows(f.windows, windows) || now.Sub(f.spread) > laidOut/2
	if again {
		f.windows, f.spread = windows, now
	}
	for _, t := range f.targets {
		t.seen = false
	}
	fresh := false
	if again {
		f.laid = maintenancestore.Lay(windows, f.spread.Add(-laidOut), f.spread.Add(laidOut))
	}
	for _, w := range watched {
		t, known := f.targets[w.Target.ID]
		if !known {
			t = &target{state: verdict.NewState(w.Target.ID)}
			if saved, found := f.saved[w.Target.ID]; found {
				t.state, t.stored = saved, saved
				delete(f.saved, w.Target.ID)
			}
			f.targets[w.Target.ID] = t
			fresh = true
		}
		t.seen = true
		if t.Target.URL != w.Target.URL {
			t.host, t.issuer = uptime.HostOf(w.Target.URL), ""
		}
		if f.nameServers != nil && w.Rules.Active {
			f.nameServers(t.host) // has it found out before it matters
		}
		conditions := t.conditions
		if again || !known {
			conditions.Maintenance = f.laid.Of(w.Target.ID)
		}
		conditions.Blind = f.blindFor(&target{Watched: w, state: t.state}, now)
		if known && reflect.DeepEqual(t.Rules, w.Rules) && reflect.DeepEqual(t.conditions, conditions) {
			t.Target = w.Target
			continue
		}
		t.Watched, t.conditions = w, conditions
		if known { // from now on it is judged by other rules
			f.step(t, verdict.Tick(later(f.now, t.state.At)))
		}
		f.schedule(t)
	}
	for id, t := range f.targets {
		if !t.seen { // deleted: its incidents went with it
			delete(f.targets, id)
			delete(f.changed, id)
			f.watch.Remove(id)
			f.over(id)
			t.deadline = time.Time{}
		}
	}
	f.family()
	f.retire()
	if fresh {
		f.adopt()
	}
}

// take folds an entry of the stream in.
func (f *fold) take(e entry) {
	f.pass(e.at)
	if f.see(&e) {
		f.doubt()
	}
	for i := range e.results {
		f.result(&e.results[i], e.at)
	}
	if e.outcome != nil {
		f.confirmed(e.outcome, e.at)
	}
	f.entry = e.id
}

// catchUp folds in what the stores have. What is known already changes nothing.
func (f *fold) catchUp(results []uptime.Result) {
	slices.SortFunc(results, func(a, b uptime.Result) int { return known(&a).Compare(known(&b)) })
	for i := range results {
		f.result(&results[i], known(&results[i]))
	}
}

// known is when a result was told, or a little before.
func known(r *uptime.Result) time.Time {
	if r.IngestedAt.IsZero() {
		return r.ScheduledAt
	}
	return r.IngestedAt
}

func (f *fold) result(r *uptime.Result, at time.Time) {
	t, found := f.targets[r.TargetID]
	if !found {
		f.keep(r, at)
		return
	}
	t.facts(r)
	o := verdict.Observed(r)
	o.Said = r.Said(t.Target.Kind)
	failed := fails(t.state, o.Region)
	f.step(t, verdict.Event{At: at, Result: &o})
	f.schedule(t)
	f.confirm(t, &o, !failed && fails(t.state, o.Region))
	f.askParent(t)
}

// A target that was created a moment ago may have results before it is known here.
const (
	mostOrphans = 10_000
	orphanFor   = 10 * time.Second
)

type orphan struct {
	result uptime.Result
	at     time.Time
}

// keep remembers a result of a target that is not there: any more, or yet.
func (f *fold) keep(r *uptime.Result, at time.Time) {
	if n := len(f.orphans); n == mostOrphans || n > 0 && at.Sub(f.orphans[0].at) > orphanFor {
		f.orphans = slices.DeleteFunc(f.orphans, func(o orphan) bool { return n == mostOrphans || at.Sub(o.at) > orphanFor })
	}
	f.orphans = append(f.orphans, orphan{*r, at})
}

// adopt folds in what came of targets before they were known.
func (f *fold) adopt() {
	orphans := f.orphans
	f.orphans = nil
	for i := range orphans {
		f.result(&orphans[i].result, orphans[i].at)
	}
}

// pass lets time pass, when everything up to an instant was folded in.
func (f *fold) pass(now time.Time) {
	if !now.After(f.now) {
		return
	}
	f.now = now
	if f.watch.Pass(now) {
		f.doubt()
	}
	for len(f.due) > 0 && !f.due[0].at.After(now) {
		next := heap.Pop(&f.due).(deadline)
		if t := next.target; f.targets[t.Target.ID] == t && t.deadline.Equal(next.at) {
			f.step(t, verdict.Tick(next.at))
			f.schedule(t)
		}
	}
}

func (f *fold) step(t *target, e verdict.Event) {
	if t.Target.ParentID != 0 {
		f.depend(t)
	}
	var decisions []verdict.Decision
	t.state, decisions = verdict.Step(t.state, t.Rules, t.conditions, e)
	for _, d := range decisions {
		f.note(t, verdictstore.Decision{Decision: d, Subject: subject(&t.Target), Failure: string(failure(t.state, d)), HTTPStatus: status(t.state, d)})
	}
	if len(decisions) > 0 || matters(t.state) || matters(t.stored) {
		f.changed[t.Target.ID] = true
	}
	if e.Result != nil || len(decisions) > 0 {
		for _, child := range f.children[t.Target.ID] {
			f.tellChild(child)
		}
	}
}

// schedule notes when time alone changes a target next.
func (f *fold) schedule(t *target) {
	next := verdict.NextDeadline(t.state, t.Rules, t.conditions)
	if next.Equal(t.deadline) {
		return
	}
	if t.deadline = next; !next.IsZero() {
		heap.Push(&f.due, deadline{next, t})
	}
}

// matters says whether a state has what the newest results alone would not give again.
func matters(s verdict.FoldState) bool {
	if s.Waiting != nil || s.Incident != nil || s.Flap.Active || s.Flap.Score > 0 || !s.LastKey.IsZero() {
		return true
	}
	for _, r := range s.Regions {
		if r.Base.Failing || r.Base.Against > 0 || slices.ContainsFunc(r.Newest, func(o verdict.Observation) bool { return o.Status == uptime.StatusDown }) {
			return true
		}
	}
	return false
}

// longest is how far back the newest result of a target may lie and say something.
func (f *fold) longest() time.Duration {
	longest := time.Hour
	for _, t := range f.targets {
		longest = max(longest, 2*t.Rules.Interval+t.Rules.Timeout)
	}
	return longest
}

// pending is what is to be committed, and whether there is anything.
func (f *fold) pending(now time.Time) (c verdictstore.Commit, some bool) {
	f.gather()
	blind := f.unwritten()
	if len(f.changed) == 0 && len(f.decisions) == 0 && len(f.confirmations) == 0 && len(blind) == 0 && f.entry == f.written {
		return c, false
	}
	c = verdictstore.Commit{Entry: f.entry, Turn: f.turn, At: now, Decisions: f.decisions, Confirmations: f.confirmations, Blind: blind}
	for id := range f.changed {
		c.States = append(c.States, f.targets[id].state)
	}
	slices.SortFunc(c.States, func(a, b verdict.FoldState) int { return int(a.TargetID - b.TargetID) })
	return c, true
}

// committed says that what was pending is written.
func (f *fold) committed(turn int64) {
	f.wrote()
	for id := range f.changed {
		f.targets[id].stored = f.targets[id].state
	}
	clear(f.changed)
	f.turn, f.written, f.decisions, f.confirmations = turn, f.entry, nil, nil
}

func subject(t *uptime.Target) incidentstore.Subject {
	return incidentstore.Subject{Name: t.Name, URL: redact.URL(t.URL), Kind: string(t.Kind), Tags: t.Tags}
}

// failing is the newest failing result of a region that a decision names.
func failing(s verdict.FoldState, d verdict.Decision) (newest verdict.Observation) {
	for _, r := range s.Regions {
		for _, o := range r.Newest {
			if slices.Contains(d.Regions, r.Region) && o.Status == uptime.StatusDown && o.ScheduledAt.After(newest.ScheduledAt) {
				newest = o
			}
		}
	}
	return newest
}

func failure(s verdict.FoldState, d verdict.Decision) uptime.Failure { return failing(s, d).Failure }

func status(s verdict.FoldState, d verdict.Decision) int { return failing(s, d).HTTPStatus }

func sameWindows(a, b []maintenancestore.Window) bool {
	return slices.EqualFunc(a, b, maintenancestore.Window.Alike)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// deadlines are a heap; those that were replaced stay in it until they pass.
type deadlines []deadline

type deadline struct {
	at     time.Time
	target *target
}

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)        { *d = append(*d, x.(deadline)) }
func (d *deadlines) Pop() any {
	old := *d
	last := old[len(old)-1]
	*d = old[:len(old)-1]
	return last
}
