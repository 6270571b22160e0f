package assertion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestProblemsPointAtTheField(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name      string
		assertion uptime.Assertion
		kind      uptime.Kind
		want      string // field code: message, of each problem
	}{
		{"no source", uptime.Assertion{Op: "equals"}, "http", "source unknown_source: there is no such source; known: status, header, body, json, body_size, body_hash, latency, phase, certificate_days, redirect, protocol, tls_version, address"},
		{"source of another kind", uptime.Assertion{Source: "rcode", Op: "equals", Value: "NOERROR"}, "tcp", "source source_not_of_kind: a check of kind tcp has no rcode; it has: latency, phase, certificate_days, tls_version, address, received"},
		{"kind that has none", uptime.Assertion{Source: "status", Op: "equals", Value: "200"}, "push", "source source_not_of_kind: a check of kind push has no status; it has: none"},
		{"kind that is no word", uptime.Assertion{Source: "status", Op: "equals", Value: "200"}, "<b>", "source source_not_of_kind: a check of kind this name has no status; it has: none"},
		{"no op", uptime.Assertion{Source: "latency", Value: "5"}, "http", "op unknown_op: for latency the op is one of: lt, lte, gt, gte"},
		{"unknown op", uptime.Assertion{Source: "latency", Op: "like", Value: "5"}, "http", "op unknown_op: for latency the op is one of: lt, lte, gt, gte"},
		{"op of another source", uptime.Assertion{Source: "body_hash", Op: "contains", Value: "5"}, "http", "op op_not_of_source: for body_hash the op is one of: equals, not_equals"},
		{"severity", uptime.Assertion{Source: "latency", Op: "lt", Value: "5", Severity: "warn"}, "http", "severity unknown_severity: a severity is fail or degrade; leave it out for fail"},
		{"all at once", uptime.Assertion{Source: "header", Name: "a b", Op: "lt", Value: "x", Severity: "x"}, "http", "severity unknown_severity: a severity is fail or degrade; leave it out for fail | name invalid_name: the name of a header is letters, digits and hyphens, such as Content-Type | value invalid_value: want a number, such as 5 or -2.5e3"},

		{"name for nothing", uptime.Assertion{Source: "status", Name: "x", Op: "equals", Value: "200"}, "http", "name not_allowed: status takes no name: leave it out"},
		{"no header", uptime.Assertion{Source: "header", Op: "exists"}, "http", "name required: header needs a name: the name of the header"},
		{"long header", uptime.Assertion{Source: "header", Name: strings.Repeat("a", MaxName+1), Op: "exists"}, "http", "name too_long: the name of a header has at most 128 bytes"},
		{"header with a colon", uptime.Assertion{Source: "header", Name: "a:", Op: "exists"}, "http", "name invalid_name: the name of a header is letters, digits and hyphens, such as Content-Type"},
		{"header that is no ASCII", uptime.Assertion{Source: "header", Name: "é", Op: "exists"}, "http", "name invalid_name: the name of a header is letters, digits and hyphens, such as Content-Type"},
		{"no path", uptime.Assertion{Source: "json", Op: "exists"}, "http", "name required: json needs a name: a JSONPath, such as $.status"},
		{"bad path", uptime.Assertion{Source: "json", Name: "a.b", Op: "exists"}, "http", "name invalid_path: this is not a JSONPath that can be used: it must start with $"},
		{"long path", uptime.Assertion{Source: "json", Name: "$." + strings.Repeat("a", MaxPath), Op: "exists"}, "http", "name too_long: a JSONPath has at most 256 bytes"},
		{"phase", uptime.Assertion{Source: "phase", Name: "DNS", Op: "lt", Value: "5"}, "http", "name invalid_name: a phase is dns, connect, tls, wait or transfer"},
		{"record type", uptime.Assertion{Source: "dns", Name: "ANY", Op: "exists"}, "dns", "name invalid_name: a record type is one of: A, AAAA, CAA, CNAME, DNSKEY, DS, HTTPS, MX, NAPTR, NS, PTR, SOA, SRV, SVCB, TLSA, TXT"},

		{"value for nothing", uptime.Assertion{Source: "header", Name: "a", Op: "exists", Value: "true"}, "http", "value not_allowed: exists takes no value: leave it out"},
		{"no value", uptime.Assertion{Source: "body", Op: "contains"}, "http", "value required: contains needs a value"},
		{"no number", uptime.Assertion{Source: "status", Op: "equals"}, "http", "value invalid_value: want a whole number from 100 to 599, as HTTP status codes go"},
		{"long value", uptime.Assertion{Source: "body", Op: "contains", Value: strings.Repeat("a", MaxValue+1)}, "http", "value too_long: a value has at most 1024 bytes"},
		{"not UTF-8", uptime.Assertion{Source: "body", Op: "contains", Value: "\xff"}, "http", "value invalid_text: a value is UTF-8 text without NUL characters"},
		{"NUL", uptime.Assertion{Source: "body", Op: "contains", Value: "a\x00"}, "http", "value invalid_text: a value is UTF-8 text without NUL characters"},
		{"status", uptime.Assertion{Source: "status", Op: "lt", Value: "600"}, "http", "value invalid_value: want a whole number from 100 to 599, as HTTP status codes go"},
		{"signed status", uptime.Assertion{Source: "status", Op: "lt", Value: "+200"}, "http", "value invalid_value: want a whole number from 100 to 599, as HTTP status codes go"},
		{"status range", uptime.Assertion{Source: "status", Op: "in", Value: "200-299,2xx"}, "http", "value invalid_value: want codes and ranges of codes from 100 to 599, such as 200-299,301"},
		{"signed status range", uptime.Assertion{Source: "status", Op: "in", Value: "+200"}, "http", "value invalid_value: want codes and ranges of codes from 100 to 599, such as 200-299,301"},
		{"empty list", uptime.Assertion{Source: "status", Op: "in", Value: " , "}, "http", "value invalid_value: want 1 to 64 items, separated by commas"},
		{"long list", uptime.Assertion{Source: "json", Name: "$", Op: "in", Value: strings.Repeat("1,", maxItems+1)}, "http", "value invalid_value: want 1 to 64 items, separated by commas"},
		{"latency with a unit", uptime.Assertion{Source: "latency", Op: "lt", Value: "500ms"}, "icmp", "value invalid_value: want a whole number from 1 to 30000, milliseconds"},
		{"latency of nothing", uptime.Assertion{Source: "latency", Op: "lt", Value: "0"}, "grpc", "value invalid_value: want a whole number from 1 to 30000, milliseconds"},
		{"size beyond what is read", uptime.Assertion{Source: "body_size", Op: "lt", Value: "1048577"}, "http", "value invalid_value: want a whole number from 0 to 1048576, bytes"},
		{"days", uptime.Assertion{Source: "certificate_days", Op: "gt", Value: "-1"}, "tls", "value invalid_value: want a whole number from 0 to 3650, days"},
		{"hash", uptime.Assertion{Source: "body_hash", Op: "equals", Value: "abc"}, "http", "value invalid_value: want a SHA-256 as 64 hexadecimal digits"},
		{"protocol", uptime.Assertion{Source: "protocol", Op: "equals", Value: "h2"}, "http", "value invalid_value: want HTTP/1.0, HTTP/1.1, HTTP/2 or HTTP/3"},
		{"protocol that is none", uptime.Assertion{Source: "protocol", Op: "equals", Value: "HTTP/1.2"}, "http", "value invalid_value: want HTTP/1.0, HTTP/1.1, HTTP/2 or HTTP/3"},
		{"TLS version", uptime.Assertion{Source: "tls_version", Op: "gte", Value: "1.4"}, "http", "value invalid_value: want 1.0, 1.1, 1.2 or 1.3"},
		{"several addresses", uptime.Assertion{Source: "address", Op: "equals", Value: "192.0.2.0/24"}, "http", "value invalid_value: want one IP address, such as 192.0.2.1"},
		{"zone", uptime.Assertion{Source: "address", Op: "in", Value: "fe80::1%eth0"}, "http", "value invalid_value: want IP addresses and ranges, such as 192.0.2.0/24,2001:db8::1"},
		{"half of all mapped", uptime.Assertion{Source: "address", Op: "in", Value: "::ffff:0:0/95"}, "http", "value invalid_value: want IP addresses and ranges, such as 192.0.2.0/24,2001:db8::1"},
		{"record that is no address", uptime.Assertion{Source: "dns", Name: "A", Op: "equals", Value: "a.example"}, "dns", "value invalid_value: want one IP address, such as 192.0.2.1"},
		{"record that is nothing", uptime.Assertion{Source: "dns", Name: "MX", Op: "equals"}, "dns", "value required: equals needs a value"},
		{"response code", uptime.Assertion{Source: "rcode", Op: "in", Value: "NOERROR,OK"}, "dns", "value invalid_value: a response code is one of: NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED, YXDOMAIN, YXRRSET, NXRRSET, NOTAUTH, NOTZONE, BADVERS, BADCOOKIE"},
		{"number", uptime.Assertion{Source: "json", Name: "$.a", Op: "gt", Value: "0x5"}, "http", "value invalid_value: want a number, such as 5 or -2.5e3"},
		{"pattern", uptime.Assertion{Source: "body", Op: "matches", Value: "(ok"}, "http", "value invalid_pattern: this is not an RE2 pattern (those have no look-around and no back-references): missing closing ) in (ok"},
		{"pattern that looks behind", uptime.Assertion{Source: "header", Name: "a", Op: "not_matches", Value: "(?<=a)b"}, "http", "value invalid_pattern: this is not an RE2 pattern (those have no look-around and no back-references): invalid named capture in (?<=a)b"},
		{"pattern that repeats", uptime.Assertion{Source: "body", Op: "matches", Value: "(a{50}){50}"}, "http", "value invalid_pattern: this is not an RE2 pattern (those have no look-around and no back-references): invalid repeat count in {50}"},
		{"costly pattern", uptime.Assertion{Source: "received", Op: "matches", Value: "a{200}"}, "tcp", "value pattern_too_costly: the patterns of this target would take too long: of what they may cost together, 128 instructions are left for this one; shorten it, repeat less, or use contains"},
	}
	for _, c := range cases {
		var got []string
		for _, p := range Validate([]uptime.Assertion{{Source: "latency", Op: "lt", Value: "1"}, c.assertion}, c.kind) {
			if p.Index == 1 {
				got = append(got, p.Field+" "+p.Code+": "+p.Message)
			}
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, strings.Join(got, " | "), c.want)
		}
		if len(got) > 0 && !strings.Contains(c.want, CodeSourceOfKind) {
			if set, err := Compile([]uptime.Assertion{c.assertion}); err == nil {
				t.Errorf("%s: compiled to %+v", c.name, set)
			}
		}
	}
}

func TestEveryGoldenAssertionIsValidForItsKinds(t *testing.T) {
	t.Parallel()
	for _, rule := range uptime.AssertionRules() {
		for _, g := range golden {
			if g.source != rule.Source {
				continue
			}
			a := []uptime.Assertion{{Source: g.source, Name: g.name, Op: g.op, Value: g.value, Severity: "degrade"}}
			for _, kind := range rule.Kinds {
				if found := Validate(a, kind); found != nil {
					t.Errorf("%+v for %s: %+v", a[0], kind, found)
				}
			}
		}
	}
}

func TestListsHaveAnEnd(t *testing.T) {
	t.Parallel()
	list := make([]uptime.Assertion, MaxAssertions+1)
	for i := range list {
		list[i] = uptime.Assertion{Source: "status", Op: "equals", Value: "200"}
	}
	if found := Validate(list[:MaxAssertions], uptime.KindHTTP); found != nil {
		t.Error(found)
	}
	found := Validate(list, uptime.KindHTTP)
	if len(found) != 1 || found[0].Index != -1 || found[0].Code != CodeTooMany || found[0].Message != "a target has at most 20 assertions, not 21" {
		t.Error(found)
	}
	if _, err := Compile(list); err == nil || err.Error() != "assertions: a target has at most 20 assertions, not 21" {
		t.Error(err)
	}
	if _, err := Compile(append(list[:1:1], uptime.Assertion{Source: "status", Op: "equals", Value: "x"})); err == nil || err.Error() != "assertion 1, value: want a whole number from 100 to 599, as HTTP status codes go" {
		t.Error(err)
	}
	if found := Validate(nil, uptime.KindHTTP); found != nil {
		t.Error(found)
	}
}

// The budget of patterns is that of all assertions together; long texts use it up faster.
func TestPatternsShareABudget(t *testing.T) {
	t.Parallel()
	body := uptime.Assertion{Source: "body", Op: "matches", Value: strings.Repeat("a", 50)}
	header := uptime.Assertion{Source: "header", Name: "a", Op: "matches", Value: strings.Repeat("a", 300)}
	cases := []struct {
		list []uptime.Assertion
		bad  []int
	}{
		{[]uptime.Assertion{body, body}, nil},
		{[]uptime.Assertion{body, body, body}, []int{2}},
		{[]uptime.Assertion{header, header, header, header, header, header}, nil},
		{[]uptime.Assertion{body, body, header, header}, []int{3}},
		{[]uptime.Assertion{body, {Source: "body", Op: "matches", Value: "[a-z]{900}"}, body}, []int{1}},
	}
	for i, c := range cases {
		var bad []int
		for _, p := range Validate(c.list, uptime.KindHTTP) {
			if p.Code != CodePatternCost || p.Field != fieldValue {
				t.Errorf("case %d: %+v", i, p)
			}
			bad = append(bad, p.Index)
		}
		if fmt.Sprint(bad) != fmt.Sprint(c.bad) {
			t.Errorf("case %d: refused %v, want %v", i, bad, c.bad)
		}
	}
}

func TestPatternSizes(t *testing.T) {
	t.Parallel()
	for pattern, most := range map[string]int{
		"":                 5,
		`"status":\s*"ok"`: 22,
		`^v\d+\.\d+$`:      16,
		`(?i)healthy|up`:   30,
		`a{0}`:             5,
		`(?:x{1,30}){1,4}`: 400,
		`[\pL\pN]`:         10,
	} {
		p, err := compilePattern(pattern, 1000)
		if err != nil || p.size > most {
			t.Errorf("%s: %v, %+v", pattern, err, p)
		}
	}
	for _, pattern := range []string{`.{1000}`, `(.{0,30}){30}`, "(?i)" + strings.Repeat("é", 60), strings.Repeat("a{1000}", 146), strings.Repeat("(?:", 300) + "a{999}" + strings.Repeat(")+", 300)} {
		if _, err := compilePattern(pattern, 128); err == nil {
			t.Errorf("%.40s compiles", pattern)
		}
	}
	for pattern, end := range map[string]bool{"a": false, "^a": false, `\Aa`: false, "(?m)^a": false, "a$": true, `a\z`: true, "(?m)a$": true, `a\b`: true, `a\B`: true} {
		if p, err := compilePattern(pattern, 128); err != nil || p.end != end {
			t.Errorf("%s: %v, looks at the end: %v", pattern, err, !end)
		}
	}
}
