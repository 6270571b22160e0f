package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMistakesStoreNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fleet.open = []netip.Prefix{netip.MustParsePrefix("192.168.7.0/24")}
	existing := b.create(`{"url":"https://taken.example/","name":"taken"}`)
	url := func(u string) string { return fmt.Sprintf(`{"url":%q}`, u) }
	with := func(member string) string { return `{"url":"https://example.com/",` + member + `}` }
	for _, c := range []struct {
		body    string
		status  int
		code    string
		pointer string
	}{
		{`{"url":`, 400, "malformed_json", ""},
		{`[]`, 400, "malformed_json", ""},
		{`null`, 400, "malformed_json", ""},
		{`{"url":"https://example.com/"} {}`, 400, "malformed_json", ""},
		{``, 400, "malformed_json", ""},
		{with(`"id":7`), 400, "unknown_field", "/id"},
		{with(`"Name":"case"`), 400, "unknown_field", "/Name"},
		{with(`"spec_version":1`), 400, "unknown_field", "/spec_version"},
		{with(`"expect":{"body":"x"}`), 400, "unknown_field", "/expect/body"},
		{with(`"a/b~c":1`), 400, "unknown_field", "/a~1b~0c"},
		{`{}`, 422, "required", "/url"},
		{`{"url":null}`, 422, "required", "/url"},
		{`{"url":7}`, 422, "invalid_type", "/url"},
		{url(""), 422, "url_scheme", "/url"},
		{url("example.com"), 422, "url_scheme", "/url"},
		{url("https://"), 422, "invalid_url", "/url"},
		{url("https://exa mple.com/"), 422, "invalid_url", "/url"},
		{url("https://example.com:99999/"), 422, "invalid_url", "/url"},
		{url("https://example.com:/"), 422, "invalid_url", "/url"},
		{url("https://[::1/"), 422, "invalid_url", "/url"},
		{url("https://-\n.com/"), 422, "invalid_url", "/url"},
		{url("https://a..b/"), 422, "invalid_url", "/url"},
		{url("http://127.1/"), 422, "invalid_url", "/url"},
		{url("http://2130706433/"), 422, "invalid_url", "/url"},
		{url("http://0x7f.0.0.1/"), 422, "invalid_url", "/url"},
		{url("http://0177.0.0.1/"), 422, "invalid_url", "/url"},
		{url("https://" + strings.Repeat("a", 2050)), 422, "too_long", "/url"},
		{url("file:///etc/passwd"), 422, "url_scheme", "/url"},
		{url("javascript:alert(1)"), 422, "url_scheme", "/url"},
		{url("ftp://example.com/"), 422, "url_scheme", "/url"},
		{url("gopher://example.com/"), 422, "url_scheme", "/url"},
		{url("https://ann:secret@example.com/"), 422, "url_credentials", "/url"},
		{url("https://token@example.com/"), 422, "url_credentials", "/url"},
		{url("http://127.0.0.1/"), 422, "private_address", "/url"},
		{url("http://10.1.2.3:8080/"), 422, "private_address", "/url"},
		{url("http://192.168.8.1/"), 422, "private_address", "/url"},
		{url("http://169.254.169.254/latest/meta-data"), 422, "private_address", "/url"},
		{url("http://168.63.129.16/"), 422, "private_address", "/url"},
		{url("http://100.64.0.1/"), 422, "private_address", "/url"},
		{url("http://0.0.0.0/"), 422, "private_address", "/url"},
		{url("http://[::1]/"), 422, "private_address", "/url"},
		{url("http://[::ffff:127.0.0.1]/"), 422, "private_address", "/url"},
		{url("http://[::ffff:7f00:1]/"), 422, "private_address", "/url"},
		{url("http://[64:ff9b::7f00:1]/"), 422, "private_address", "/url"},
		{url("http://[2002:7f00:1::]/"), 422, "private_address", "/url"},
		{url("http://[2001:0:53aa:64c::]/"), 422, "private_address", "/url"},
		{url("http://[::127.0.0.1]/"), 422, "private_address", "/url"},
		{url("http://[fe80::1%25eth0]/"), 422, "private_address", "/url"},
		{url("http://[fd00::1]/"), 422, "private_address", "/url"},
		{url("http://[fec0::1]/"), 422, "private_address", "/url"},
		{url("http://localhost:8080/"), 422, "private_address", "/url"},
		{url("http://LOCALHOST./"), 422, "private_address", "/url"},
		{url("http://a.localhost/"), 422, "private_address", "/url"},
		{url("http://１０.０.０.１/"), 422, "private_address", "/url"}, // full-width digits are digits once the name is mapped
		{url("http://10。0。0。1/"), 422, "private_address", "/url"},
		{url("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/"), 422, "private_address", "/url"},
		{url("http://②130706433/"), 422, "invalid_url", "/url"},
		{with(`"interval_s":9`), 422, "interval_out_of_range", "/interval_s"},
		{with(`"interval_s":86401`), 422, "interval_out_of_range", "/interval_s"},
		{with(`"interval_s":-60`), 422, "interval_out_of_range", "/interval_s"},
		{with(`"interval_s":"60"`), 422, "invalid_type", "/interval_s"},
		{with(`"interval_s":60.5`), 422, "invalid_type", "/interval_s"},
		{with(`"timeout_ms":99`), 422, "timeout_out_of_range", "/timeout_ms"},
		{with(`"timeout_ms":30001`), 422, "timeout_out_of_range", "/timeout_ms"},
		{with(`"name":"taken"`), 422, "duplicate_name", "/name"},
		{with(fmt.Sprintf(`"name":%q`, strings.Repeat("ä", 121))), 422, "too_long", "/name"},
		{with(`"name":"a\u0007b"`), 422, "invalid_text", "/name"},
		{with(`"kind":"carrier pigeon"`), 422, "unknown_kind", "/kind"},
		{with(`"kind":"icmp"`), 422, "kind_mismatch", "/kind"},
		{with(`"regions":["mars"]`), 422, "unknown_region", "/regions/0"},
		{with(`"regions":["eu","EU"]`), 422, "unknown_region", "/regions/1"},
		{with(`"regions":"eu"`), 422, "invalid_type", "/regions"},
		{with(`"regions":["eu",null]`), 422, "invalid_type", "/regions/1"},
		{with(`"regions":["` + strings.Repeat(`eu","`, 20) + `eu"]`), 422, "too_long", "/regions"},
		{with(`"active":"yes"`), 422, "invalid_type", "/active"},
		{with(`"expect":{"status":["2xx"]}`), 422, "invalid_status_range", "/expect/status/0"},
		{with(`"expect":{"status":["200","399-300"]}`), 422, "invalid_status_range", "/expect/status/1"},
		{with(`"expect":"200"`), 422, "invalid_type", "/expect"},
	} {
		requests := map[string]string{"POST": "/api/v1/targets", "PATCH": fmt.Sprint("/api/v1/targets/", existing.ID)}
		if c.code == "duplicate_name" || c.code == "required" && c.body == "{}" {
			delete(requests, "PATCH") // its own name; nothing to change
		}
		for method, path := range requests {
			got := b.do(method, path, c.body, as(editorKey))
			p := got.problem(t)
			if got.Code != c.status || p.Code != c.code {
				t.Errorf("%s %s: %d %s, want %d %s", method, c.body, got.Code, p.Code, c.status, c.code)
				continue
			}
			if len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || p.Errors[0].Code != c.code || p.Errors[0].Message == "" {
				t.Errorf("%s %s: errors %+v, want one at %q", method, c.body, p.Errors, c.pointer)
			}
		}
	}
	stored := b.stored()
	if len(stored) != 1 || stored[0].SpecVersion != existing.SpecVersion {
		t.Errorf("something was stored: %+v", stored)
	}
	if n := len(b.hub.IDs()); n != 1 {
		t.Errorf("the hub shows %d targets", n)
	}
}

func TestAllMistakesComeAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.do("POST", "/api/v1/targets", `{"url":"http://10.0.0.1/","interval_s":1,"timeout_ms":"x","regions":["mars"],"expect":{"status":["x"],"y":1},"zz":1,"aa":2}`, as(editorKey))
	p := got.problem(t)
	found := map[string]string{}
	for _, m := range p.Errors {
		found[m.Pointer] = m.Code
	}
	want := map[string]string{
		"/url": "private_address", "/interval_s": "interval_out_of_range", "/timeout_ms": "invalid_type", "/regions/0": "unknown_region",
		"/expect/status/0": "invalid_status_range", "/expect/y": "unknown_field", "/zz": "unknown_field", "/aa": "unknown_field",
	}
	if got.Code != http.StatusBadRequest || fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("%d %v, want %v", got.Code, found, want)
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fleet.open = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct{ url, stored, name string }{
		{"https://example.com", "https://example.com", "example.com"},
		{"  https://example.com/a/b/?q=1  ", "https://example.com/a/b/?q=1", "example.com/a/b"},
		{"HTTP://Example.com:8080/x", "HTTP://Example.com:8080/x", "Example.com:8080/x"},
		{"http://127.0.0.1:9/", "http://127.0.0.1:9/", "127.0.0.1:9"},
		{"http://localhost:9/", "http://localhost:9/", "localhost:9"},
		{"http://[fd00::1]/", "http://[fd00::1]/", "[fd00::1]"},
		{"https://8.8.8.8/", "https://8.8.8.8/", "8.8.8.8"},
		{"https://[2606:4700::1111]/", "https://[2606:4700::1111]/", "[2606:4700::1111]"},
		{"https://my_host.example.com/", "https://my_host.example.com/", "my_host.example.com"},
		{"https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe", "xn--bcher-kva.example/stra%C3%9Fe"},
	} {
		got := b.create(fmt.Sprintf(`{"url":%q}`, c.url))
		if got.URL != c.stored || got.Name != c.name {
			t.Errorf("%s became %q named %q, want %q named %q", c.url, got.URL, got.Name, c.stored, c.name)
		}
	}
	for _, metadata := range []string{"http://169.254.169.254/", "http://[fd00:ec2::254]/"} {
		if got := b.do("POST", "/api/v1/targets", fmt.Sprintf(`{"url":%q}`, metadata), as(editorKey)); got.Code != 422 {
			t.Errorf("an open range lifted the floor under %s: %d", metadata, got.Code)
		}
	}
}

// Postgres refuses texts that SQLite takes: they are a caller's mistake, never ours.
func TestTextsThatPostgresRefuses(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, testbackend.Postgres(t))
	for _, c := range []struct {
		name, method, path, body, code string
		status                         int
		options                        []option
	}{
		{"zero byte in a search", "GET", "/api/v1/targets?search=%00", "", "invalid_parameter", 422, nil},
		{"search that is no UTF-8", "GET", "/api/v1/targets?search=%ff", "", "invalid_parameter", 422, nil},
		{"key that is no UTF-8", "POST", "/api/v1/targets", `{"url":"https://example.com/"}`, "invalid_parameter", 422, []option{header("Idempotency-Key", "\xff")}},
		{"zero byte in a name", "POST", "/api/v1/targets", `{"url":"https://example.com/","name":"a\u0000b"}`, "invalid_text", 422, nil},
		{"zero byte in a url", "POST", "/api/v1/targets", `{"url":"https://example.com/\u0000"}`, "invalid_url", 422, nil},
		{"zero byte in an e-mail address", "POST", "/api/v1/session", `{"email":"a\u0000b@example.com","password":"long enough"}`, "bad_credentials", 401, nil},
	} {
		got := b.do(c.method, c.path, c.body, append(c.options, as(editorKey))...)
		if p := got.problem(t); got.Code != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, got.Code, p.Code, c.status, c.code)
		}
	}
	if stored := b.stored(); len(stored) != 0 {
		t.Errorf("something was stored: %+v", stored)
	}
}
