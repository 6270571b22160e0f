package notify

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// endpoints are the providers with one address.
var endpoints = []string{"telegram", "pagerduty", "opsgenie", "pushover"}

// messages are of every event, and a digest, with names that mean something elsewhere.
func messages() map[string]Message {
	all := map[string]Message{}
	for _, kind := range []incidentstore.Kind{incidentstore.Opened, incidentstore.SeverityChanged, incidentstore.Escalated, incidentstore.Reminded, incidentstore.Acknowledged, incidentstore.Resolved, incidentstore.Tested} {
		all[string(kind)] = some(kind)
	}
	odd := some(incidentstore.Opened)
	odd.Items[0].Subject.Name = strings.Repeat(`<!channel> @everyone "*_&\`, 30)
	odd.Items[0].Explanation = strings.Repeat("é\n</b>", 2000)
	odd.Items[0].Regions = nil
	all["odd"] = odd
	digest := Message{Key: "digest"}
	for range 25 {
		digest.Items = append(digest.Items, some(incidentstore.Opened).Items[0], some(incidentstore.Resolved).Items[0])
	}
	all["digest"] = digest
	return all
}

// Every kind sends what its provider documents, for every message.
func TestPayloadsAreAsDocumented(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	d := newDeliverer(t, p, endpoints...)
	documented := shapes()
	for kind, config := range samples(p.URL) {
		if kind == "email" {
			continue
		}
		for name, m := range messages() {
			before := len(p.requests())
			sent := send(t, d, kind, config, m)
			if sent.Failure != nil {
				t.Errorf("%s, %s: %v", kind, name, sent.Failure)
				continue
			}
			heard := p.requests()[before:]
			if want := map[bool]int{true: len(m.Items), false: 1}[kind == "pagerduty" || kind == "opsgenie"]; len(heard) != want {
				t.Errorf("%s, %s: %d requests, want %d", kind, name, len(heard), want)
			}
			for _, h := range heard {
				where := kind + ", " + name
				switch {
				case kind == "pushover":
					checkPushover(t, where, h)
				case kind == "opsgenie" && h.path != "/v2/alerts":
					documented["opsgenie action"].fits(t, where, h.body)
				default:
					documented[kind].fits(t, where, h.body)
				}
				if h.method != http.MethodPost || h.header.Get("User-Agent") != userAgent || len(h.body) > 28<<10 && kind == "teams" {
					t.Errorf("%s: %s with %d bytes", where, h.method, len(h.body))
				}
			}
			shown := fmt.Sprintf("%+v %+v", sent, sent.Said())
			for _, s := range secretsOf(config) {
				if strings.Contains(shown, s) {
					t.Errorf("%s, %s: the transcript holds %q: %s", kind, name, s, shown)
				}
			}
		}
	}
}

func checkPushover(t *testing.T, where string, h heard) {
	t.Helper()
	form, err := url.ParseQuery(string(h.body))
	if err != nil || h.path != "/1/messages.json" || h.header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Errorf("%s: %+v %v", where, h, err)
	}
	for name, most := range map[string]int{"token": 30, "user": 30, "title": 250, "message": 1024, "url": 512, "url_title": 100} {
		if n := utf8.RuneCountInString(form.Get(name)); n == 0 || n > most {
			t.Errorf("%s: %s has %d characters", where, name, n)
		}
	}
	if form.Get("priority") != "0" && form.Get("priority") != "1" {
		t.Errorf("%s: priority %q", where, form.Get("priority"))
	}
}

// What makes a provider know an incident again is the same for all that is told of it.
func TestProvidersKnowAnIncidentAgain(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	d := newDeliverer(t, p, endpoints...)
	all := samples(p.URL)
	for _, kind := range []incidentstore.Kind{incidentstore.Opened, incidentstore.Reminded, incidentstore.Acknowledged, incidentstore.Resolved} {
		send(t, d, "pagerduty", all["pagerduty"], some(kind))
		send(t, d, "opsgenie", all["opsgenie"], some(kind))
	}
	var actions, paths []string
	for _, h := range p.requests() {
		var body struct {
			Action string `json:"event_action"`
			Dedup  string `json:"dedup_key"`
			Alias  string
		}
		if err := json.Unmarshal(h.body, &body); err != nil {
			t.Fatal(err)
		}
		if h.path == "/v2/enqueue" {
			actions = append(actions, body.Action)
			if body.Dedup != "https://pf.example/incidents/12" {
				t.Errorf("dedup_key %q", body.Dedup)
			}
			continue
		}
		paths = append(paths, strings.TrimPrefix(h.path, "/v2/alerts"))
		if h.path == "/v2/alerts" && body.Alias != "https://pf.example/incidents/12" || h.header.Get("Authorization") != "GenieKey canary-key-of-opsgenie" {
			t.Errorf("alias %q, %v", body.Alias, h.header)
		}
	}
	if got := strings.Join(actions, " "); got != "trigger trigger acknowledge resolve" {
		t.Error(got)
	}
	alias := "/https:%2F%2Fpf.example%2Fincidents%2F12"
	if got := strings.Join(paths, " "); got != "  "+alias+"/acknowledge?identifierType=alias "+alias+"/close?identifierType=alias" {
		t.Error(got)
	}
}

func TestWhatIsSentWhere(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	d := newDeliverer(t, p, endpoints...)
	for kind, want := range map[string]struct{ path, header, value, text string }{
		"slack":    {"/services/T0/B0/canary-of-slack-hook", "", "", `Down: shop`},
		"discord":  {"/api/webhooks/1/canary-of-discord-hook", "", "", `"parse":[]`},
		"telegram": {"/bot1:canary-of-telegram/sendMessage", "", "", `"message_thread_id":7`},
		"teams":    {"/workflows/canary-of-teams-hook?sig=canary-of-teams-sig", "", "", `"color":"attention"`},
		"ntfy":     {"/", "Authorization", "Bearer canary-of-ntfy", `"priority":5`},
		"gotify":   {"/sub/message", "X-Gotify-Key", "canary-of-gotify", `"priority":8`},
	} {
		before := len(p.requests())
		if sent := send(t, d, kind, samples(p.URL)[kind], some(incidentstore.Opened)); sent.Failure != nil {
			t.Fatal(kind, sent.Failure)
		}
		h := p.requests()[before]
		if h.path != want.path || want.header != "" && h.header.Get(want.header) != want.value || !strings.Contains(string(h.body), want.text) {
			t.Errorf("%s: %s %v %s", kind, h.path, h.header, h.body)
		}
	}
}

func TestTelegramAsksToWait(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.says(http.StatusTooManyRequests, `{"ok":false,"error_code":429,"parameters":{"retry_after":31}}`)
	sent := send(t, newDeliverer(t, p, endpoints...), "telegram", samples(p.URL)["telegram"], some(incidentstore.Opened))
	if sent.Failure == nil || sent.Failure.After != 31*time.Second || sent.Failure.ForGood {
		t.Errorf("%+v", sent.Failure)
	}
}

// Configurations are refused where they are wrong.
func TestConfigsAreJudged(t *testing.T) {
	t.Parallel()
	good := func(change func(map[string]Config)) map[string]Config {
		all := samples("https://a.example")
		change(all)
		return all
	}
	for want, all := range map[string]map[string]Config{
		"slack url invalid_url":              good(func(m map[string]Config) { m["slack"].(*Slack).URL = NewSecret("http://a.example/x") }),
		"discord url required":               good(func(m map[string]Config) { m["discord"].(*Discord).URL = Secret{} }),
		"teams url invalid_url":              good(func(m map[string]Config) { m["teams"].(*Teams).URL = NewSecret("teams") }),
		"telegram token invalid_text":        good(func(m map[string]Config) { m["telegram"].(*Telegram).Token = NewSecret("1:abc/../x") }),
		"telegram chat_id required":          good(func(m map[string]Config) { m["telegram"].(*Telegram).ChatID = "" }),
		"pagerduty routing_key invalid_text": good(func(m map[string]Config) { m["pagerduty"].(*PagerDuty).RoutingKey = NewSecret("too-short") }),
		"pagerduty region invalid_value":     good(func(m map[string]Config) { m["pagerduty"].(*PagerDuty).Region = "mars" }),
		"opsgenie key required":              good(func(m map[string]Config) { m["opsgenie"].(*Opsgenie).Key = Secret{} }),
		"ntfy topic invalid_text":            good(func(m map[string]Config) { m["ntfy"].(*Ntfy).Topic = "a/b" }),
		"ntfy server invalid_url":            good(func(m map[string]Config) { m["ntfy"].(*Ntfy).Server = "file:///etc/passwd" }),
		"gotify server required":             good(func(m map[string]Config) { m["gotify"].(*Gotify).Server = "" }),
		"gotify token invalid_text":          good(func(m map[string]Config) { m["gotify"].(*Gotify).Token = NewSecret("new\nline") }),
		"pushover user required":             good(func(m map[string]Config) { m["pushover"].(*Pushover).User = Secret{} }),
		"email to/1 invalid_email":           good(func(m map[string]Config) { m["email"].(*Email).Recipients = []string{"a@b.example", "<x"} }),
		"email to required":                  good(func(m map[string]Config) { m["email"].(*Email).Recipients = nil }),
		"email from invalid_email":           good(func(m map[string]Config) { m["email"].(*Email).From = "a@b.example\r\nBcc: x@y.example" }),
		"email security invalid_value":       good(func(m map[string]Config) { m["email"].(*Email).Security = "none" }),
		"email host invalid_text":            good(func(m map[string]Config) { m["email"].(*Email).Host = "a b" }),
		"email password required":            good(func(m map[string]Config) { m["email"].(*Email).Password = Secret{} }),
	} {
		var found []string
		for kind, config := range all {
			for _, p := range Judge(config, nil) {
				found = append(found, kind+" "+p.Field+" "+p.Code)
			}
		}
		if strings.Join(found, ", ") != want {
			t.Errorf("%v, want %s", found, want)
		}
	}
}

// A secret that is kept is not sent to another host than it was written for.
func TestKeptSecretsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after Config }{
		{&Ntfy{Server: "https://a.example", Topic: "t", Token: NewSecret("canary-token")}, &Ntfy{Server: "https://b.example", Topic: "t", Token: Secret{kept: true}}},
		{&Gotify{Server: "https://a.example", Token: NewSecret("canary-token")}, &Gotify{Server: "https://b.example", Token: Secret{kept: true}}},
		{&Webhook{URL: NewSecret("https://a.example/"), Secret: NewSecret(hookKey), Authorization: NewSecret("Bearer canary")}, &Webhook{URL: NewSecret("https://b.example/"), Secret: NewSecret(hookKey + "2"), Authorization: Secret{kept: true}}},
		{&Email{Host: "a.example", From: "a@b.example", Recipients: []string{"a@b.example"}, Username: "u", Password: NewSecret("canary-password")}, &Email{Host: "b.example", From: "a@b.example", Recipients: []string{"a@b.example"}, Username: "u", Password: Secret{kept: true}}},
	} {
		if found := Judge(c.after, c.before); len(found) != 1 || found[0].Code != CodeSecretOrigin {
			t.Errorf("%T: %+v", c.after, found)
		}
	}
}
