package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const (
	hookURL   = "https://hooks.example/T0/canary-hook-url"
	hookKey   = "canary-signing-key"
	aWebhook  = `{"name":"ops","webhook":{"url":"` + hookURL + `","secret":"` + hookKey + `"}}`
	hookShown = `"webhook":{"url":"[secret]","secret":"[secret]"}`
)

type channelJSON struct {
	ID       int64
	Name     string
	Kind     string
	To       string
	Enabled  bool
	Readable bool
	Version  int64
}

func (b *bench) channel(body string) (c channelJSON) {
	b.Helper()
	got := b.do("POST", "/api/v1/channels", body, as(editorKey))
	if got.Code != http.StatusCreated {
		b.Fatalf("create %s: %d %s", body, got.Code, got.text)
	}
	got.into(b, &c)
	return c
}

func TestChannelIsKeptWithoutShowingItsSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var answers strings.Builder
	do := func(method, path, body string, options ...option) reply {
		got := b.do(method, path, body, append(options, as(editorKey))...)
		answers.WriteString(got.text + fmt.Sprint(got.Header()))
		return got
	}
	created := do("POST", "/api/v1/channels", aWebhook, header("Idempotency-Key", "k"))
	if created.Code != http.StatusCreated || !strings.Contains(created.text, hookShown) || created.Header().Get("ETag") != `"1"` {
		t.Fatalf("%d %s", created.Code, created.text)
	}
	var c channelJSON
	created.into(t, &c)
	if c.To != "hooks.example" || c.Kind != "webhook" || !c.Enabled || !c.Readable || created.Header().Get("Location") != fmt.Sprintf("/api/v1/channels/%d", c.ID) {
		t.Errorf("%+v", c)
	}
	path := created.Header().Get("Location")
	if again := do("POST", "/api/v1/channels", aWebhook, header("Idempotency-Key", "k")); again.text != created.text {
		t.Errorf("repeated: %s", again.text)
	}
	if p := do("POST", "/api/v1/channels", aWebhook).problem(t); p.Code != codeDuplicateName || p.Errors[0].Pointer != "/name" {
		t.Errorf("%+v", p)
	}
	// What is shown can be written back: the secrets stay, but not for another host.
	kept := do("PATCH", path, `{"name":"operations",`+hookShown+`}`, header("If-Match", `"1"`))
	if kept.Code != http.StatusOK || kept.Header().Get("ETag") != `"2"` {
		t.Fatalf("%d %s", kept.Code, kept.text)
	}
	stored, err := b.incidents.Channel(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	config, err := notify.Open(b.options.Box, stored.Kind, stored.Config)
	if hook, is := config.(*notify.Webhook); err != nil || !is || hook.URL.Reveal() != hookURL || hook.Secret.Reveal() != hookKey {
		t.Errorf("kept: %v %v", err, config)
	}
	if p := do("PATCH", path, `{"webhook":{"url":"https://evil.example/","secret":"[secret]"}}`).problem(t); p.Code != notify.CodeSecretOrigin || p.Errors[0].Pointer != "/webhook/secret" {
		t.Errorf("%+v", p)
	}
	if p := do("PATCH", path, `{"enabled":false}`, header("If-Match", `"1"`)).problem(t); p.Code != codeVersionMismatch {
		t.Errorf("%+v", p)
	}
	if off := do("PATCH", path, `{"enabled":false}`); off.Code != http.StatusOK || !strings.Contains(off.text, `"enabled":false`) || !strings.Contains(off.text, `"name":"operations"`) {
		t.Errorf("%d %s", off.Code, off.text)
	}
	do("GET", path, "")
	do("GET", "/api/v1/channels", "")
	b.tester.sent = notify.Sent{Took: time.Second, Exchanges: []notify.Exchange{{Request: "POST https://hooks.example[secret]", Sent: "{}", Status: 500, Answer: "no", Took: time.Second}}, Failure: &notify.Failure{Status: 500, Said: "500: no"}}
	tested := do("POST", path+":test", `{"event":"resolved"}`)
	if want := `{"delivered":false,"reason":"500: no","status":500,"took_ms":1000,"exchanges":[{"request":"POST https://hooks.example[secret]","sent":"{}","status":500,"answer":"no","took_ms":1000}]}`; strings.TrimSpace(tested.text) != want {
		t.Errorf("%d %s", tested.Code, tested.text)
	}
	log := do("GET", path+"/deliveries", "")
	if !strings.Contains(log.text, `"event":"test"`) || !strings.Contains(log.text, `"outcome":"failed","status":500,"excerpt":"500: no"`) || !strings.Contains(log.text, `"incident_id":null`) {
		t.Errorf("%d %s", log.Code, log.text)
	}
	if got := do("POST", path, `{}`); got.Code != http.StatusMethodNotAllowed {
		t.Errorf("post to a channel: %d", got.Code)
	}
	if got := do("POST", path+":toast", `{}`); got.Code != http.StatusMethodNotAllowed && got.Code != http.StatusNotFound {
		t.Errorf("unknown action: %d", got.Code)
	}
	if got := do("DELETE", path, ""); got.Code != http.StatusNoContent {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := do("GET", path, ""); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
	var rows string
	for _, query := range []string{"SELECT COALESCE(GROUP_CONCAT(config), '') FROM channels", "SELECT COALESCE(GROUP_CONCAT(detail || object), '') FROM audit_log", "SELECT COALESCE(GROUP_CONCAT(body || request_hash), '') FROM idempotency_keys", "SELECT COALESCE(GROUP_CONCAT(excerpt), '') FROM deliveries"} {
		var text string
		if err := b.db.Read().Raw(query).Row().Scan(&text); err != nil {
			t.Fatal(err)
		}
		rows += text
	}
	for where, text := range map[string]string{"an answer": answers.String(), "the log": b.log.String(), "the database": rows + string(stored.Config)} {
		if strings.Contains(text, "canary") {
			t.Errorf("a secret is in %s: %s", where, text)
		}
	}
}

func TestMistakesInChannelsPointAtTheField(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for body, want := range map[string]string{
		`{}`:                            "/name required, /kind required",
		`{"name":"x"}`:                  "/kind required",
		`{"name":"x","kind":"webhook"}`: "/webhook required",
		`{"name":"x","kind":"pigeon"}`:  "/kind unknown_kind",
		`{"name":"x","kind":"slack","webhook":{"url":"https://a.example/","secret":"0123456789abcdef"}}`: "/kind kind_mismatch",
		`{"name":"x","webhook":{}}`:                                                                "/webhook/url required, /webhook/secret required",
		`{"name":"x","webhook":{"url":7,"secret":"short!"}}`:                                       "/webhook/url invalid_type, /webhook/secret invalid_text",
		`{"name":"x","webhook":{"url":null,"secret":null}}`:                                        "/webhook/url required, /webhook/secret required",
		`{"name":"x","webhook":{"url":"ftp://a.example/","secret":"0123456789abcdef"}}`:            "/webhook/url invalid_url",
		`{"name":"x","webhook":{"url":"https://u:p@a.example/","secret":"0123456789abcdef"}}`:      "/webhook/url invalid_url",
		`{"name":"x","webhook":{"url":"[secret]","secret":"0123456789abcdef"}}`:                    "/webhook/url no_stored_secret",
		`{"name":"x","webhook":{"url":"https://a.example/","secret":"0123456789abcdef","wish":1}}`: "/webhook/wish unknown_field",
		`{"name":"x","webhook":[]}`:                                                                "/webhook invalid_type",
		`{"name":" ","webhook":{"url":"https://a.example/","secret":"0123456789abcdef"}}`:          "/name required",
	} {
		got := b.do("POST", "/api/v1/channels", body, as(editorKey))
		var found []string
		for _, m := range got.problem(t).Errors {
			found = append(found, m.Pointer+" "+m.Code)
		}
		if strings.Join(found, ", ") != want {
			t.Errorf("%s: %s, want %s", body, strings.Join(found, ", "), want)
		}
	}
}

func TestRulesAreJudgedAndKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.channel(aWebhook).ID
	whole := fmt.Sprintf(`{"name":"night","tags":["prod"],"target_ids":[7],"severities":["down"],"zone":"Europe/Berlin","schedule":[{"days":["mon","fri"],"from":"22:00","to":"07:30"}],`+
		`"quiet_hours":[{"from":"03:00","to":"04:00"}],"quiet_lets_through":["down"],"digest_minutes":5,"fleet":true,"channel_ids":[%d],"escalations":[{"after_minutes":10,"channel_ids":[%d]}],"reminder_minutes":30,"send_acknowledged":true}`, id, id)
	created := b.do("POST", "/api/v1/notification-rules", whole, as(editorKey))
	if created.Code != http.StatusCreated {
		t.Fatalf("%d %s", created.Code, created.text)
	}
	for _, want := range []string{`"schedule":[{"days":["mon","fri"],"from":"22:00","to":"07:30"}]`, `"zone":"Europe/Berlin"`, fmt.Sprintf(`"escalations":[{"after_minutes":10,"channel_ids":[%d]}]`, id), `"send_resolved":true`, `"enabled":true`, `"fleet":true`} {
		if !strings.Contains(created.text, want) {
			t.Errorf("%s is not in %s", want, created.text)
		}
	}
	path := created.Header().Get("Location")
	patched := b.do("PATCH", path, `{"schedule":null,"zone":null,"send_resolved":false}`, as(editorKey), header("If-Match", created.Header().Get("ETag")))
	if patched.Code != http.StatusOK || !strings.Contains(patched.text, `"schedule":[]`) || !strings.Contains(patched.text, `"zone":"UTC"`) || !strings.Contains(patched.text, `"send_resolved":false`) || !strings.Contains(patched.text, `"tags":["prod"]`) {
		t.Errorf("%d %s", patched.Code, patched.text)
	}
	if got := b.do("PATCH", path, `{}`, as(editorKey), header("If-Match", `"1"`)); got.Code != http.StatusPreconditionFailed {
		t.Errorf("%d", got.Code)
	}
	if got := b.do("GET", path, "", as(viewerKey)); got.text != patched.text {
		t.Errorf("%s", got.text)
	}
	if got := b.do("GET", "/api/v1/notification-rules", "", as(viewerKey)); !strings.Contains(got.text, `"name":"night"`) {
		t.Errorf("%s", got.text)
	}
	for _, fleet := range []string{"false", "null"} {
		if got := b.do("PATCH", path, `{"fleet":`+fleet+`}`, as(editorKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"fleet":`+fleet) {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	if p := b.do("DELETE", fmt.Sprintf("/api/v1/channels/%d", id), "", as(editorKey)).problem(t); p.Code != "channel_in_use" {
		t.Errorf("%+v", p)
	}
	for body, want := range map[string]string{
		`{}`:                                "/name required",
		`{"name":"x"}`:                      "/channel_ids required",
		`{"name":"x","channel_ids":[4711]}`: "/channel_ids/0 not_found",
		`{"name":"x","channel_ids":[1],"zone":"Mars/Base"}`:                                     "/zone unknown_zone",
		`{"name":"x","channel_ids":[1],"severities":["bad"]}`:                                   "/severities/0 invalid_parameter",
		`{"name":"x","channel_ids":[1],"schedule":[{"days":["soon"],"from":"7","to":"24:00"}]}`: "/schedule/0/from invalid_parameter",
		`{"name":"x","channel_ids":[1],"digest_minutes":-1}`:                                    "/digest_minutes invalid_range",
		`{"name":"x","channel_ids":[1],"escalations":[{"after_minutes":0,"channel_ids":[]}]}`:   "/escalations/0/after_minutes invalid_range",
		`{"name":"x","channel_ids":[1],"quiet_hours":[{"from":"00:00","to":"00:00"}]}`:          "/quiet_hours invalid_range",
		`{"name":"x","channel_ids":[1],"tags":[" a"]}`:                                          "/tags/0 invalid_text",
		`{"name":"night","channel_ids":[1]}`:                                                    "/name duplicate_name",
	} {
		p := b.do("POST", "/api/v1/notification-rules", body, as(editorKey)).problem(t)
		if !slices.ContainsFunc(p.Errors, func(m Mistake) bool { return m.Pointer+" "+m.Code == want }) {
			t.Errorf("%s: %+v, want %s", body, p.Errors, want)
		}
	}
	if got := b.do("DELETE", path, "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Errorf("%d", got.Code)
	}
}

func TestIncidents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	channel := b.channel(aWebhook)
	if got := b.do("POST", "/api/v1/notification-rules", fmt.Sprintf(`{"name":"all","channel_ids":[%d],"send_acknowledged":true}`, channel.ID), as(editorKey)); got.Code != http.StatusCreated {
		t.Fatal(got.text)
	}
	target := b.create(`{"url":"https://example.com/"}`)
	var ids []int64
	for n := range 5 {
		at := testNow.Add(time.Duration(n-10) * time.Minute)
		ids = append(ids, b.openIncident(incidentstore.Opening{TargetID: target.ID, FirstSlot: at, At: at.Add(time.Minute), Severity: incidentstore.Down,
			Subject: incidentstore.Subject{Name: "example.com", URL: "https://example.com/", Kind: "http", Tags: []string{"prod"}}, Cause: incidentstore.Cause{Explanation: "answers 500", Failure: "status_code", Regions: []string{"eu"}, HTTPStatus: 500}}))
	}
	var page struct {
		Items []struct {
			ID    int64
			State string
		}
		NextCursor *string `json:"next_cursor"`
	}
	var seen []int64
	for cursor := ""; ; cursor = *page.NextCursor {
		page.Items, page.NextCursor = nil, nil
		b.do("GET", "/api/v1/incidents?limit=2&state=open&cursor="+cursor, "", as(viewerKey)).into(t, &page)
		for _, i := range page.Items {
			seen = append(seen, i.ID)
		}
		if page.NextCursor == nil {
			break
		}
	}
	slices.Reverse(seen)
	if !slices.Equal(seen, ids) {
		t.Errorf("listed %v of %v", seen, ids)
	}
	confirmed := verdictstore.Confirmation{TargetID: target.ID, Slot: testNow.Add(-10 * time.Minute), Region: "us", Prober: "p1", CheckedAt: testNow.Add(-10*time.Minute + time.Second), Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 500}
	before := confirmed
	before.Slot, before.CheckedAt = before.Slot.Add(-time.Minute), before.Slot.Add(-time.Second)
	if _, err := b.verdicts.Commit(t.Context(), verdictstore.Commit{Entry: "1-0", At: testNow, Confirmations: []verdictstore.Confirmation{before, confirmed}}); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/api/v1/incidents/%d", ids[0])
	got := b.do("GET", path, "", as(viewerKey))
	for _, want := range []string{`"began_at":"2026-03-01T11:50:00.000Z"`, `"duration_s":600`, `"state":"open"`, `"explanation":"answers 500"`, `"tags":["prod"]`, `"group_id":null`, `"timeline":[{`, `"kind":"opened"`,
		`"confirmations":[{"region":"us","prober":"p1","slot":"2026-03-01T11:50:00.000Z","checked_at":"2026-03-01T11:50:01.000Z","status":"down","failure":"status_code","reason":"","http_status":500,"total_us":0,"message":""}]`} {
		if !strings.Contains(got.text, want) {
			t.Errorf("%s is not in %s", want, got.text)
		}
	}
	notified := b.notified
	if got := b.do("POST", path+":acknowledge", `{"text":"on it"}`, as(editorKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"state":"acknowledged"`) || !strings.Contains(got.text, `"text":"on it"`) || b.notified != notified+1 {
		t.Errorf("%d %s", got.Code, got.text)
	}
	for range 2 {
		if got := b.do("POST", path+"/notes", `{"text":"looking <b>hard</b>"}`, as(editorKey), header("Idempotency-Key", "n1")); got.Code != http.StatusCreated {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	if got := b.do("GET", path, "", as(viewerKey)); strings.Count(got.text, `"kind":"note"`) != 1 {
		t.Errorf("%s", got.text)
	}
	if n, _, err := b.incidents.Backlog(t.Context(), testNow); n != 6 || err != nil { // five were opened, one is acknowledged
		t.Errorf("%d wait, %v", n, err)
	}
	for request, want := range map[string]int{
		"POST " + path + "/notes {}": 422, "POST /api/v1/incidents/4711:acknowledge {}": 404, "POST /api/v1/incidents/4711/notes {\"text\":\"x\"}": 404, "GET /api/v1/incidents/4711": 404,
		"POST " + path + ":acknowledge {\"wish\":1}": 400, "GET /api/v1/incidents?state=gone": 422, "GET /api/v1/incidents?cursor=x": 422, "GET /api/v1/incidents/x": 422,
	} {
		method, rest, _ := strings.Cut(request, " ")
		to, body, _ := strings.Cut(rest, " ")
		if got := b.do(method, to, body, as(editorKey)); got.Code != want {
			t.Errorf("%s: %d %s", request, got.Code, got.text)
		}
	}
}

// Every kind of channel has its schema, from which a form can be made, and one member in what
// is written and what is read.
func TestEveryKindOfChannelIsDescribed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Ref    string `json:"$ref"`
					Type   any
					Format string
				}
				Required []string
			}
		}
	}
	b.do("GET", "/api/openapi.json", "").into(t, &document)
	schemas := document.Components.Schemas
	for _, kind := range notify.Kinds() {
		for _, name := range []string{"ChannelInput", "ChannelBody"} {
			ref := schemas[name].Properties[kind].Ref
			schema := schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
			if len(schema.Properties) == 0 || len(schema.Required) == 0 {
				t.Errorf("%s of %s: %q %+v", kind, name, ref, schema)
			}
			secrets := 0
			for field, p := range schema.Properties {
				if p.Type == nil && p.Ref == "" {
					t.Errorf("%s/%s has no type", kind, field)
				}
				if p.Format == "password" {
					secrets++
				}
			}
			if secrets == 0 {
				t.Errorf("%s says of none of its members that it is a secret: %+v", kind, schema)
			}
		}
	}
	if n := len(settings(&ChannelInput{})); n != len(notify.Kinds()) {
		t.Errorf("%d kinds can be written, there are %d", n, len(notify.Kinds()))
	}
}

// The settings of every kind can be saved, are shown without secrets, and what is shown can be saved again.
func TestEveryKindOfChannelIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for kind, text := range map[string]string{
		"webhook":   `{"url":"https://a.example/canary-path-1","secret":"canary-0123456789"}`,
		"email":     `{"host":"smtp.example.com","security":"tls","username":"u","password":"canary-2","from":"a@example.com","to":["b@example.com"]}`,
		"slack":     `{"url":"https://hooks.slack.com/services/canary-3"}`,
		"discord":   `{"url":"https://discord.com/api/webhooks/1/canary-4"}`,
		"telegram":  `{"token":"1:canary-5","chat_id":"@ops"}`,
		"teams":     `{"url":"https://x.logic.azure.com/workflows/canary-6"}`,
		"pagerduty": `{"routing_key":"canary-7-0123456789abcdef0123456"}`,
		"opsgenie":  `{"key":"canary-8","region":"eu"}`,
		"ntfy":      `{"topic":"ops","token":"canary-9"}`,
		"gotify":    `{"server":"https://gotify.example.com","token":"canary-10"}`,
		"pushover":  `{"token":"canary-11","user":"canary-12"}`,
		"shoutrrr":  `{"url":"zulip://canary-bot%40zulip.example:canary-13@zulip.example/?stream=ops"}`,
	} {
		created := b.do("POST", "/api/v1/channels", `{"name":"`+kind+`","`+kind+`":`+text+`}`, as(editorKey))
		if created.Code != http.StatusCreated || strings.Contains(created.text, "canary") {
			t.Errorf("%s: %d %s", kind, created.Code, created.text)
			continue
		}
		var shown map[string]json.RawMessage
		created.into(t, &shown)
		path := created.Header().Get("Location")
		again := b.do("PATCH", path, `{"`+kind+`":`+string(shown[kind])+`}`, as(editorKey))
		if again.Code != http.StatusOK || strings.Contains(again.text, "canary") {
			t.Errorf("%s written back as %s: %d %s", kind, shown[kind], again.Code, again.text)
		}
	}
	if got := b.do("GET", "/api/v1/channels", "", as(viewerKey)); strings.Contains(got.text, "canary") || strings.Count(got.text, `"readable":true`) != len(notify.Kinds()) {
		t.Errorf("%s", got.text)
	}
}
