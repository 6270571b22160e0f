package live

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// SetBlind states when regions could not be believed, lately and now.
func (h *Hub) SetBlind(windows []verdict.Blindness) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.EqualFunc(windows, h.blind, func(a, b verdict.Blindness) bool {
		return a.Region == b.Region && a.From.Equal(b.From) && a.To.Equal(b.To)
	}) {
		return
	}
	h.blind = windows
	now := h.now()
	for _, e := range h.entries {
		e.surround(h)
		if e.fold(now) {
			h.mark(e)
		}
	}
}

// surround gives an entry what is known around its target.
func (e *entry) surround(h *Hub) {
	e.around.Blind, e.around.Maintenance = h.blind, nil
	if h.maintained != nil {
		e.around.Maintenance = h.maintained(e.target.ID, back(e.target.Interval))
	}
}

// fold brings the verdict up to now and says whether what people see changed. The newest
// results say it all, unless the policy counts results in a row.
func (e *entry) fold(now time.Time) bool {
	before := e.verdict
	e.folded = now
	if e.rules.Policy.Counts() {
		e.verdict = e.state.Verdict(e.rules, e.around, now)
	} else {
		e.shown = e.shown.Next(e.rules, e.around, e.believed(), now)
		e.verdict = e.shown.Verdict
	}
	if e.verdict.State == verdict.StatePaused {
		e.verdict.Since = e.paused
	}
	return before.State != e.verdict.State || before.Why != e.verdict.Why
}

// lapsed says whether time alone may have made the verdict another one since it was folded.
func (e *entry) lapsed(now time.Time) bool {
	if until := e.verdict.FreshUntil; !until.IsZero() && until.Before(now) && !until.Before(e.folded) {
		return true
	}
	return slices.ContainsFunc(e.around.Maintenance, func(s verdict.Span) bool { return s.Holds(now) != s.Holds(e.folded) })
}

// believed is the evidence but for what a region measured while it was blind.
func (e *entry) believed() []verdict.Observation {
	return slices.DeleteFunc(e.evidence(), func(o verdict.Observation) bool { return e.around.BlindAt(o.Region, o.ScheduledAt) })
}
