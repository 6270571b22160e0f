package httpapi

import (
	"context"

	"github.com/probefleet/probefleet/internal/uptime"
)

type ruleBody struct {
	Source uptime.Source `json:"source"`
	Kinds  []uptime.Kind `json:"kinds" nullable:"false" doc:"of targets that have the source"`
	Name   string        `json:"name" doc:"what the name of such an assertion holds, for people; empty: it takes none"`
	Ops    []opBody      `json:"ops" nullable:"false"`
}

type opBody struct {
	Op    uptime.Op        `json:"op"`
	Value uptime.ValueType `json:"value" doc:"how the value is read: none (there is none), text, texts (comma-separated), pattern (RE2), number, integer, ms, status, statuses, address, addresses, sha256, http, tls, rcode, rcodes, dns_text, dns_texts, json_text, json_texts"`
}

// assertionRules gives editors the table by which assertions are judged.
func (a *api) assertionRules(context.Context, *struct{}) (*listOutput[ruleBody], error) {
	out := &listOutput[ruleBody]{}
	for _, rule := range uptime.AssertionRules() {
		body := ruleBody{Source: rule.Source, Kinds: rule.Kinds, Name: rule.Name}
		for _, op := range rule.Ops {
			body.Ops = append(body.Ops, opBody(op))
		}
		out.Body.Items = append(out.Body.Items, body)
	}
	return out, nil
}
