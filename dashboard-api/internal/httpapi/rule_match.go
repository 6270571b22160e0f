package httpapi

import (
	"context"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// MatchInput is as much of a target as rules go by. It need not be saved.
type MatchInput struct {
	TargetID *int64   `json:"target_id,omitempty" minimum:"1" doc:"Absent: it is not there yet."`
	Tags     []string `json:"tags,omitempty" maxItems:"20" nullable:"true"`
}

// MatchedRule is a rule that would tell somebody of a target.
type MatchedRule struct {
	Rule  alertRuleBody `json:"rule"`
	Tells []string      `json:"tells" enum:"down,degraded" nullable:"false" doc:"of which of its incidents"`
}

type matchedOutput struct {
	Body struct {
		Items []MatchedRule `json:"items" nullable:"false" doc:"by id; empty: nobody would be told"`
	}
}

// matchRules says which rules would tell of a target. They are asked what they would plan, so
// that a rule that is off, or all of whose channels are, is none of them.
func (a *api) matchRules(ctx context.Context, in *struct{ Body document[MatchInput] }) (*matchedOutput, error) {
	var target uptime.Target
	if p := read(in.Body, func(fields MatchInput, _ nulls) []Mistake {
		target.ID = deref(fields.TargetID)
		m := merger{target: &target}
		if fields.TargetID != nil && target.ID < 1 {
			m.mistake("/target_id", codeNotFound, "there is no such target")
		}
		m.tags(fields.Tags)
		return m.found
	}); p != nil {
		return nil, p
	}
	rules, err := a.Alerts.Rules(ctx, 0, mostOfThem)
	if err != nil {
		return nil, err
	}
	channels, err := a.Alerts.Channels(ctx, 0, mostOfThem)
	if err != nil {
		return nil, err
	}
	on := map[int64]bool{}
	for _, c := range channels {
		on[c.ID] = c.Enabled
	}
	out := &matchedOutput{}
	out.Body.Items = []MatchedRule{}
	for _, r := range rules {
		if tells := a.tells(r, target, on); len(tells) > 0 {
			out.Body.Items = append(out.Body.Items, MatchedRule{ruleOf(r), words(tells)})
		}
	}
	return out, nil
}

// tells gives the severities of a target's incidents of which a rule would tell somebody, now or
// when it speaks next.
func (a *api) tells(r incidentstore.Rule, t uptime.Target, channels map[int64]bool) (all []incidentstore.Severity) {
	for _, severity := range []incidentstore.Severity{incidentstore.Down, incidentstore.Degraded} {
		opened := incidentstore.Change{
			Incident: incidentstore.Incident{TargetID: t.ID, Severity: severity, Subject: incidentstore.Subject{Tags: t.Tags}},
			Event:    incidentstore.Event{Kind: incidentstore.Opened, At: a.Now()},
		}
		if len(notify.Planner{}.Plan(opened, incidentstore.Book{Rules: []incidentstore.Rule{r}, Channels: channels})) > 0 {
			all = append(all, severity)
		}
	}
	return all
}
