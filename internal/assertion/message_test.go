package assertion

import (
	"net/http"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

func said(t *testing.T, o *Observation, a uptime.Assertion) string {
	t.Helper()
	v := compile(t, a).Evaluate(o)
	if len(v.Failed) != 1 {
		t.Fatalf("%+v passes", a)
	}
	if !goodMessage(v.First().Message) {
		t.Errorf("%q is not fit for a line", v.First().Message)
	}
	return v.First().Message
}

const canary = "kanarie-4711"

// Secrets appear in no message, wherever the target puts them.
func TestMessagesHideSecrets(t *testing.T) {
	t.Parallel()
	o := &Observation{
		Status: 500, Secrets: []string{canary, "", "11-and-more"},
		Header: http.Header{"X-Echo": {"<" + canary + ">"}, "Location": {"/x?a=" + canary + "#" + canary}},
		Body:   []byte(strings.Repeat(" ", 110) + canary + `"`), Received: []byte(canary + canary),
		Redirect: "https://" + canary + "@a.example/" + canary,
		Records:  map[string][]string{"TXT": {"x", canary}}, Protocol: canary, Rcode: canary,
	}
	for _, a := range []uptime.Assertion{
		{Source: "header", Name: "x-echo", Op: "equals", Value: "no " + canary},
		{Source: "header", Name: "location", Op: "absent"},
		{Source: "body", Op: "contains", Value: "x" + canary},
		{Source: "received", Op: "absent"},
		{Source: "redirect", Op: "not_contains", Value: canary},
		{Source: "dns", Name: "TXT", Op: "not_matches", Value: canary},
		{Source: "protocol", Op: "equals", Value: "HTTP/2"},
		{Source: "rcode", Op: "equals", Value: "NOERROR"},
		{Source: "json", Name: "$['" + canary + "']", Op: "equals", Value: canary},
	} {
		if message := said(t, o, a); strings.Contains(message, canary[:4]) {
			t.Errorf("%s", message)
		}
	}
	o.Body = []byte(`{"a":"` + canary + `","b":["` + canary + `",11]}`)
	for _, path := range []string{"$", "$.a", "$.b", "$..*"} {
		if message := said(t, o, uptime.Assertion{Source: "json", Name: path, Op: "equals", Value: "x"}); strings.Contains(message, canary[:4]) || !strings.Contains(message, redact.Secret) {
			t.Errorf("%s", message)
		}
	}
}

// A secret that has a # or ? in it is hidden before the URL is cut there.
func TestURLsHideSecretsFirst(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"kana#rie", "kana?rie", "kana=rie&x"} {
		o := &Observation{Redirect: "https://a.example/?" + secret + "=1", Secrets: []string{secret}}
		if message := said(t, o, uptime.Assertion{Source: "redirect", Op: "absent"}); strings.Contains(message, "kana") {
			t.Errorf("%s", message)
		}
	}
}

// What is known to be secret by its name is not shown, nor what it is compared with.
func TestValuesOfSecretNamesAreNotShown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-API-Key", "x_apikey", "X-Auth-Token", "X-Amz-Security-Token", "Client-Secret", "X-Session-Id", "Auth", "X-Auth", "X-CSRF-Token", "Authentication-Info"} {
		o := &Observation{Header: http.Header{}}
		o.Header.Set(name, canary)
		for _, a := range []uptime.Assertion{
			{Source: "header", Name: name, Op: "equals", Value: "other " + canary},
			{Source: "header", Name: name, Op: "not_matches", Value: canary[:5]},
			{Source: "header", Name: name, Op: "absent"},
		} {
			if message := said(t, o, a); strings.Contains(message, canary[:4]) {
				t.Errorf("%s", message)
			}
		}
	}
	for _, path := range []string{"$.access_token", "$..['apiKey']", "$.user.password", "$[?@.secret == 'x'].n"} {
		o := &Observation{Body: []byte(`{"access_token":"kanarie","user":{"password":"kanarie"},"apiKey":["kanarie"],"x":{"secret":"x","n":"kanarie"}}`)}
		if message := said(t, o, uptime.Assertion{Source: "json", Name: path, Op: "equals", Value: "kana"}); strings.Contains(message, "kana") {
			t.Errorf("%s", message)
		}
	}
	got := said(t, &Observation{Header: http.Header{"Set-Cookie": {canary}}}, uptime.Assertion{Source: "header", Name: "set-cookie", Op: "contains", Value: "x"})
	if want := "header set-cookie is not shown, want it to contain what is not shown"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

func TestMessagesOfTheLongestPartsFit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxValue/2)
	name := "x-" + strings.Repeat("a", MaxName-2)
	path := "$['" + strings.Repeat("\u00fc", 120) + "']"
	o := &Observation{Header: http.Header{}, Body: []byte(`{"` + strings.Repeat("\u00fc", 120) + `":"` + long + `"}`), Redirect: "https://" + long, Records: map[string][]string{"DNSKEY": {long + "x"}}}
	o.Header.Set(name, long)
	for _, a := range []uptime.Assertion{
		{Source: "header", Name: name, Op: "not_contains", Value: long},
		{Source: "json", Name: path, Op: "not_contains", Value: long},
		{Source: "body", Op: "not_contains", Value: long},
		{Source: "redirect", Op: "not_contains", Value: long},
		{Source: "dns", Name: "DNSKEY", Op: "not_contains", Value: long},
	} {
		message := said(t, o, a)
		if !strings.Contains(message, redact.Cut) || len(message) < 200 {
			t.Errorf("%d bytes: %s", len(message), message)
		}
	}
	o = &Observation{Body: []byte(strings.Repeat("[", maxDepth+1)), Received: nil}
	said(t, o, uptime.Assertion{Source: "json", Name: path, Op: "not_contains", Value: long})
	o.BodyCut = true
	said(t, o, uptime.Assertion{Source: "json", Name: path, Op: "not_contains", Value: long})
}
