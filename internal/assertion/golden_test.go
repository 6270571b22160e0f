package assertion

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/uptime"
)

var visitedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// see makes the observation of a visit in which a source was seen as a text;
// none is that of a visit in which it was not there.
func see(source uptime.Source, name, text string) *Observation {
	o := &Observation{At: visitedAt}
	if text == none {
		return o
	}
	switch source {
	case uptime.SourceStatus:
		o.Status, _ = strconv.Atoi(text)
	case uptime.SourceHeader:
		o.Header = http.Header{}
		for line := range strings.SplitSeq(text, "\n") {
			o.Header.Add(name, line)
		}
	case uptime.SourceBody, uptime.SourceJSON, uptime.SourceBodyHash:
		o.Body = []byte(text)
	case uptime.SourceBodySize:
		o.BodySize, _ = strconv.ParseInt(text, 10, 64)
	case uptime.SourceLatency:
		o.TotalUS = micro(text)
	case uptime.SourcePhase:
		us := micro(text)
		o.Phases = map[string]uptime.Phases{"dns": {DNS: us}, "connect": {Connect: us}, "tls": {TLS: us}, "wait": {Wait: us}, "transfer": {Transfer: us}}[name]
	case uptime.SourceCertificate:
		left, _ := time.ParseDuration(text)
		o.CertNotAfter = visitedAt.Add(left)
	case uptime.SourceRedirect:
		o.Redirect = text
	case uptime.SourceProtocol:
		o.Protocol = text
	case uptime.SourceTLSVersion:
		o.TLSVersion = map[string]uint16{"1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[text]
	case uptime.SourceDNS:
		o.Records = map[string][]string{strings.ToUpper(name): strings.Split(text, "\n"), "SPF": {"decoy"}}
	case uptime.SourceRcode:
		o.Rcode = text
	case uptime.SourceAddress:
		o.Address = netip.MustParseAddr(text)
	case uptime.SourceReceived:
		o.Received = []byte(text)
	}
	return o
}

const none = "\x00none"

func micro(text string) uint32 {
	us, _ := strconv.ParseUint(text, 10, 32)
	return uint32(us)
}

const (
	sumOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	sumOfX   = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
)

// golden has for every source and op an answer that passes, one that fails, and
// what is said of that.
var golden = []struct {
	source  uptime.Source
	name    string
	op      uptime.Op
	value   string
	passes  string
	fails   string
	message string
}{
	{"status", "", "equals", "204", "204", "200", `status is 200, want it to equal 204`},
	{"status", "", "not_equals", "404", "200", "404", `status is 404, want it not to equal 404`},
	{"status", "", "in", "200-299, 301", "301", "500", `status is 500, want it to be in 200-299, 301`},
	{"status", "", "not_in", "500-599", "404", "503", `status is 503, want it not to be in 500-599`},
	{"status", "", "lt", "400", "399", "400", `status is 400, want it to be less than 400`},
	{"status", "", "lte", "400", "400", "401", `status is 401, want it to be at most 400`},
	{"status", "", "gt", "199", "200", "199", `status is 199, want it to be more than 199`},
	{"status", "", "gte", "200", "200", "100", `status is 100, want it to be at least 200`},

	{"header", "Content-Type", "equals", "text/html", "text/html", "text/HTML", `header content-type is "text/HTML", want it to equal "text/html"`},
	{"header", "Content-Type", "equals", "", "", "x", `header content-type is "x", want it to equal ""`},
	{"header", "Content-Type", "equals", "", "", none, `header content-type is absent, want it to equal ""`},
	{"header", "x-opt", "not_matches", "^$", none, "", `header x-opt is "", want it not to match "^$"`},
	{"header", "content-TYPE", "contains", "json", "application/json", "text/html", `header content-type is "text/html", want it to contain "json"`},
	{"header", "content-type", "contains", "json", "text/json", none, `header content-type is absent, want it to contain "json"`},
	{"header", "server", "not_equals", "nginx", none, "nginx", `header server is "nginx", want it not to equal "nginx"`},
	{"header", "server", "not_contains", "nginx", "", "nginx/1.2", `header server is "nginx/1.2", want it not to contain "nginx"`},
	{"header", "via", "matches", `^1\.[01] `, "1.1 varnish", "2 x\n1.1 y", `header via is "2 x, 1.1 y", want it to match "^1\.[01] "`},
	{"header", "via", "not_matches", "(?i)squid", none, "1.1 Squid", `header via is "1.1 Squid", want it not to match "(?i)squid"`},
	{"header", "etag", "exists", "", "", none, `header etag is absent, want it to be there`},
	{"header", "x-debug", "absent", "", none, "on", `header x-debug is "on", want it to be absent`},
	{"header", "x-env", "in", "live, canary", "canary", "test", `header x-env is "test", want it to be in "live, canary"`},
	{"header", "x-env", "not_in", "test,dev", none, "dev", `header x-env is "dev", want it not to be in "test,dev"`},
	{"header", "age", "lt", "60", "59.5", "60", `header age is "60", want it to be less than 60`},
	{"header", "age", "lte", "60", "60", "old", `header age is "old", want it to be at most 60`},
	{"header", "x-left", "gt", "-1.5e1", "-14", none, `header x-left is absent, want it to be more than -1.5e1`},
	{"header", "x-left", "gte", "10", "10", "9007199254740993 ", `header x-left is "9007199254740993 ", want it to be at least 10`},

	{"body", "", "equals", "ok", "ok", "ok\n", `body is "ok\n", want it to equal "ok"`},
	{"body", "", "equals", "", "", "x", `body is "x", want it to equal ""`},
	{"body", "", "not_equals", "ok", "OK", "ok", `body is "ok", want it not to equal "ok"`},
	{"body", "", "contains", "Welcome", "<p>Welcome</p>", none, `body is empty, want it to contain "Welcome"`},
	{"body", "", "not_contains", "Error", "fine", "An Error occurred", `body is "An Error occurred", want it not to contain "Error"`},
	{"body", "", "matches", `v\d+`, "at v12", "at v", `body is "at v", want it to match "v\d+"`},
	{"body", "", "not_matches", `(?i)exception`, "", "NullPointerException", `body is "NullPointerException", want it not to match "(?i)exception"`},

	{"json", "$.status", "equals", "ok", `{"status":"ok"}`, `{"status":"bad"}`, `json $.status is "bad", want it to equal "ok"`},
	{"json", "$.n", "equals", "5", `{"n":5.0}`, `{"n":6}`, `json $.n is 6, want it to equal "5"`},
	{"json", "$.a", "equals", `[1, {"b": 2}]`, `{"a":[1,{"b":2} ]}`, `{"a":[1]}`, `json $.a is [1], want it to equal "[1, {"b": 2}]"`},
	{"json", "$.a", "equals", "x", `{"a":"\u0078"}`, `{"b":1}`, `json $.a is absent, want it to equal "x"`},
	{"json", "$.a", "equals", "x", `{"a":"x"}`, `<html>`, `json $.a cannot be told, as the body is not JSON (byte 1); want it to equal "x"`},
	{"json", "$.a", "not_equals", "null", `{"a":0}`, `{"a":null}`, `json $.a is null, want it not to equal "null"`},
	{"json", "$.a", "not_equals", "x", `{}`, ``, `json $.a cannot be told, as the body is empty; want it not to equal "x"`},
	{"json", "$.tags", "contains", "prod", `{"tags":["a","prod"]}`, `{"tags":["a"]}`, `json $.tags is ["a"], want it to contain "prod"`},
	{"json", "$..error", "not_contains", "fatal", `[{"error":"warn"},{"x":{"error":""}}]`, `[{"error":"warn"},{"x":{"error":"fatal"}}]`, `json $..error is "fatal", want it not to contain "fatal"`},
	{"json", "$[*].s", "matches", "^(up|ok)$", `[{"s":"up"},{"s":"ok"}]`, `[{"s":"up"},{"s":"down"}]`, `json $[*].s is "down", want it to match "^(up|ok)$"`},
	{"json", "$[-1]", "not_matches", "x", `["x","y"]`, `["y","x"]`, `json $[-1] is "x", want it not to match "x"`},
	{"json", "$.a", "exists", "", `{"a":null}`, `{"b":null}`, `json $.a is absent, want it to be there`},
	{"json", "$.errors[0]", "absent", "", `{"errors":[]}`, `{"errors":[{"code":7}]}`, `json $.errors[0] is {"code":7}, want it to be absent`},
	{"json", "$.errors[0]", "absent", "", `{}`, `oops`, `json $.errors[0] cannot be told, as the body is not JSON (byte 1); want it to be absent`},
	{"json", "$.a", "in", "1, two", `{"a":1.0}`, `{"a":"three"}`, `json $.a is "three", want it to be in "1, two"`},
	{"json", "$.a", "not_in", "1,two", `{"a":"one"}`, `{"a":"two"}`, `json $.a is "two", want it not to be in "1,two"`},
	{"json", "$.load", "lt", "0.9", `{"load":0.89}`, `{"load":0.90}`, `json $.load is 0.90, want it to be less than 0.9`},
	{"json", "$.n", "lte", "9007199254740992", `{"n":9007199254740992}`, `{"n":9007199254740993}`, `json $.n is 9007199254740993, want it to be at most 9007199254740992`},
	{"json", "$[?@.name=='db'].n", "gt", "3", `[{"name":"db","n":"4"},{"name":"x","n":1}]`, `[{"name":"db","n":3}]`, `json $[?@.name=='db'].n is 3, want it to be more than 3`},
	{"json", "$.n", "gte", "3", `{"n":3}`, `{"n":true}`, `json $.n is true, want it to be at least 3`},

	{"body_size", "", "equals", "10", "10", "11", `body size is 11 bytes, want it to equal 10 bytes`},
	{"body_size", "", "not_equals", "0", "1", "0", `body size is 0 bytes, want it not to equal 0 bytes`},
	{"body_size", "", "lt", "1000", "999", "1000", `body size is 1000 bytes, want it to be less than 1000 bytes`},
	{"body_size", "", "lte", "1000", "1000", "1001", `body size is 1001 bytes, want it to be at most 1000 bytes`},
	{"body_size", "", "gt", "1000", "1001", "1000", `body size is 1000 bytes, want it to be more than 1000 bytes`},
	{"body_size", "", "gte", "1", "1", none, `body size is 0 bytes, want it to be at least 1 bytes`},

	{"body_hash", "", "equals", "BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc", "x", `body hash is ` + sumOfX + `, want it to equal BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad`},
	{"body_hash", "", "not_equals", sumOfAbc, "x", "abc", `body hash is ` + sumOfAbc + `, want it not to equal ` + sumOfAbc},

	{"latency", "", "lt", "500", "499999", "500000", `latency is 500 ms, want it to be less than 500 ms`},
	{"latency", "", "lte", "500", "500000", "500001", `latency is 500.001 ms, want it to be at most 500 ms`},
	{"latency", "", "gt", "1", "1001", "1000", `latency is 1 ms, want it to be more than 1 ms`},
	{"latency", "", "gte", "1", "1000", "12", `latency is 0.012 ms, want it to be at least 1 ms`},
	{"phase", "dns", "lt", "20", "0", "20000", `dns phase is 20 ms, want it to be less than 20 ms`},
	{"phase", "connect", "lte", "20", "20000", "20100", `connect phase is 20.1 ms, want it to be at most 20 ms`},
	{"phase", "tls", "gt", "1", "2000", "1000", `tls phase is 1 ms, want it to be more than 1 ms`},
	{"phase", "wait", "gte", "1", "1000", "999", `wait phase is 0.999 ms, want it to be at least 1 ms`},
	{"phase", "transfer", "lt", "20", "0", "20000", `transfer phase is 20 ms, want it to be less than 20 ms`},

	{"certificate_days", "", "lt", "398", "9551h59m", "9552h", `certificate's time left is 398 days, want it to be less than 398 days`},
	{"certificate_days", "", "lte", "1", "47h59m", "48h", `certificate's time left is 2 days, want it to be at most 1 day`},
	{"certificate_days", "", "gt", "14", "360h", "359h59m", `certificate's time left is 14 days, want it to be more than 14 days`},
	{"certificate_days", "", "gte", "0", "0s", "-1s", `certificate's time left is -1 days, want it to be at least 0 days`},
	{"certificate_days", "", "lte", "90", "24h", none, `certificate's time left is unknown without TLS, want it to be at most 90 days`},

	{"redirect", "", "equals", "https://a.example/x?b=c", "https://a.example/x?b=c", "https://u:p@a.example/x?b=d&e#f", `redirect target is "https://a.example/x?b=…&…", want it to equal "https://a.example/x?b=c"`},
	{"redirect", "", "not_equals", "https://a.example/", none, "https://a.example/", `redirect target is "https://a.example/", want it not to equal "https://a.example/"`},
	{"redirect", "", "contains", "/login", "https://a.example/login", none, `redirect target is absent, want it to contain "/login"`},
	{"redirect", "", "not_contains", "/login", none, "https://a.example/login", `redirect target is "https://a.example/login", want it not to contain "/login"`},
	{"redirect", "", "matches", "^https:", "https://a.example/", "http://a.example/", `redirect target is "http://a.example/", want it to match "^https:"`},
	{"redirect", "", "not_matches", "^http:", "https://a.example/", "http://a.example/", `redirect target is "http://a.example/", want it not to match "^http:"`},
	{"redirect", "", "exists", "", "http://a.example", none, `redirect target is absent, want it to be there`},
	{"redirect", "", "absent", "", none, "http://a.example", `redirect target is "http://a.example", want it to be absent`},

	{"protocol", "", "equals", "HTTP/2", "HTTP/2.0", "HTTP/1.1", `protocol is "HTTP/1.1", want it to equal "HTTP/2"`},
	{"protocol", "", "not_equals", "HTTP/1.0", "HTTP/1.1", "HTTP/1.0", `protocol is "HTTP/1.0", want it not to equal "HTTP/1.0"`},
	{"protocol", "", "lt", "HTTP/3", "HTTP/2.0", "HTTP/3.0", `protocol is "HTTP/3.0", want it to be less than "HTTP/3"`},
	{"protocol", "", "lte", "HTTP/1.1", "HTTP/1.1", "HTTP/2.0", `protocol is "HTTP/2.0", want it to be at most "HTTP/1.1"`},
	{"protocol", "", "gt", "HTTP/1.1", "HTTP/2.0", "HTTP/1.1", `protocol is "HTTP/1.1", want it to be more than "HTTP/1.1"`},
	{"protocol", "", "gte", "HTTP/2.0", "HTTP/2.0", none, `protocol is absent, want it to be at least "HTTP/2.0"`},

	{"tls_version", "", "equals", "1.3", "1.3", "1.2", `TLS version is TLS 1.2, want it to equal TLS 1.3`},
	{"tls_version", "", "not_equals", "TLSv1.2", "1.3", none, `TLS version is absent without TLS, want it not to equal TLS 1.2`},
	{"tls_version", "", "lt", "TLS 1.3", "1.2", "1.3", `TLS version is TLS 1.3, want it to be less than TLS 1.3`},
	{"tls_version", "", "lte", "1.2", "1.2", "1.3", `TLS version is TLS 1.3, want it to be at most TLS 1.2`},
	{"tls_version", "", "gt", "1.2", "1.3", "1.2", `TLS version is TLS 1.2, want it to be more than TLS 1.2`},
	{"tls_version", "", "gte", "1.2", "1.2", "1.1", `TLS version is TLS 1.1, want it to be at least TLS 1.2`},

	{"dns", "AAAA", "equals", "2001:db8::1", "2001:DB8:0::1\n2001:db8::2", "2001:db8::2", `DNS AAAA is "2001:db8::2", want it to equal "2001:db8::1"`},
	{"dns", "MX", "equals", "10 Mail.example", "10 mail.example.\n20 b.example.", "20 mail.example.", `DNS MX is "20 mail.example.", want it to equal "10 Mail.example"`},
	{"dns", "a", "not_equals", "192.0.2.1", none, "192.0.2.2\n192.0.2.1", `DNS A is "192.0.2.2, 192.0.2.1", want it not to equal "192.0.2.1"`},
	{"dns", "TXT", "contains", "v=spf1", "google\nv=spf1 -all", "google", `DNS TXT is "google", want it to contain "v=spf1"`},
	{"dns", "CNAME", "not_contains", "OLD.example", "new.example.", "x.old.example.", `DNS CNAME is "x.old.example.", want it not to contain "OLD.example"`},
	{"dns", "NS", "matches", `^ns\d\.`, "a.\nNS1.example.", none, `DNS NS is absent, want it to match "^ns\d\."`},
	{"dns", "NS", "not_matches", `\.test$`, "ns.example.", "ns.example.\nns.test.", `DNS NS is "ns.example., ns.test.", want it not to match "\.test$"`},
	{"dns", "CAA", "exists", "", `0 issue "x"`, none, `DNS CAA is absent, want it to be there`},
	{"dns", "AAAA", "absent", "", none, "::1", `DNS AAAA is "::1", want it to be absent`},
	{"dns", "A", "in", "192.0.2.0/25,198.51.100.7", "192.0.2.1\n198.51.100.7", "192.0.2.1\n192.0.2.128", `DNS A is "192.0.2.1, 192.0.2.128", want it to be in "192.0.2.0/25,198.51.100.7"`},
	{"dns", "NS", "in", "a.example., b.example", "B.example.\na.example.", none, `DNS NS is absent, want it to be in "a.example., b.example"`},
	{"dns", "A", "not_in", "10.0.0.0/8", "192.0.2.1", "192.0.2.1\n10.1.2.3", `DNS A is "192.0.2.1, 10.1.2.3", want it not to be in "10.0.0.0/8"`},

	{"rcode", "", "equals", "noerror", "NOERROR", "SERVFAIL", `response code is "SERVFAIL", want it to equal "noerror"`},
	{"rcode", "", "not_equals", "NXDOMAIN", "NOERROR", "NXDOMAIN", `response code is "NXDOMAIN", want it not to equal "NXDOMAIN"`},
	{"rcode", "", "in", "NOERROR,NXDOMAIN", "NXDOMAIN", "REFUSED", `response code is "REFUSED", want it to be in "NOERROR,NXDOMAIN"`},
	{"rcode", "", "not_in", "SERVFAIL,REFUSED", "NOERROR", none, `response code is absent, want it not to be in "SERVFAIL,REFUSED"`},

	{"address", "", "equals", "2001:db8::1", "2001:db8::1", "2001:db8::2", `address is 2001:db8::2, want it to equal 2001:db8::1`},
	{"address", "", "not_equals", "192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1", `address is 192.0.2.1, want it not to equal 192.0.2.1`},
	{"address", "", "in", "192.0.2.0/24, 2001:db8::/32", "2001:db8:1::1", "203.0.113.1", `address is 203.0.113.1, want it to be in 192.0.2.0/24, 2001:db8::/32`},
	{"address", "", "not_in", "::ffff:10.0.0.0/104", "192.0.2.1", "10.9.9.9", `address is 10.9.9.9, want it not to be in ::ffff:10.0.0.0/104`},
	{"address", "", "not_in", "fe80::/10", "192.0.2.1", "fe80::1%eth0", `address is fe80::1%eth0, want it not to be in fe80::/10`},
	{"address", "", "not_in", "10.0.0.0/8", "192.0.2.1", none, `address is unknown, want it not to be in 10.0.0.0/8`},

	{"received", "", "equals", "+PONG\r\n", "+PONG\r\n", "-ERR\r\n", `received text is "-ERR\r\n", want it to equal "+PONG\r\n"`},
	{"received", "", "not_equals", "x", "", "x", `received text is "x", want it not to equal "x"`},
	{"received", "", "contains", "220", "220 mail", "421 mail", `received text is "421 mail", want it to contain "220"`},
	{"received", "", "not_contains", "421", "220 mail", "421 mail", `received text is "421 mail", want it not to contain "421"`},
	{"received", "", "matches", "^SSH-2", "SSH-2.0-x", "\x00\xff\u202eé", `received text is " ? é", want it to match "^SSH-2"`},
	{"received", "", "not_matches", "^SSH-1", "SSH-2.0-x", "SSH-1.5", `received text is "SSH-1.5", want it not to match "^SSH-1"`},
	{"received", "", "exists", "", "x", none, `received text is empty, want it to be there`},
	{"received", "", "absent", "", none, "x", `received text is "x", want it to be absent`},
}

func TestEverySourceAndOp(t *testing.T) {
	t.Parallel()
	type pair struct {
		source uptime.Source
		op     uptime.Op
	}
	covered := map[pair]bool{}
	for _, g := range golden {
		covered[pair{g.source, g.op}] = true
		a := uptime.Assertion{Source: g.source, Name: g.name, Op: g.op, Value: g.value}
		set, err := Compile([]uptime.Assertion{a})
		if err != nil {
			t.Errorf("%+v: %v", a, err)
			continue
		}
		if v := set.Evaluate(see(g.source, g.name, g.passes)); v.Status() != uptime.StatusUp || len(v.Failed) != 0 {
			t.Errorf("%+v fails %q: %+v", a, g.passes, v)
		}
		v := set.Evaluate(see(g.source, g.name, g.fails))
		if v.Status() != uptime.StatusDown || len(v.Failed) != 1 {
			t.Errorf("%+v passes %q", a, g.fails)
			continue
		}
		message := v.First().Message
		if message != g.message {
			t.Errorf("said %s\nwant %s", message, g.message)
		}
		if !goodMessage(message) {
			t.Errorf("%q is not fit for a line", message)
		}
	}
	for _, rule := range uptime.AssertionRules() {
		for _, op := range rule.Ops {
			if !covered[pair{rule.Source, op.Op}] {
				t.Errorf("no case of %s %s", rule.Source, op.Op)
			}
		}
	}
}

func goodMessage(text string) bool {
	return text != "" && len(text) <= MaxMessage && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' })
}
