package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// RulePath names the rule in a path. (Huma passes over embedded types that are not exported.)
type RulePath struct {
	ID int64 `path:"id" minimum:"1"`
}

type alertRuleOutput struct {
	ETag string `header:"ETag" doc:"the version"`
	Body alertRuleBody
}

func ruleObject(id int64) string { return "notification-rule:" + strconv.FormatInt(id, 10) }

func (a *api) listRules(ctx context.Context, in *Page) (*listOutput[alertRuleBody], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Alerts.Rules(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, ruleOf, func(r incidentstore.Rule) int64 { return r.ID }), nil
}

// knownChannels are the ids that a rule may name.
func (a *api) knownChannels(ctx context.Context) (map[int64]bool, error) {
	all, err := a.Alerts.Channels(ctx, 0, 2*mostOfThem)
	known := map[int64]bool{}
	for _, c := range all {
		known[c.ID] = true
	}
	return known, err
}

// mergeRule lays a document over a rule.
func (a *api) mergeRule(r *incidentstore.Rule, body document[RuleInput], channels map[int64]bool) error {
	p := read(body, func(fields RuleInput, null nulls) []Mistake {
		m := ruleMerger{rule: r, channels: channels}
		return m.merge(fields, null, a.Now())
	})
	if p != nil {
		return p
	}
	return nil
}

// channelGone is the answer when a channel was removed while a rule that names it was saved.
func channelGone(err error) error {
	if errors.Is(err, incidentstore.ErrChannelNotFound) {
		return mistakes([]Mistake{{Pointer: "/channel_ids", Code: codeNotFound, Message: "one of these channels is gone"}})
	}
	return err
}

func (a *api) createRule(ctx context.Context, in *struct {
	Idempotent
	Body document[RuleInput]
}) (*answer[alertRuleBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[alertRuleBody], error) {
		channels, err := a.knownChannels(ctx)
		if err != nil {
			return nil, err
		}
		rule := incidentstore.Rule{Enabled: true, Terms: incidentstore.Terms{SendResolved: true}}
		if err := a.mergeRule(&rule, in.Body, channels); err != nil {
			return nil, err
		}
		if all, err := a.Alerts.Rules(ctx, 0, mostOfThem); err != nil || len(all) == mostOfThem {
			return nil, tooMany(err, "notification rules")
		}
		created, err := a.Alerts.CreateRule(ctx, rule, a.Now())
		if err != nil {
			return nil, channelGone(err)
		}
		a.audit(ctx, "notification-rule.created", ruleObject(created.ID), created.Name)
		return &answer[alertRuleBody]{Status: http.StatusCreated, ETag: version(created.Version), Location: fmt.Sprintf("/api/v1/notification-rules/%d", created.ID), Body: stored[alertRuleBody]{value: ruleOf(created)}}, nil
	})
}

func (a *api) getRule(ctx context.Context, in *RulePath) (*alertRuleOutput, error) {
	r, err := a.Alerts.Rule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &alertRuleOutput{version(r.Version), ruleOf(r)}, nil
}

func (a *api) patchRule(ctx context.Context, in *struct {
	RulePath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[RuleInput]
}) (*alertRuleOutput, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, incidentstore.ErrConflict
	}
	channels, err := a.knownChannels(ctx)
	if err != nil {
		return nil, err
	}
	updated, err := a.Alerts.UpdateRule(ctx, in.ID, wanted, a.Now(), func(r *incidentstore.Rule) error { return a.mergeRule(r, in.Body, channels) })
	if err != nil {
		return nil, channelGone(err)
	}
	a.audit(ctx, "notification-rule.updated", ruleObject(updated.ID), updated.Name)
	return &alertRuleOutput{version(updated.Version), ruleOf(updated)}, nil
}

func (a *api) deleteRule(ctx context.Context, in *struct {
	RulePath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: whatever it is now"`
}) (*noContent, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, incidentstore.ErrConflict
	}
	gone, err := a.Alerts.Rule(ctx, in.ID)
	if err == nil {
		err = a.Alerts.DeleteRule(ctx, in.ID, wanted, a.Now())
	}
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "notification-rule.deleted", ruleObject(in.ID), gone.Name)
	return nil, nil
}
