package live

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// A snapshot carries the ticksKept newest slots of a target, a brief one ticksLeast or more: what
// came so lately that it may not be recorded yet.
const (
	ticksKept  = 30
	ticksLeast = 1
)

// Target is the item of snapshots and deltas.
type Target struct {
	ID           int64            `json:"id"`
	Name         string           `json:"name"`
	URL          string           `json:"url"`
	Kind         uptime.Kind      `json:"kind" enum:"http,tcp,tls,dns,icmp,grpc,websocket,heartbeat"`
	IntervalS    int64            `json:"interval_s"`
	TimeoutMS    int64            `json:"timeout_ms"`
	Regions      []string         `json:"regions" nullable:"false"`
	Tags         []string         `json:"tags" nullable:"false"`
	ParentID     *int64           `json:"parent_id"`
	Active       bool             `json:"active"`
	State        verdict.State    `json:"state" enum:"up,degraded,down,maintenance,no_data,paused"`
	Since        *time.Time       `json:"since"`
	Why          string           `json:"why"`
	Because      []verdict.Clause `json:"because,omitempty" nullable:"false" doc:"what why says, for pages in other languages"`
	LastResultAt *time.Time       `json:"last_result_at"`
	FreshUntil   *time.Time       `json:"fresh_until"`
	P50US        *uint32          `json:"p50_us"`
	RegionStates []RegionState    `json:"region_states" nullable:"false"`
	Maintained   []Stretch        `json:"maintained,omitempty" nullable:"false" doc:"when it was maintained, or is, as far back as its newest 90 slots reach: what they came to then does not count. Absent: at no time"`
	Ticks        []Tick           `json:"ticks" nullable:"false" doc:"in a snapshot the newest that the node knows, in a delta those that are new"`
}

// RegionState is a region's newest measurement.
type RegionState struct {
	Region      string         `json:"region"`
	Status      uptime.Status  `json:"status" enum:"up,degraded,down,unknown,missed"`
	Failure     uptime.Failure `json:"failure"`
	Reason      uptime.Reason  `json:"reason"` // always empty: only measurements stand here
	HTTPStatus  int            `json:"http_status"`
	ScheduledAt time.Time      `json:"scheduled_at"`
	CheckedAt   time.Time      `json:"checked_at"`
	TotalUS     uint32         `json:"total_us"`
	Fresh       bool           `json:"fresh"`
}

// Tick is one slot's row in the bar of a target.
type Tick struct {
	At      time.Time      `json:"at"`
	Region  string         `json:"region"`
	Status  uptime.Status  `json:"status" enum:"up,degraded,down,unknown,missed"`
	TotalUS uint32         `json:"total_us"`
	Failure uptime.Failure `json:"failure"`
	Reason  uptime.Reason  `json:"reason"`

	revision uint64
	mark     mark      // where it came in the stream of results; 0: by another way
	came     time.Time // of one that did not come by the stream
}

// measured says whether the tick is evidence.
func (t *Tick) measured() bool { return t.Status.Measured() && !uptime.LateRevision(t.revision) }

// entry is what the hub knows of a target.
type entry struct {
	target  uptime.Target
	place   []byte // of its name among names
	rules   verdict.Rules
	state   verdict.FoldState // stepped with each result; only where the policy has thresholds
	around  verdict.Conditions
	newest  []verdict.Observation // one a region, measured only; of regions that check it no more too
	ticks   []Tick                // newest ticksKept slots, ascending by (at, region)
	fresh   []Tick                // arrived since the last frame it was in
	verdict verdict.Verdict
	shown   verdict.Shown // the same, where the newest results say it all
	paused  time.Time     // since when it is; zero: it is not, or nobody knows
	folded  time.Time     // when the verdict was last brought up to date
	parent  string        // the name of what it depends on, while that is down
	dirty   bool
	framed  time.Time   // when it was last in a frame, by this machine's clock
	changed time.Time   // by something else than a result
	removed atomic.Bool // read outside the hub's lock

	admitted map[string]time.Time // regions of external checkers, and when each was let in last
}

// apply takes one result in that came at now; it answers false when the hub knew it already.
func (e *entry) apply(r uptime.Result, at mark, now time.Time) bool {
	tick := Tick{At: r.ScheduledAt.UTC(), Region: r.Region, Status: r.Status, TotalUS: r.TotalUS, Failure: r.Failure, Reason: r.Reason, revision: r.Revision(), mark: at}
	if at == 0 {
		tick.came = now
	}
	if !e.addTick(tick) {
		return false
	}
	o := verdict.Observed(&r)
	o.Said = r.Said(e.target.Kind)
	e.take(o, now)
	return true
}

// take takes evidence in that came at now.
func (e *entry) take(o verdict.Observation, now time.Time) {
	if o.Status.Measured() && !o.Late {
		e.observe(o)
	}
	if e.rules.Policy.Counts() {
		counted := o // what Step is given a pointer to is an allocation: not for everybody else
		e.state, _ = verdict.Step(e.state, e.rules, e.around, verdict.Event{At: now, Result: &counted})
	}
}

func (e *entry) addTick(tick Tick) bool {
	i, found := slices.BinarySearchFunc(e.ticks, tick, func(a, b Tick) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		switch {
		case a.Region < b.Region:
			return -1
		case a.Region > b.Region:
			return 1
		}
		return 0
	})
	if found {
		if e.ticks[i].revision == tick.revision && e.ticks[i].mark == 0 {
			e.ticks[i].mark = tick.mark // it was recorded before it was heard of
			for j := range e.fresh {
				if f := &e.fresh[j]; f.At.Equal(tick.At) && f.Region == tick.Region && f.revision == tick.revision {
					f.mark = tick.mark
				}
			}
		}
		if e.ticks[i].revision >= tick.revision {
			return false // a replay, or a reason for what was measured
		}
		e.ticks[i] = tick
	} else {
		e.ticks = slices.Insert(e.ticks, i, tick)
		if most := ticksKept * max(1, len(e.rules.Regions)); len(e.ticks) > most {
			e.ticks = slices.Delete(e.ticks, 0, len(e.ticks)-most)
		}
	}
	e.fresh = append(e.fresh, tick)
	return true
}

// before is the place in the stream before everything that waits for a frame; the last there can
// be when nothing does that came by the stream.
func (e *entry) before() mark {
	first := mark(math.MaxUint64)
	for i := range e.fresh {
		if at := e.fresh[i].mark; at != 0 {
			first = min(first, at-1)
		}
	}
	return first
}

func (e *entry) observe(o verdict.Observation) {
	for i, old := range e.newest {
		if old.Region == o.Region {
			if !o.ScheduledAt.Before(old.ScheduledAt) {
				e.newest[i] = o
			}
			return
		}
	}
	e.newest = append(e.newest, o)
	slices.SortFunc(e.newest, func(a, b verdict.Observation) int {
		if a.Region < b.Region {
			return -1
		}
		return 1
	})
}

// judgeBy settles how the target is judged from now on, while these regions are adopted.
func (e *entry) judgeBy(active []string, now time.Time) {
	counted := e.rules.Policy.Counts()
	e.rules = RulesOf(e.target, active)
	switch {
	case !e.rules.Policy.Counts():
		e.state = verdict.FoldState{}
	case counted:
		e.state, _ = verdict.Step(e.state, e.rules, e.around, verdict.Tick(now))
	default:
		e.recount()
	}
}

// RulesOf are those of a target while these regions are adopted.
func RulesOf(t uptime.Target, active []string) verdict.Rules {
	rules := verdict.Rules{Interval: t.Interval, Timeout: t.Timeout, Active: t.Active, VisitedSince: t.VisitedSince, Policy: verdict.Stored(t.Policy)}
	if t.Kind != uptime.KindHeartbeat {
		rules.Regions = uptime.ResolveRegions(t.Regions, active)
		return rules
	}
	rules.Regions = []string{uptime.RegionPush}
	if t.Spec.Heartbeat != nil {
		rules.Timeout += t.Spec.Heartbeat.Grace()
	}
	return rules
}

// Rules are those by which a target is judged now.
func (h *Hub) Rules(t uptime.Target) verdict.Rules {
	h.mu.Lock()
	defer h.mu.Unlock()
	return RulesOf(t, h.active)
}

// recount steps what is known of the past: the newest slots, each as of itself.
func (e *entry) recount() {
	e.state = verdict.NewState(e.target.ID)
	newest := map[string]*verdict.Observation{}
	for i := range e.newest {
		newest[e.newest[i].Region] = &e.newest[i]
	}
	step := func(o *verdict.Observation) {
		e.state, _ = verdict.Step(e.state, e.rules, e.around, verdict.Event{At: o.ScheduledAt, Result: o})
	}
	for _, tick := range e.ticks {
		if o := newest[tick.Region]; tick.measured() && (o == nil || tick.At.Before(o.ScheduledAt)) {
			step(&verdict.Observation{Region: tick.Region, Status: tick.Status, Failure: tick.Failure, ScheduledAt: tick.At, TotalUS: tick.TotalUS, Revision: tick.revision})
		}
	}
	for i := range e.newest { // it has what a sentence says, which ticks have not
		step(&e.newest[i])
	}
}

// depend settles whether what it depends on is down, and says whether that changed.
func (e *entry) depend(entries map[int64]*entry) (changed bool) {
	name := ""
	if p, found := entries[e.target.ParentID]; found && p.verdict.Observed == verdict.StateDown {
		name = p.target.Name
	}
	changed = name != e.parent
	e.parent = name
	return changed
}

// evidence is what the regions that check the target now have measured, and what external
// checkers have. Others are kept aside: a region's first result may come before the news
// of its adoption.
func (e *entry) evidence() []verdict.Observation {
	found := make([]verdict.Observation, 0, len(e.newest))
	for _, o := range e.newest {
		if slices.Contains(e.rules.Regions, o.Region) || uptime.Outside(o.Region) {
			found = append(found, o)
		}
	}
	return found
}

// Watched is a target with the rules it is judged by.
type Watched struct {
	Target uptime.Target
	Rules  verdict.Rules
}

// Watched gives all targets the hub knows.
func (h *Hub) Watched() []Watched {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Watched, 0, len(h.entries))
	for _, e := range h.entries {
		all = append(all, Watched{e.target, e.rules})
	}
	return all
}

// Heartbeats lists the targets that are some.
func (h *Hub) Heartbeats() (ids []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, e := range h.entries {
		if e.target.Kind == uptime.KindHeartbeat {
			ids = append(ids, id)
		}
	}
	return ids
}

// item shows the target as it is at now: after the process was frozen it is asked
// before the next round of Refold.
func (e *entry) item(now time.Time, ticks []Tick) Target {
	if e.lapsed(now) {
		e.fold(now)
	}
	item := Target{
		ID: e.target.ID, Name: e.target.Name, URL: e.target.URL, Kind: e.target.Kind,
		IntervalS: int64(e.target.Interval / time.Second), TimeoutMS: e.target.Timeout.Milliseconds(),
		Regions: orEmpty(e.target.Regions), Tags: orEmpty(e.target.Tags), Active: e.target.Active,
		State: e.verdict.State, Since: optional(e.verdict.Since), Why: e.verdict.Why, Because: e.verdict.Because,
		LastResultAt: optional(e.verdict.LastResultAt), FreshUntil: optional(e.verdict.FreshUntil),
		P50US: e.median(), RegionStates: []RegionState{}, Maintained: e.stretches(now), Ticks: orEmpty(ticks),
	}
	if parent := e.target.ParentID; parent != 0 { // a copy: who reads the item has no lock
		item.ParentID = &parent
	}
	if e.parent != "" && e.verdict.Observed == verdict.StateDown {
		item.Why = strings.TrimSuffix(item.Why, ".") + "; " + verdict.DependsOn(e.parent) + "."
		item.Because = append(slices.Clip(item.Because), verdict.Clause{Is: verdict.FactDepends, Name: e.parent})
	}
	for _, o := range e.evidence() {
		item.RegionStates = append(item.RegionStates, RegionState{
			Region: o.Region, Status: o.Status, Failure: o.Failure, HTTPStatus: o.HTTPStatus, ScheduledAt: o.ScheduledAt,
			CheckedAt: o.CheckedAt, TotalUS: o.TotalUS, Fresh: !e.rules.FreshUntil(o.ScheduledAt).Before(now),
		})
	}
	return item
}

// median of the total time of the successful ticks in memory.
func (e *entry) median() *uint32 {
	var totals []uint32
	for _, tick := range e.ticks {
		if tick.Status == uptime.StatusUp || tick.Status == uptime.StatusDegraded {
			totals = append(totals, tick.TotalUS)
		}
	}
	if len(totals) == 0 {
		return nil
	}
	slices.Sort(totals)
	return &totals[len(totals)/2]
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
