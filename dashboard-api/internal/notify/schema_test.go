package notify

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"
)

// shape is what a provider documents of a value, as far as it is checked here.
type shape struct {
	kind     string // string, number, boolean, object, array; "": any
	required []string
	members  map[string]shape
	items    *shape
	most     int // characters or items
	least    int
	oneOf    []string
	pattern  string
	closed   bool // other members are refused
}

func text(most int) shape           { return shape{kind: "string", least: 1, most: most} }
func oneWord(words ...string) shape { return shape{kind: "string", oneOf: words} }
func list(most int, items shape) shape {
	return shape{kind: "array", least: 1, most: most, items: &items}
}

func (s shape) check(at string, value any) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, at+": "+fmt.Sprintf(format, args...)) }
	bounds := func(n int) {
		if s.most > 0 && n > s.most || n < s.least {
			say("%d long, want %d to %d", n, s.least, s.most)
		}
	}
	switch v := value.(type) {
	case string:
		bounds(utf8.RuneCountInString(v))
		if s.kind != "" && s.kind != "string" {
			say("a text, want %s", s.kind)
		}
		if len(s.oneOf) > 0 && !slices.Contains(s.oneOf, v) {
			say("%q is not one of %v", v, s.oneOf)
		}
		if s.pattern != "" && !regexp.MustCompile(s.pattern).MatchString(v) {
			say("%q is not like %s", v, s.pattern)
		}
	case map[string]any:
		if s.kind != "" && s.kind != "object" {
			say("an object, want %s", s.kind)
		}
		for _, name := range s.required {
			if _, there := v[name]; !there {
				say("%s is missing", name)
			}
		}
		for name, member := range v {
			known, is := s.members[name]
			if !is && s.closed {
				say("%s is not known", name)
			}
			wrong = append(wrong, known.check(at+"/"+name, member)...)
		}
	case []any:
		bounds(len(v))
		if s.kind != "" && s.kind != "array" {
			say("a list, want %s", s.kind)
		}
		for i, item := range v {
			if s.items != nil {
				wrong = append(wrong, s.items.check(fmt.Sprint(at, "/", i), item)...)
			}
		}
	case float64:
		if s.kind != "" && s.kind != "number" {
			say("a number, want %s", s.kind)
		}
		if s.most > 0 && (v > float64(s.most) || v < float64(s.least)) {
			say("%v, want %d to %d", v, s.least, s.most)
		}
	case bool:
		if s.kind != "" && s.kind != "boolean" {
			say("a truth value, want %s", s.kind)
		}
	}
	return wrong
}

// fits says what is wrong with a document.
func (s shape) fits(t *testing.T, where string, body []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s: %v: %s", where, err, body)
		return
	}
	for _, wrong := range s.check("", value) {
		t.Errorf("%s: %s in %.300s", where, wrong, body)
	}
}

func object(required []string, members map[string]shape) shape {
	return shape{kind: "object", required: required, members: members, closed: true}
}

// shapes are the documented requests of providers, by kind; what Opsgenie takes depends on the action.
func shapes() map[string]shape {
	slackText := object([]string{"type", "text"}, map[string]shape{"type": oneWord("plain_text", "mrkdwn"), "text": text(3000)})
	slackBlock := object([]string{"type", "text"}, map[string]shape{"type": oneWord("header", "section"), "text": slackText})
	anyText := shape{kind: "string"}
	return map[string]shape{
		"webhook": object([]string{"id", "title", "text", "notifications"}, map[string]shape{"id": text(200), "title": text(maxTitle), "text": anyText, "notifications": list(50, shape{kind: "object", required: []string{"event", "incident_id", "severity", "since", "link"}})}),
		"slack":   object([]string{"text"}, map[string]shape{"text": text(40_000), "attachments": list(100, object([]string{"color", "blocks"}, map[string]shape{"color": {kind: "string", pattern: "^#[0-9a-f]{6}$"}, "blocks": list(50, slackBlock)}))}),
		"discord": object([]string{"embeds"}, map[string]shape{
			"allowed_mentions": object([]string{"parse"}, map[string]shape{"parse": {kind: "array"}}),
			"embeds": list(10, object([]string{"title"}, map[string]shape{
				"title": text(256), "url": {kind: "string", pattern: "^https?://"}, "color": {kind: "number", most: 0xffffff},
				"fields": list(25, object([]string{"name", "value"}, map[string]shape{"name": text(256), "value": text(1024), "inline": {kind: "boolean"}})),
			})),
		}),
		"telegram": object([]string{"chat_id", "text"}, map[string]shape{"chat_id": text(64), "text": text(4096), "message_thread_id": {kind: "number"}, "link_preview_options": object(nil, map[string]shape{"is_disabled": {kind: "boolean"}})}),
		"teams": object([]string{"type", "attachments"}, map[string]shape{"type": oneWord("message"), "attachments": list(1, object([]string{"contentType", "content"}, map[string]shape{
			"contentType": oneWord("application/vnd.microsoft.card.adaptive"), "contentUrl": {},
			"content": object([]string{"type", "version", "body"}, map[string]shape{
				"$schema": text(100), "type": oneWord("AdaptiveCard"), "version": oneWord("1.0", "1.1", "1.2", "1.3", "1.4", "1.5"),
				"body": list(50, shape{kind: "object", required: []string{"type"}, members: map[string]shape{"type": oneWord("TextBlock", "FactSet"), "color": oneWord("default", "dark", "light", "accent", "good", "warning", "attention"),
					"facts": list(50, object([]string{"title", "value"}, map[string]shape{"title": text(1000), "value": anyText}))}}),
				"actions": list(6, object([]string{"type", "title", "url"}, map[string]shape{"type": oneWord("Action.OpenUrl"), "title": text(50), "url": {kind: "string", pattern: "^https?://"}})),
			}),
		}))}),
		"pagerduty": object([]string{"routing_key", "event_action"}, map[string]shape{
			"routing_key": {kind: "string", least: 32, most: 32}, "event_action": oneWord("trigger", "acknowledge", "resolve"), "dedup_key": text(255), "client": text(100), "client_url": text(500),
			"payload": object([]string{"summary", "source", "severity"}, map[string]shape{"summary": text(1024), "source": text(1024), "severity": oneWord("critical", "error", "warning", "info"),
				"timestamp": {kind: "string", pattern: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`}, "component": anyText, "class": anyText, "custom_details": {kind: "object"}}),
		}),
		"opsgenie":        object([]string{"message"}, map[string]shape{"message": text(130), "alias": text(512), "description": text(15_000), "source": text(100), "note": text(25_000), "entity": text(512), "details": {kind: "object"}, "priority": oneWord("P1", "P2", "P3", "P4", "P5")}),
		"opsgenie action": object(nil, map[string]shape{"source": text(100), "note": text(25_000), "user": text(100)}),
		"ntfy":            object([]string{"topic"}, map[string]shape{"topic": {kind: "string", pattern: "^[-_A-Za-z0-9]{1,64}$"}, "title": text(250), "message": text(4096), "priority": {kind: "number", least: 1, most: 5}, "tags": list(5, text(50)), "click": {kind: "string", pattern: "^https?://"}}),
		"gotify":          object([]string{"message"}, map[string]shape{"title": anyText, "message": text(100_000), "priority": {kind: "number", least: 0, most: 10}, "extras": {kind: "object"}}),
	}
}
