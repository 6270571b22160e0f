package uptime

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestAssertionSurvivesJSON(t *testing.T) {
	t.Parallel()
	cases := []struct {
		assertion Assertion
		text      string
	}{
		{Assertion{Source: SourceLatency, Op: OpLess, Value: "500", Severity: SeverityDegrade}, `{"source":"latency","op":"lt","value":"500","severity":"degrade"}`},
		{Assertion{Source: SourceHeader, Name: "X-Cache", Op: OpExists}, `{"source":"header","name":"X-Cache","op":"exists"}`},
		{Assertion{Source: SourceJSON, Name: "$['a\"b'][?@.c > 1]", Op: OpMatches, Value: "<&>\n\u2028é\\d"}, `{"source":"json","name":"$['a\"b'][?@.c \u003e 1]","op":"matches","value":"\u003c\u0026\u003e\n\u2028é\\d"}`},
	}
	for _, c := range cases {
		text, err := json.Marshal(c.assertion)
		if err != nil || string(text) != c.text {
			t.Errorf("%+v is written %s (%v), want %s", c.assertion, text, err, c.text)
		}
		var back Assertion
		if err := json.Unmarshal(text, &back); err != nil || back != c.assertion {
			t.Errorf("%s is read as %+v (%v)", text, back, err)
		}
	}
}

func TestAssertionRulesNameEverySourceAndOpOnce(t *testing.T) {
	t.Parallel()
	sources, used := map[Source]bool{}, map[Op]bool{}
	for _, rule := range AssertionRules() {
		if sources[rule.Source] || len(rule.Kinds) == 0 || len(rule.Ops) == 0 {
			t.Errorf("%s: named twice, of no kind or without ops", rule.Source)
		}
		sources[rule.Source] = true
		ops := map[Op]bool{}
		for _, o := range rule.Ops {
			if ops[o.Op] || o.Value == "" {
				t.Errorf("%s: op %s twice or without a type", rule.Source, o.Op)
			}
			ops[o.Op], used[o.Op] = true, true
			if found, ok := rule.Op(o.Op); !ok || found != o {
				t.Errorf("%s: op %s is found as %v", rule.Source, o.Op, found)
			}
		}
		if _, ok := rule.Op("like"); ok {
			t.Errorf("%s allows an op that does not exist", rule.Source)
		}
	}
	if len(sources) != 16 || len(used) != 14 {
		t.Errorf("%d sources and %d ops, want 16 and 14", len(sources), len(used))
	}
}

// A caller that changes what it got must not change what others get.
func TestAssertionRulesAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	before := AssertionRules()
	for _, rule := range AssertionRules() {
		for i := range rule.Ops {
			rule.Ops[i].Value = "spoilt"
		}
		rule.Kinds[0] = "spoilt"
	}
	if after := AssertionRules(); !reflect.DeepEqual(before, after) {
		t.Error("the table changed")
	}
}
