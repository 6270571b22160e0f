package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// matched asks for the rules of a target and gives them as "night: down degraded", in their order.
func (b *bench) matched(target string) string {
	b.Helper()
	var body struct {
		Items []struct {
			Rule  struct{ Name string }
			Tells []string
		}
	}
	got := b.do("POST", "/api/v1/notification-rules:match", target, as(viewerKey))
	if got.Code != http.StatusOK || !strings.Contains(got.text, `"items":[`) {
		b.Fatalf("%s: %d %s", target, got.Code, got.text)
	}
	got.into(b, &body)
	lines := []string{}
	for _, one := range body.Items {
		lines = append(lines, one.Rule.Name+": "+strings.Join(one.Tells, " "))
	}
	return strings.Join(lines, ", ")
}

// Those that would tell of a target are found by what the form holds of it, whether it is saved or not.
func TestWhichRulesWouldTellOfATarget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for target, want := range map[string]string{`{}`: "", `{"target_id":7,"tags":["prod"]}`: ""} {
		if got := b.matched(target); got != want {
			t.Errorf("%s without rules: %s", target, got)
		}
	}
	on := b.channel(aWebhook).ID
	off := b.channel(strings.Replace(aWebhook, `"name":"ops"`, `"name":"off","enabled":false`, 1)).ID
	for _, rule := range []string{
		`"name":"prod","tags":["prod","shop"],"channel_ids":[%[1]d,%[2]d]`,
		`"name":"seven","target_ids":[7],"severities":["down","no_data"],"channel_ids":[%[1]d]`,
		`"name":"slow","severities":["degraded"],"channel_ids":[],"escalations":[{"after_minutes":10,"channel_ids":[%[1]d]}]`,
		`"name":"at night","tags":["night"],"schedule":[{"from":"22:00","to":"06:00"}],"channel_ids":[%[1]d]`,
		`"name":"nobody hears it","channel_ids":[%[2]d]`,
		`"name":"turned off","enabled":false,"channel_ids":[%[1]d]`,
		`"name":"no evidence","severities":["no_data"],"channel_ids":[%[1]d]`,
	} {
		if got := b.do("POST", "/api/v1/notification-rules", "{"+fmt.Sprintf(rule, on, off)+"}", as(editorKey)); got.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", rule, got.Code, got.text)
		}
	}
	for target, want := range map[string]string{
		`{}`:                                 "slow: degraded",
		`{"tags":["shop"]}`:                  "prod: down degraded, slow: degraded",
		`{"tags":["Prod"],"target_id":null}`: "prod: down degraded, slow: degraded",
		`{"target_id":7}`:                    "seven: down, slow: degraded",
		`{"target_id":8,"tags":null}`:        "slow: degraded",
		`{"tags":["night"]}`:                 "slow: degraded, at night: down degraded",
	} {
		if got := b.matched(target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	var audited int
	if err := b.db.Read().Raw("SELECT count(*) FROM audit_log WHERE action LIKE '%match%'").Row().Scan(&audited); err != nil || audited != 0 {
		t.Errorf("asking left %d entries in the audit log: %v", audited, err)
	}
}

func TestMistakesInWhatRulesAreMatchedWith(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, want := range map[string]string{
		`{"target_id":0}`:               "/target_id not_found",
		`{"target_id":"7"}`:             "/target_id invalid_type",
		`{"tags":["prod","not a tag"]}`: "/tags/1 invalid_text",
		`{"tags":"prod"}`:               "/tags invalid_type",
		`{"tag":["prod"]}`:              "/tag unknown_field",
		`{"tags":["a"` + strings.Repeat(`,"a"`, 20) + `]}`: "/tags too_long",
	} {
		var found []string
		for _, m := range b.do("POST", "/api/v1/notification-rules:match", body, as(viewerKey)).problem(t).Errors {
			found = append(found, m.Pointer+" "+m.Code)
		}
		if strings.Join(found, ", ") != want {
			t.Errorf("%s: %s, want %s", body, strings.Join(found, ", "), want)
		}
	}
}
