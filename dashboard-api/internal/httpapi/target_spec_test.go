package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// members gives some members of an object as JSON.
func members(t *testing.T, text string, names ...string) string {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q:%s", name, object[name])
	}
	return strings.Join(out, ",")
}

func TestTargetsOfEveryKind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ url, kind, name, more, want string }{
		{"https://example.com/x", "http", "example.com/x",
			`"http":{"method":"POST","headers":[{"name":"X-A","value":"b"}],"body":"{}","redirects":0,"cookies":true,"compressed":true,"version":"2"},"tls":{"server_name":"a.example","skip_verify":true,"post_quantum":true},"family":"4"`,
			`"family":"4","http":{"method":"POST","headers":[{"name":"X-A","value":"b"}],"body":"{}","redirects":0,"cookies":true,"compressed":true,"version":"2"},"tcp":null,"tls":{"server_name":"a.example","skip_verify":true,"post_quantum":true},"dns":null,"websocket":null,"expect":{"status":["200-399"]}`},
		{"tcp://mail.example.com:25/", "tcp", "mail.example.com:25 (tcp)", `"tcp":{"send":"EHLO x\r\n","starttls":"smtp"},"tls":{"skip_verify":true}`,
			`"family":"","http":null,"tcp":{"send":"EHLO x\r\n","starttls":"smtp"},"tls":{"skip_verify":true},"dns":null,"websocket":null,"expect":{"status":[]}`},
		{"tls://example.com", "tls", "example.com (tls)", `"kind":"tls","family":"6"`, `"family":"6","http":null,"tcp":null,"tls":null,"dns":null,"websocket":null,"expect":{"status":[]}`},
		{"dns://1.1.1.1/example.com?type=mx", "dns", "example.com MX at 1.1.1.1", `"dns":{"transport":"tls"}`,
			`"family":"","http":null,"tcp":null,"tls":null,"dns":{"transport":"tls"},"websocket":null,"expect":{"status":[]}`},
		{"dns:example.com", "dns", "example.com A", `"expect":{"status":[]}`, `"family":"","http":null,"tcp":null,"tls":null,"dns":null,"websocket":null,"expect":{"status":[]}`},
		{"icmp://example.com", "icmp", "example.com (icmp)", `"http":null`, `"family":"","http":null,"tcp":null,"tls":null,"dns":null,"websocket":null,"expect":{"status":[]}`},
		{"grpcs://example.com:443/a.B", "grpc", "example.com:443/a.B (grpc)", `"tls":{}`, `"family":"","http":null,"tcp":null,"tls":null,"dns":null,"websocket":null,"expect":{"status":[]}`},
		{"wss://example.com/feed", "websocket", "example.com/feed (websocket)", `"websocket":{"send":"hi","headers":[{"name":"Origin","value":"https://example.com"}],"subprotocols":["a"]}`,
			`"family":"","http":null,"tcp":null,"tls":null,"dns":null,"websocket":{"send":"hi","headers":[{"name":"Origin","value":"https://example.com"}],"subprotocols":["a"]},"expect":{"status":[]}`},
	} {
		got := b.do("POST", "/api/v1/targets", fmt.Sprintf(`{"url":%q,%s}`, c.url, c.more), as(editorKey))
		if got.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", c.url, got.Code, got.text)
			continue
		}
		var made targetJSON
		got.into(t, &made)
		if made.Kind != c.kind || made.Name != c.name {
			t.Errorf("%s is of kind %s and named %q, want %s and %q", c.url, made.Kind, made.Name, c.kind, c.name)
		}
		if diff := cmp.Diff(c.want, members(t, got.text, "family", "http", "tcp", "tls", "dns", "websocket", "expect")); diff != "" {
			t.Errorf("%s: %s", c.url, diff)
		}
		path := fmt.Sprint("/api/v1/targets/", made.ID)
		if again := b.do("GET", path, "", as(viewerKey)); again.text != withoutPreview(got.text) {
			t.Errorf("%s is read back as %s", c.url, again.text)
		}
		same := "{" + members(t, got.text, "url", "kind", "name", "family", "assertions", "expect", "http", "tcp", "tls", "dns", "websocket") + "}"
		again := b.do("PATCH", path, same, as(editorKey))
		if again.Code != http.StatusOK || again.Header().Get("ETag") != got.Header().Get("ETag") && made.Kind != "http" { // there the default is spelled out
			t.Errorf("%s given back unchanged: %d %s", c.url, again.Code, again.text)
		}
	}
}

func TestPartsAreReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/","family":"6","assertions":[{"source":"body","op":"contains","value":"a"},{"source":"status","op":"lt","value":"500","severity":"degrade"}],
		"http":{"method":"PUT","body":"x"},"tls":{"skip_verify":true}}`)
	for _, c := range []struct{ patch, want string }{
		{`{"name":"renamed"}`, `"family":"6","assertions":[{"source":"body","op":"contains","value":"a"},{"source":"status","op":"lt","value":"500","severity":"degrade"}],"http":{"method":"PUT","body":"x"},"tls":{"skip_verify":true}`},
		{`{"http":{"method":"POST"}}`, `"family":"6","assertions":[{"source":"body","op":"contains","value":"a"},{"source":"status","op":"lt","value":"500","severity":"degrade"}],"http":{"method":"POST"},"tls":{"skip_verify":true}`},
		{`{"assertions":[{"source":"header","name":"X","op":"exists","value":null}],"family":null}`, `"family":"","assertions":[{"source":"header","name":"X","op":"exists"}],"http":{"method":"POST"},"tls":{"skip_verify":true}`},
		{`{"http":null,"tls":{},"assertions":null}`, `"family":"","assertions":[],"http":null,"tls":null`},
		{`{"url":"tcp://example.com:25","tcp":{"send":"x"}}`, `"family":"","assertions":[],"http":null,"tls":null,"tcp":{"send":"x"},"kind":"tcp"`},
		{`{"tcp":{"send_secret":"x"}}`, `"family":"","assertions":[],"http":null,"tls":null,"tcp":{"send_secret":"[secret]"},"kind":"tcp"`},
		{`{"url":"https://example.com/","tcp":null,"kind":null,"assertions":[]}`, `"family":"","assertions":[],"http":null,"tls":null,"tcp":null,"kind":"http"`},
	} {
		got := b.do("PATCH", "/api/v1/targets/1", c.patch, as(editorKey))
		if got.Code != http.StatusOK {
			t.Errorf("%s: %d %s", c.patch, got.Code, got.text)
			continue
		}
		stored := b.do("GET", "/api/v1/targets/1", "", as(viewerKey))
		var object map[string]json.RawMessage
		stored.into(t, &object)
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte("{"+c.want+"}"), &want); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if string(object[name]) != string(value) {
				t.Errorf("%s: %s is %s, want %s", c.patch, name, object[name], value)
			}
		}
	}
	if got := b.do("PATCH", "/api/v1/targets/1", `{"kind":"icmp"}`, as(editorKey)); got.Code != 422 || got.problem(t).Code != codeKindMismatch {
		t.Errorf("a kind that contradicts the stored url: %d %s", got.Code, got.text)
	}
}

func TestMistakesInSpecsComeAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		name, body string
		status     int
		want       map[string]string
	}{
		{"everywhere", `{"url":"https://example.com/","family":"5","assertions":[{"source":"body","op":"matches","value":"("},null,{"source":"x","op":"equals","why":1}],
			"http":{"method":"get","headers":[{"name":"Host","value":"x"},{"name":"A","value":7},7],"redirects":6,"token":5,"username":"a:b","nothing":1},"tcp":{},"dns":{"transport":"quic"},"tls":[]}`, 400,
			map[string]string{
				"/family": "unknown_value", "/assertions/0/value": "invalid_pattern", "/assertions/1": "invalid_type", "/assertions/2/source": "unknown_source", "/assertions/2/why": "unknown_field",
				"/http/method": "invalid_method", "/http/headers/0/name": "reserved_header", "/http/headers/1/value": "invalid_type", "/http/headers/2": "invalid_type",
				"/http/redirects": "out_of_range", "/http/token": "invalid_type", "/http/username": "invalid_text", "/http/nothing": "unknown_field", "/dns": "not_of_kind", "/dns/transport": "unknown_value", "/tls": "invalid_type",
			}},
		{"url of another kind that is wrong, too", `{"url":"tcp://example.com","http":{"method":"get"},"tcp":{"starttls":"x"},"assertions":[{"source":"body","op":"exists"}]}`, 422,
			map[string]string{"/url": "invalid_url", "/http": "not_of_kind", "/http/method": "invalid_method", "/tcp/starttls": "unknown_value", "/assertions/0/source": "source_not_of_kind"}},
		{"no url", `{"kind":"tcp","http":{"method":"X"}}`, 422, map[string]string{"/url": "required", "/http": "not_of_kind"}},
		{"unknown scheme", `{"url":"gopher://x","http":{"method":"get"},"assertions":[{"source":"nonsense"}]}`, 422, map[string]string{"/url": "url_scheme", "/http/method": "invalid_method"}},
		{"secrets", `{"url":"https://example.com/","http":{"password":"a\nb","token":"a b","body_secret":"[secret]","query_secret":"?a=b","headers":[{"name":"X","secret":"[secret]"},{"name":"Y","secret":"a\nb"},{"name":"Z","secret":"a","value":"b"}]}}`, 422,
			map[string]string{"/http/password": "invalid_text", "/http/token": "invalid_text", "/http/body_secret": "no_stored_secret", "/http/query_secret": "invalid_text", "/http/headers/0/secret": "no_stored_secret", "/http/headers/1/secret": "invalid_header", "/http/headers/2/secret": "conflict"}},
		{"too large", `{"url":"https://example.com/","http":{"body":"` + strings.Repeat("x", 50_000) + `"}}`, 422, map[string]string{"/http": "too_long"}},
	} {
		got := b.do("POST", "/api/v1/targets", c.body, as(editorKey))
		found := map[string]string{}
		for _, m := range got.problem(t).Errors {
			if _, twice := found[m.Pointer]; twice {
				t.Errorf("%s: %s twice", c.name, m.Pointer)
			}
			found[m.Pointer] = m.Code
		}
		if diff := cmp.Diff(c.want, found); diff != "" || got.Code != c.status {
			t.Errorf("%s: %d %s", c.name, got.Code, diff)
		}
	}
	if n := len(b.stored()); n != 0 {
		t.Errorf("%d targets were stored", n)
	}
}

// However long a list of mistakes is, the answer is short.
func TestMistakesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	many := 100_000
	if testing.Short() {
		many = 10_000
	}
	items := strings.TrimSuffix(strings.Repeat("7,", 2*many), ",")
	for _, member := range []string{`"assertions":[` + items + `]`, `"http":{"headers":[` + items + `]}`, `"regions":[` + items + `]`} {
		got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/",`+member+`}`, as(editorKey))
		if p := got.problem(t); got.Code != 422 || len(p.Errors) == 0 || len(p.Errors) > maxMistakes || !strings.Contains(p.Detail, "200") {
			t.Errorf("%.20s: %d, %d mistakes, %d bytes, %s", member, got.Code, len(p.Errors), len(got.text), p.Detail)
		}
	}
	// Each is judged after its form is: comparing it with all others would take an hour, of 300,000.
	tags := strings.TrimSuffix(strings.Repeat(`"",`, 3*many), ",")
	got := b.do("POST", "/api/v1/maintenance-windows", `{"starts_at":"2026-03-01T00:00:00","duration_s":60,"tags":[`+tags+`]}`, as(editorKey))
	if p := got.problem(t); got.Code != 422 || len(p.Errors) != maxMistakes || !strings.Contains(p.Detail, "300") {
		t.Errorf("tags: %d, %d mistakes, %s", got.Code, len(p.Errors), p.Detail)
	}
}

func TestRulesOfAssertions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var got struct {
		Items []struct {
			Source uptime.Source
			Kinds  []uptime.Kind
			Name   string
			Ops    []uptime.OpRule
		}
		NextCursor *string `json:"next_cursor"`
	}
	b.do("GET", "/api/v1/assertions/rules", "", as(viewerKey)).into(t, &got)
	rules := uptime.AssertionRules()
	if len(got.Items) != len(rules) || got.NextCursor != nil {
		t.Fatalf("%d rules, want %d", len(got.Items), len(rules))
	}
	for i, rule := range rules {
		if diff := cmp.Diff(rule, uptime.AssertionRule(got.Items[i])); diff != "" {
			t.Error(diff)
		}
	}
}

// The description knows every source and op, and the mark of secrets.
func TestEnumsOfAssertions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Enum        []string
					Description string
				}
			}
		}
	}
	b.do("GET", "/api/openapi.json", "").into(t, &document)
	part := document.Components.Schemas["AssertionPart"].Properties
	var sources, ops []string
	seen := map[uptime.Op]bool{}
	for _, rule := range uptime.AssertionRules() {
		sources = append(sources, string(rule.Source))
		for _, op := range rule.Ops {
			seen[op.Op] = true
		}
	}
	for _, op := range part["op"].Enum {
		if !seen[uptime.Op(op)] {
			t.Errorf("there is no op %s", op)
		}
		ops = append(ops, op)
	}
	if diff := cmp.Diff(sources, part["source"].Enum); diff != "" || len(ops) != len(seen) {
		t.Errorf("%d of %d ops; sources %s", len(ops), len(seen), diff)
	}
	for _, name := range []string{"password", "token", "body_secret"} {
		if d := document.Components.Schemas["HttpPart"].Properties[name].Description; !strings.Contains(d, redact.Secret) {
			t.Errorf("%s is described as %q", name, d)
		}
	}
}

// What a newer release has written of how a target is visited is shown as that, kept, and not changed in parts.
func TestTargetOfANewerRelease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	const text = `{"http":{"method":"PUT","later":true}}`
	if err := b.db.Write().Exec("UPDATE targets SET spec = ?", text).Error; err != nil {
		t.Fatal(err)
	}
	var body struct {
		Unreadable string
		Expect     struct{ Status []string }
		Assertions []any
	}
	b.do("GET", "/api/v1/targets/1", "", as(viewerKey)).into(t, &body)
	if !strings.Contains(body.Unreadable, `unknown field "later"`) || len(body.Expect.Status) != 0 || body.Assertions == nil {
		t.Errorf("%+v", body)
	}
	for patch, pointer := range map[string]string{
		`{"active":false,"interval_s":30,"name":"renamed","tags":["a"],"policy":{"down_after":2}}`: "",
		`{"url":"https://example.com/"}`:           "",
		`{"url":"https://elsewhere.example/"}`:     "/url",
		`{"kind":"http","http":{"method":"POST"}}`: "/http",
		`{"http":null}`:                            "/http",
		`{"assertions":null}`:                      "/assertions",
		`{"expect":{"status":["200"]}}`:            "/expect",
		`{"expect":null}`:                          "/expect",
		`{"family":null}`:                          "/family",
	} {
		got := b.do("PATCH", "/api/v1/targets/1", patch, as(editorKey))
		if pointer == "" && got.Code != http.StatusOK || pointer != "" && (got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.text, `"`+pointer+`"`) || !strings.Contains(got.text, codeUnreadable)) {
			t.Errorf("%s: %d %s", patch, got.Code, got.text)
		}
	}
	if stored := b.stored()[0]; stored.Spec.Text() != text || stored.Active || stored.Name != "renamed" {
		t.Errorf("%+v", stored)
	}
	// One with a value that this release does not know is no worse off.
	if err := b.db.Write().Exec(`UPDATE targets SET spec = '{"family":"5"}'`).Error; err != nil {
		t.Fatal(err)
	}
	if got := b.do("PATCH", "/api/v1/targets/1", `{"active":true,"kind":"http","url":"https://example.com/"}`, as(editorKey)); got.Code != http.StatusOK || b.stored()[0].Spec.Family != "5" {
		t.Errorf("an unknown family: %d %s", got.Code, got.text)
	}
	if got := b.do("PATCH", "/api/v1/targets/1", `{"assertions":[]}`, as(editorKey)); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("an unknown family beside an edit: %d %s", got.Code, got.text)
	}
	b.create(`{"name":"job","heartbeat":{"cron":"0 3 * * 1","grace_s":60},"kind":"heartbeat"}`)
	for _, broken := range []string{`{"heartbeat":{"cron":"0 3 * * 1","zone":"Mars/Olympus"}}`, `{"heartbeat":{"later":1}}`, `{"heartbeat":{}}`} {
		if err := b.db.Write().Exec("UPDATE targets SET spec = ? WHERE id = 2", broken).Error; err != nil {
			t.Fatal(err)
		}
		before := b.stored()[1]
		got := b.do("PATCH", "/api/v1/targets/2", fmt.Sprintf(`{"active":%v,"interval_s":null,"timeout_ms":null}`, !before.Active), as(editorKey))
		if after := b.stored()[1]; got.Code != http.StatusOK || after.Active == before.Active || after.Interval != before.Interval || after.Timeout != before.Timeout {
			t.Errorf("a heartbeat with %s: %d %s, every %v", broken, got.Code, got.text, after.Interval)
		}
	}
	if err := b.db.Write().Exec("UPDATE targets SET spec = ? WHERE id = 1", text).Error; err != nil {
		t.Fatal(err)
	}
	if table := b.do("GET", "/api/v1/targets:export?format=csv", "", as(editorKey)); !strings.Contains(table.text, ",unreadable,") {
		t.Errorf("the table says nothing of it: %s", table.text)
	}
	exported := b.do("GET", "/api/v1/targets:export", "", as(editorKey))
	if !strings.Contains(exported.text, `"unreadable"`) {
		t.Errorf("exported as if that were all: %s", exported.text)
	}
	if got := b.do("POST", "/api/v1/targets:import?dry_run=true", exported.text, as(editorKey)); !strings.Contains(got.text, "unreadable") || !strings.Contains(got.text, "unknown_field") {
		t.Errorf("imported: %d %s", got.Code, got.text)
	}
}
