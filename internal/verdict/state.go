package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// version of the JSON of a State.
const version = 1

// spare is how many results more than the thresholds need are remembered of each region:
// one that comes late by so many slots still finds its place.
const spare = 4

// FoldState is what folding remembers of a target. It is a plain value: Step never changes
// the one it is given. Make it with NewState or DecodeState.
type FoldState struct {
	Version      int           `json:"v"`
	TargetID     int64         `json:"target_id"`
	BegunAt      time.Time     `json:"begun_at,omitzero"`      // of the first event
	VisitedSince time.Time     `json:"visited_since,omitzero"` // as in Rules, when it was folded last
	At           time.Time     `json:"at,omitzero"`            // latest instant heard of
	State        State         `json:"state,omitempty"`
	Observed     State         `json:"observed,omitempty"`
	Since        time.Time     `json:"since,omitzero"`
	Regions      []RegionState `json:"regions,omitempty"` // sorted by name
	Waiting      *Waiting      `json:"waiting,omitempty"`
	Incident     *Incident     `json:"incident,omitempty"`
	LastKey      time.Time     `json:"last_key,omitzero"` // of the newest outage: keys only rise
	LastEnd      time.Time     `json:"last_end,omitzero"` // of the newest incident that is over
	Flap         Flap          `json:"flap,omitzero"`
}

// RegionState is what is remembered of a region: its newest measurements, and what the
// older ones came to.
type RegionState struct {
	Region string        `json:"region"`
	Floor  time.Time     `json:"floor,omitzero"` // newest slot that is not among Newest any more
	Base   Standing      `json:"base,omitzero"`  // after that slot
	Newest []Observation `json:"newest"`         // ascending by slot
}

// Standing is whether a region fails, and what goes against it.
type Standing struct {
	Failing bool      `json:"failing,omitempty"`
	Since   time.Time `json:"since,omitzero"`    // first slot of what it is
	Against int       `json:"against,omitempty"` // results in a row that say otherwise
	First   time.Time `json:"first,omitzero"`    // slot of the first of them
}

// Waiting is an outage that has not opened an incident.
type Waiting struct {
	Slot       time.Time `json:"slot"`              // first failing slot: the key
	FoundAt    time.Time `json:"found_at,omitzero"` // when it was
	EvidenceAt time.Time `json:"evidence_at"`       // newest failing slot that came in order
	HeldBy     Cause     `json:"held_by,omitempty"` // what suppressed it, if anything did
	HeldTo     time.Time `json:"held_to,omitzero"`  // newest failing slot that was suppressed
}

// Incident is an open one.
type Incident struct {
	Slot     time.Time `json:"slot"`  // first failing slot when it was found: the key
	Began    time.Time `json:"began"` // the same, corrected by late results
	Severity Severity  `json:"severity"`
	OpenedAt time.Time `json:"opened_at"`
	Told     bool      `json:"told,omitempty"` // people were paged
}

// Flap is the damping of notifications.
type Flap struct {
	Score  float64   `json:"score,omitempty"` // at the instant At
	At     time.Time `json:"at,omitzero"`
	Active bool      `json:"active,omitempty"`
	EndsAt time.Time `json:"ends_at,omitzero"` // when the score will have sunk enough
	Slot   time.Time `json:"slot,omitzero"`    // of the newest incident
}

// NewState is that of a target nobody has looked at.
func NewState(targetID int64) FoldState { return FoldState{Version: version, TargetID: targetID} }

// DecodeState reads the JSON of a State.
func DecodeState(data []byte) (FoldState, error) {
	var s FoldState
	if err := json.Unmarshal(data, &s); err != nil {
		return FoldState{}, fmt.Errorf("verdict state: %w", err)
	}
	if s.Version != version {
		return FoldState{}, fmt.Errorf("verdict state: version %d is not known here, want %d: fold anew from the results", s.Version, version)
	}
	return s, nil
}

// fit is how a result fits in with what is remembered.
type fit int

const (
	fitNothing  fit = iota // known already, no evidence, or older than what is remembered
	fitNewest              // the region's newest
	fitLate                // older than the newest
	fitReplaced            // another result of a slot that is remembered
)

// take gives the region with a result among its newest. It copies what it changes.
func (r RegionState) take(o *Observation, rules *Rules, c *Conditions) (RegionState, fit) {
	if !o.ScheduledAt.After(r.Floor) || rules.Former(o.ScheduledAt) {
		return r, fitNothing
	}
	evidence := o.Status.Measured() && !o.Late
	i, found := slices.BinarySearchFunc(r.Newest, o.ScheduledAt, func(a Observation, t time.Time) int { return a.ScheduledAt.Compare(t) })
	switch {
	case found && r.Newest[i].Revision >= o.Revision, !found && !evidence:
		return r, fitNothing
	case found && !evidence: // a correction took the measurement back
		r.Newest = slices.Delete(slices.Clone(r.Newest), i, i+1)
		return r, fitReplaced
	case found:
		r.Newest = slices.Clone(r.Newest)
		r.Newest[i] = *o
		return r, fitReplaced
	}
	how := fitLate
	if i == len(r.Newest) {
		how = fitNewest
	}
	depth := rules.depth()
	newest := make([]Observation, 0, depth+1)
	newest = append(append(append(newest, r.Newest[:i]...), *o), r.Newest[i:]...)
	for len(newest) > depth {
		r.Base = r.Base.after(&newest[0], rules, c)
		r.Floor = newest[0].ScheduledAt
		newest = newest[1:]
	}
	r.Newest = newest
	return r, how
}

func (r *Rules) depth() int { return max(r.Policy.downAfter(), r.Policy.upAfter()) + spare }

// after is the standing one result later.
func (s Standing) after(o *Observation, rules *Rules, c *Conditions) Standing {
	if c.BlindAt(o.Region, o.ScheduledAt) {
		return s
	}
	failing := o.Status == uptime.StatusDown
	if s.Since.IsZero() && !failing {
		s.Since = o.ScheduledAt
	}
	if failing == s.Failing {
		s.Against, s.First = 0, time.Time{}
		return s
	}
	if s.Against == 0 {
		s.First = o.ScheduledAt
	}
	s.Against++
	threshold := rules.Policy.downAfter()
	if s.Failing {
		threshold = rules.Policy.upAfter()
	}
	if s.Against >= threshold {
		return Standing{Failing: failing, Since: s.First}
	}
	return s
}

// voice is what the region says; false when it has nothing to say.
func (r *RegionState) voice(rules *Rules, c *Conditions) (voice, bool) {
	standing, v, heard := r.Base, voice{}, false
	for i := range r.Newest {
		o := &r.Newest[i]
		if c.BlindAt(r.Region, o.ScheduledAt) {
			continue
		}
		standing = standing.after(o, rules, c)
		v.newest, heard = o, true
		if o.Status != uptime.StatusDown {
			v.good = o.ScheduledAt
		}
	}
	v.failing, v.since, v.streak, v.first = standing.Failing, standing.Since, standing.Against, standing.First
	return v, heard
}

// voices are those of the regions that are to check the target, and of external checkers.
func (s *FoldState) voices(rules *Rules, c *Conditions) []voice {
	all := make([]voice, 0, len(s.Regions))
	for i := range s.Regions {
		region := &s.Regions[i]
		if !uptime.Outside(region.Region) && !slices.Contains(rules.Regions, region.Region) {
			continue
		}
		if v, heard := region.voice(rules, c); heard {
			all = append(all, v)
		}
	}
	return all
}

// Verdict is what the state shows at now.
func (s FoldState) Verdict(rules Rules, c Conditions, now time.Time) Verdict {
	v, t := rules.judge(s.voices(&rules, &c), c, Verdict{State: s.State, Since: s.Since}, now)
	v.Because, v.Why = rules.why(v, t, c)
	return v
}
