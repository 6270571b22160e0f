package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// links has one URL of each kind.
var links = map[uptime.Kind]string{
	uptime.KindHTTP: "https://example.com/", uptime.KindTCP: "tcp://example.com:25", uptime.KindTLS: "tls://example.com", uptime.KindDNS: "dns://ns.example.com/example.com?type=A",
	uptime.KindICMP: "icmp://example.com", uptime.KindGRPC: "grpcs://example.com:443", uptime.KindWebSocket: "wss://example.com/",
}

func codes(found []Problem) map[string]string {
	all := map[string]string{}
	for _, p := range found {
		all[p.Pointer] = p.Code
	}
	return all
}

func headers(names ...string) []uptime.Header {
	var list []uptime.Header
	for _, name := range names {
		list = append(list, uptime.Header{Name: name, Value: "x"})
	}
	return list
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	six, minus := 6, -1
	many := make([]string, MaxHeaders+1)
	for i := range many {
		many[i] = fmt.Sprint("X-", i)
	}
	web := func(s uptime.HTTPSpec) uptime.Spec { return uptime.Spec{HTTP: &s} }
	ofTLS := []uptime.Assertion{{Source: uptime.SourceCertificate, Op: uptime.OpAtLeast, Value: "14"}, {Source: uptime.SourceTLSVersion, Op: uptime.OpAtLeast, Value: "1.2"}}
	talk := func(s uptime.WebSocketSpec) uptime.Spec { return uptime.Spec{WebSocket: &s} }
	for _, c := range []struct {
		name string
		kind uptime.Kind
		link string // empty: that of the kind
		spec uptime.Spec
		want map[string]string
	}{
		{"family", uptime.KindHTTP, "", uptime.Spec{Family: "5"}, map[string]string{"/family": CodeUnknownValue}},
		{"address of the other family", uptime.KindTCP, "tcp://1.1.1.1:53", uptime.Spec{Family: uptime.FamilyV6}, map[string]string{"/family": CodeFamilyMismatch}},
		{"server of the other family", uptime.KindDNS, "dns://[2606:4700::1111]/a?type=A", uptime.Spec{Family: uptime.FamilyV4}, map[string]string{"/family": CodeFamilyMismatch}},
		{"transport to the prober's own server", uptime.KindDNS, "dns:///example.com?type=A", uptime.Spec{DNS: &uptime.DNSSpec{Transport: uptime.DNSOverTLS}}, map[string]string{"/dns/transport": CodeConflict}},
		{"days of a tcp target without TLS", uptime.KindTCP, "", uptime.Spec{Assertions: ofTLS}, map[string]string{"/assertions/0/source": CodeConflict, "/assertions/1/source": CodeConflict}},
		{"days of a websocket without TLS", uptime.KindWebSocket, "ws://example.com/", uptime.Spec{Assertions: ofTLS}, map[string]string{"/assertions/0/source": CodeConflict, "/assertions/1/source": CodeConflict}},
		{"days of grpc without TLS", uptime.KindGRPC, "grpc://example.com:80", uptime.Spec{Assertions: ofTLS}, map[string]string{"/assertions/0/source": CodeConflict, "/assertions/1/source": CodeConflict}},
		{"days after STARTTLS", uptime.KindTCP, "", uptime.Spec{TCP: &uptime.TCPSpec{StartTLS: uptime.StartTLSSMTP}, Assertions: ofTLS}, map[string]string{}},
		{"days of wss", uptime.KindWebSocket, "", uptime.Spec{Assertions: ofTLS}, map[string]string{}},
		{"days of http, which may be redirected", uptime.KindHTTP, "http://example.com/", uptime.Spec{Assertions: ofTLS}, map[string]string{}},
		{"method with a space", uptime.KindHTTP, "", web(uptime.HTTPSpec{Method: "GET /"}), map[string]string{"/http/method": CodeInvalidMethod}},
		{"method in small letters", uptime.KindHTTP, "", web(uptime.HTTPSpec{Method: "get"}), map[string]string{"/http/method": CodeInvalidMethod}},
		{"method of proxies", uptime.KindHTTP, "", web(uptime.HTTPSpec{Method: "CONNECT"}), map[string]string{"/http/method": CodeInvalidMethod}},
		{"long method", uptime.KindHTTP, "", web(uptime.HTTPSpec{Method: strings.Repeat("A", MaxMethod+1)}), map[string]string{"/http/method": CodeInvalidMethod}},
		{"too many headers", uptime.KindHTTP, "", web(uptime.HTTPSpec{Headers: headers(many...)}), map[string]string{"/http/headers": CodeTooMany}},
		{"headers", uptime.KindHTTP, "", web(uptime.HTTPSpec{Headers: append(headers("", "a b", strings.Repeat("x", MaxHeaderName+1), "Host", "proxy-authorization", "TRANSFER-ENCODING", "Dup", "X", "dUP"),
			uptime.Header{Name: "A", Value: "a\r\nB: c"}, uptime.Header{Name: "B", Value: strings.Repeat("x", MaxHeaderValue+1)}, uptime.Header{Name: "C", Value: "x", Secret: "s1.a.b"})}),
			map[string]string{
				"/http/headers/0/name": CodeInvalidHeader, "/http/headers/1/name": CodeInvalidHeader, "/http/headers/2/name": CodeTooLong, "/http/headers/3/name": CodeReservedHeader,
				"/http/headers/4/name": CodeReservedHeader, "/http/headers/5/name": CodeReservedHeader, "/http/headers/8/name": CodeDuplicateHeader,
				"/http/headers/9/value": CodeInvalidHeader, "/http/headers/10/value": CodeTooLong, "/http/headers/11/secret": CodeConflict,
			}},
		{"authorized twice by name", uptime.KindHTTP, "", web(uptime.HTTPSpec{Username: "u", Headers: headers("authorization")}), map[string]string{"/http/headers/0/name": CodeConflict}},
		{"authorized twice by token", uptime.KindHTTP, "", web(uptime.HTTPSpec{Token: "s1.a.b", Headers: headers("Authorization")}), map[string]string{"/http/headers/0/name": CodeConflict}},
		{"name and token", uptime.KindHTTP, "", web(uptime.HTTPSpec{Username: "u", Token: "s1.a.b"}), map[string]string{"/http/token": CodeConflict}},
		{"password and token", uptime.KindHTTP, "", web(uptime.HTTPSpec{Password: "s1.a.b", Token: "s1.a.b"}), map[string]string{"/http/token": CodeConflict}},
		{"colon in a user name", uptime.KindHTTP, "", web(uptime.HTTPSpec{Username: "a:b"}), map[string]string{"/http/username": CodeInvalidText}},
		{"line in a user name", uptime.KindHTTP, "", web(uptime.HTTPSpec{Username: "a\nb"}), map[string]string{"/http/username": CodeInvalidText}},
		{"long user name", uptime.KindHTTP, "", web(uptime.HTTPSpec{Username: strings.Repeat("a", MaxCredential+1)}), map[string]string{"/http/username": CodeTooLong}},
		{"two bodies", uptime.KindHTTP, "", web(uptime.HTTPSpec{Body: "x", BodySecret: "s1.a.b"}), map[string]string{"/http/body_secret": CodeConflict}},
		{"long body", uptime.KindHTTP, "", web(uptime.HTTPSpec{Body: strings.Repeat("x", MaxBody+1)}), map[string]string{"/http/body": CodeTooLong, "/http": CodeTooLong}},
		{"six redirects", uptime.KindHTTP, "", web(uptime.HTTPSpec{Redirects: &six}), map[string]string{"/http/redirects": CodeOutOfRange}},
		{"less than no redirect", uptime.KindHTTP, "", web(uptime.HTTPSpec{Redirects: &minus}), map[string]string{"/http/redirects": CodeOutOfRange}},
		{"version", uptime.KindHTTP, "", web(uptime.HTTPSpec{Version: "1.0"}), map[string]string{"/http/version": CodeUnknownValue}},
		{"HTTP/2 without TLS", uptime.KindHTTP, "HTTP://example.com/", web(uptime.HTTPSpec{Version: uptime.HTTP2}), map[string]string{"/http/version": CodeConflict}},
		{"HTTP/3 without TLS", uptime.KindHTTP, "http://example.com/", web(uptime.HTTPSpec{Version: uptime.HTTP3}), map[string]string{"/http/version": CodeConflict}},
		{"starttls", uptime.KindTCP, "", uptime.Spec{TCP: &uptime.TCPSpec{StartTLS: "pop3"}}, map[string]string{"/tcp/starttls": CodeUnknownValue}},
		{"long talk", uptime.KindTCP, "", uptime.Spec{TCP: &uptime.TCPSpec{Send: strings.Repeat("x", MaxBody+1)}}, map[string]string{"/tcp/send": CodeTooLong, "/tcp": CodeTooLong}},
		{"two talks", uptime.KindTCP, "", uptime.Spec{TCP: &uptime.TCPSpec{Send: "x", SendSecret: "s1.a.b"}}, map[string]string{"/tcp/send_secret": CodeConflict}},
		{"transport", uptime.KindDNS, "", uptime.Spec{DNS: &uptime.DNSSpec{Transport: "quic"}}, map[string]string{"/dns/transport": CodeUnknownValue}},
		{"reserved headers of websockets", uptime.KindWebSocket, "", talk(uptime.WebSocketSpec{Headers: headers("Sec-WebSocket-Key", "Origin", "Upgrade")}),
			map[string]string{"/websocket/headers/0/name": CodeReservedHeader, "/websocket/headers/2/name": CodeReservedHeader}},
		{"subprotocols", uptime.KindWebSocket, "", talk(uptime.WebSocketSpec{Subprotocols: []string{"a", "", "b c", "a"}}),
			map[string]string{"/websocket/subprotocols/1": CodeInvalidName, "/websocket/subprotocols/2": CodeInvalidName, "/websocket/subprotocols/3": CodeInvalidName}},
		{"many subprotocols", uptime.KindWebSocket, "", talk(uptime.WebSocketSpec{Subprotocols: many}), map[string]string{"/websocket/subprotocols": CodeTooMany}},
		{"long message", uptime.KindWebSocket, "", talk(uptime.WebSocketSpec{Send: strings.Repeat("x", MaxBody+1)}), map[string]string{"/websocket/send": CodeTooLong, "/websocket": CodeTooLong}},
		{"answers to nothing", uptime.KindWebSocket, "", uptime.Spec{Assertions: []uptime.Assertion{
			{Source: uptime.SourceLatency, Op: uptime.OpLess, Value: "500"}, {Source: uptime.SourceReceived, Op: uptime.OpNotContains, Value: "error"}, {Source: uptime.SourceReceived, Op: uptime.OpAbsent},
		}}, map[string]string{"/assertions/1/source": CodeConflict, "/assertions/2/source": CodeConflict}},
		{"no answer", uptime.KindWebSocket, "", uptime.Spec{WebSocket: &uptime.WebSocketSpec{Send: "hi"}, Assertions: []uptime.Assertion{
			{Source: uptime.SourceReceived, Op: uptime.OpContains, Value: "hi"}, {Source: uptime.SourceReceived, Op: uptime.OpAbsent},
		}}, map[string]string{"/assertions/1/op": CodeConflict}},
		{"server name with a port", uptime.KindTLS, "", uptime.Spec{TLS: &uptime.TLSSpec{ServerName: "a:1"}}, map[string]string{"/tls/server_name": CodeInvalidName}},
		{"server name that is an address", uptime.KindTLS, "", uptime.Spec{TLS: &uptime.TLSSpec{ServerName: "1.1.1.1"}}, map[string]string{"/tls/server_name": CodeInvalidName}},
		{"server name that is half an address", uptime.KindTLS, "", uptime.Spec{TLS: &uptime.TLSSpec{ServerName: "127.1"}}, map[string]string{"/tls/server_name": CodeInvalidName}},
		{"status ranges", uptime.KindHTTP, "", uptime.Spec{Expect: uptime.Expect{Status: make([]uptime.StatusRange, 21)}}, map[string]string{"/expect/status": CodeTooLong}},
		{"assertions", uptime.KindHTTP, "", uptime.Spec{Assertions: []uptime.Assertion{
			{Source: uptime.SourceBody, Op: uptime.OpContains, Value: "x"}, {Source: "weather", Op: uptime.OpEquals}, {Source: uptime.SourceRcode, Op: uptime.OpEquals, Value: "NOERROR"},
			{Source: uptime.SourceHeader, Op: "is", Value: "1", Severity: "panic"}, {Source: uptime.SourceBody, Op: uptime.OpMatches, Value: "("},
		}}, map[string]string{
			"/assertions/1/source": assertion.CodeUnknownSource, "/assertions/2/source": assertion.CodeSourceOfKind, "/assertions/3/name": assertion.CodeRequired,
			"/assertions/3/op": assertion.CodeUnknownOp, "/assertions/3/severity": assertion.CodeUnknownSeverity, "/assertions/4/value": assertion.CodeInvalidPattern,
		}},
		{"many assertions", uptime.KindHTTP, "", uptime.Spec{Assertions: make([]uptime.Assertion, assertion.MaxAssertions+1)}, map[string]string{"/assertions": assertion.CodeTooMany}},
		{"a spec that is too large as a whole", uptime.KindHTTP, "", uptime.Spec{
			HTTP: &uptime.HTTPSpec{Body: strings.Repeat("x", MaxSpec-2000)}, Assertions: []uptime.Assertion{
				{Source: uptime.SourceBody, Op: uptime.OpContains, Value: strings.Repeat("y", 1000)}, {Source: uptime.SourceBody, Op: uptime.OpContains, Value: strings.Repeat("z", 1000)},
			},
		}, map[string]string{"/http": CodeTooLong}},
		{"nothing is known of the url", "", "-", uptime.Spec{HTTP: &uptime.HTTPSpec{Method: " ", Version: uptime.HTTP2}, TCP: &uptime.TCPSpec{}, Family: uptime.FamilyV4, Assertions: []uptime.Assertion{{Source: "x"}}},
			map[string]string{"/http/method": CodeInvalidMethod}},
	} {
		link := map[string]string{"": links[c.kind], "-": ""}[c.link]
		if c.link != "" && c.link != "-" {
			link = c.link
		}
		found := Validate(c.kind, link, c.spec)
		if diff := cmp.Diff(c.want, codes(found)); diff != "" || len(found) != len(c.want) {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, p := range found {
			if p.Message == "" || len(p.Message) > 400 {
				t.Errorf("%s: %s says %q", c.name, p.Pointer, p.Message)
			}
		}
	}
}

// TestPartsOfKinds tries every part on every kind.
func TestPartsOfKinds(t *testing.T) {
	t.Parallel()
	expect := uptime.Expect{Status: []uptime.StatusRange{{From: 200, To: 200}}}
	parts := map[string]struct {
		spec  uptime.Spec
		kinds []uptime.Kind
	}{
		"/expect":    {uptime.Spec{Expect: expect}, []uptime.Kind{uptime.KindHTTP}},
		"/http":      {uptime.Spec{HTTP: &uptime.HTTPSpec{}}, []uptime.Kind{uptime.KindHTTP}},
		"/tcp":       {uptime.Spec{TCP: &uptime.TCPSpec{}}, []uptime.Kind{uptime.KindTCP}},
		"/dns":       {uptime.Spec{DNS: &uptime.DNSSpec{}}, []uptime.Kind{uptime.KindDNS}},
		"/websocket": {uptime.Spec{WebSocket: &uptime.WebSocketSpec{}}, []uptime.Kind{uptime.KindWebSocket}},
		"/tls":       {uptime.Spec{TLS: &uptime.TLSSpec{}}, []uptime.Kind{uptime.KindHTTP, uptime.KindTLS, uptime.KindGRPC, uptime.KindWebSocket}},
		"/heartbeat": {uptime.Spec{Heartbeat: &uptime.HeartbeatSpec{PeriodS: 60, GraceS: 60}}, []uptime.Kind{uptime.KindHeartbeat}},
		"/family":    {uptime.Spec{Family: uptime.FamilyV6}, slices.DeleteFunc(Kinds(), func(k uptime.Kind) bool { return !k.Probed() })},
		"/nothing":   {uptime.Spec{}, Kinds()},
	}
	for pointer, part := range parts {
		for _, kind := range Kinds() {
			want := map[string]string{pointer: CodeNotOfKind}
			if slices.Contains(part.kinds, kind) {
				want = map[string]string{}
			}
			if kind == uptime.KindHeartbeat && part.spec.Heartbeat == nil {
				want["/heartbeat"] = CodeRequired
			}
			if diff := cmp.Diff(want, codes(Validate(kind, links[kind], part.spec))); diff != "" {
				t.Errorf("%s of a %s target: %s", pointer, kind, diff)
			}
		}
	}
	secure := &uptime.TLSSpec{ServerName: "www.example.com"}
	for _, c := range []struct {
		kind uptime.Kind
		link string
		spec uptime.Spec
		want bool
	}{
		{uptime.KindHTTP, "http://example.com/", uptime.Spec{TLS: secure}, true}, // it may be redirected
		{uptime.KindTCP, "", uptime.Spec{TLS: secure, TCP: &uptime.TCPSpec{StartTLS: uptime.StartTLSSMTP}}, true},
		{uptime.KindTCP, "", uptime.Spec{TLS: secure, TCP: &uptime.TCPSpec{Send: "x"}}, false},
		{uptime.KindDNS, "", uptime.Spec{TLS: secure, DNS: &uptime.DNSSpec{Transport: uptime.DNSOverTLS}}, true},
		{uptime.KindDNS, "", uptime.Spec{TLS: secure, DNS: &uptime.DNSSpec{Transport: uptime.DNSOverHTTPS}}, true},
		{uptime.KindDNS, "", uptime.Spec{TLS: secure, DNS: &uptime.DNSSpec{Transport: uptime.DNSOverTCP}}, false},
		{uptime.KindGRPC, "grpc://example.com:1", uptime.Spec{TLS: secure}, false},
		{uptime.KindWebSocket, "ws://example.com/", uptime.Spec{TLS: secure}, false},
	} {
		link := c.link
		if link == "" {
			link = links[c.kind]
		}
		if found := codes(Validate(c.kind, link, c.spec)); (len(found) == 0) != c.want {
			t.Errorf("%s with %+v: %v", link, c.spec, found)
		}
	}
}

func TestWhatCanBeAsked(t *testing.T) {
	t.Parallel()
	none := 0
	for kind, all := range map[uptime.Kind][]uptime.Spec{
		uptime.KindHTTP: {
			{HTTP: &uptime.HTTPSpec{Method: "X-PURGE", Headers: append(headers("Cookie", "User-Agent", "X-Empty"), uptime.Header{Name: "X-Key", Secret: "s1.a.b"}, uptime.Header{Name: "Nothing"}), Body: strings.Repeat("x", 40<<10), Redirects: &none, Version: uptime.HTTP3}},
			{HTTP: &uptime.HTTPSpec{Username: "ann", Password: "s1.a.b", Version: uptime.HTTPBest}, Family: uptime.FamilyV4},
			{HTTP: &uptime.HTTPSpec{Token: "s1.a.b", BodySecret: "s1.a.b"}},
			{Assertions: []uptime.Assertion{{Source: uptime.SourceJSON, Name: "$.ok", Op: uptime.OpEquals, Value: "true"}}},
		},
		uptime.KindTCP: {{TCP: &uptime.TCPSpec{Send: "\x00\xff", StartTLS: uptime.StartTLSFTP}}},
		uptime.KindDNS: {{DNS: &uptime.DNSSpec{Transport: uptime.DNSOverTCP}, Assertions: []uptime.Assertion{{Source: uptime.SourceDNS, Name: "A", Op: uptime.OpExists}}}},
		uptime.KindWebSocket: {
			{WebSocket: &uptime.WebSocketSpec{Send: "hi"}, Assertions: []uptime.Assertion{{Source: uptime.SourceReceived, Op: uptime.OpExists}, {Source: uptime.SourceReceived, Op: uptime.OpNotMatches, Value: "(?i)error"}}},
			{WebSocket: &uptime.WebSocketSpec{Send: "hi", Headers: headers("Origin"), Subprotocols: []string{"graphql-ws", "v2.json"}}},
		},
	} {
		for _, s := range all {
			if found := Validate(kind, links[kind], s); found != nil {
				t.Errorf("%s target with %s: %+v", kind, s.Text(), found)
			}
		}
	}
}

func TestSecretsAreJudgedBeforeTheyAreSealed(t *testing.T) {
	t.Parallel()
	good := map[string][]string{
		"/http/password":         {"", "a b:c\"", "päss", strings.Repeat("x", MaxCredential)},
		"/http/token":            {"", "abc.DEF-_~+/==", "1|x:y"},
		"/http/body_secret":      {"", "{\n}", "\x00", strings.Repeat("x", MaxBody)},
		"/http/query_secret":     {"", "token=a%20b&sig=x/y+z==", "abc", strings.Repeat("x", MaxURL)},
		"/tcp/send_secret":       {"", "PASS x\r\n", "\x00", strings.Repeat("x", MaxBody)},
		"/http/headers/0/secret": {"", "Bearer x", "päss"},
	}
	bad := map[string][]string{
		"/http/password":              {"a\nb", "\x00", strings.Repeat("x", MaxCredential+1)},
		"/http/token":                 {"a b", "Bearer x", "tökn", "a\r\nB: c", strings.Repeat("x", MaxHeaderValue+1)},
		"/http/body_secret":           {strings.Repeat("x", MaxBody+1)},
		"/http/query_secret":          {"?a=b", "&a=b", "a=b#c", "a=b c", "a=ä", "a=b\r\nHost: x", strings.Repeat("x", MaxURL+1)},
		"/tcp/send_secret":            {strings.Repeat("x", MaxBody+1)},
		"/http/headers/3/secret":      {"a\r\nB: c", "\x7f", strings.Repeat("x", MaxHeaderValue+1)},
		"/websocket/headers/3/secret": {"a\nb"},
	}
	for _, pointer := range slices.Sorted(maps.Keys(good)) {
		for _, text := range good[pointer] {
			if p := Secret(pointer, secret.New(text)); p != nil {
				t.Errorf("%s %.20q: %+v", pointer, text, p)
			}
		}
	}
	for _, pointer := range slices.Sorted(maps.Keys(bad)) {
		for _, text := range bad[pointer] {
			if p := Secret(pointer, secret.New(text)); p == nil || p.Pointer != pointer || p.Code == "" || strings.Contains(p.Message, text) {
				t.Errorf("%s %.20q: %+v", pointer, text, p)
			}
		}
	}
}

// FuzzValidate holds that no spec is too strange to be judged, and that what passes can be sent.
func FuzzValidate(f *testing.F) {
	f.Add("http", "https://example.com/", `{"http":{"method":"GET","headers":[{"name":"A","value":"b"}]},"family":"4"}`)
	f.Add("websocket", "wss://example.com/", `{"websocket":{"subprotocols":["a"]},"tls":{"server_name":"x"}}`)
	f.Add("dns", "dns:///a", `{"dns":{"transport":"tls"},"assertions":[{"source":"dns","name":"A","op":"in","value":"1.1.1.1"}]}`)
	f.Fuzz(func(t *testing.T, kind, link, text string) {
		s, err := uptime.SpecText(text).Spec()
		if err != nil {
			return
		}
		if found := Validate(uptime.Kind(kind), link, s); len(found) > 0 {
			return
		}
		if len(s.Text()) > MaxSpec {
			t.Fatalf("%d bytes pass", len(s.Text()))
		}
		if s.HTTP != nil {
			for _, h := range s.HTTP.Headers {
				if strings.ContainsAny(h.Name+h.Value, "\r\n\x00") || uptime.ReservedHeader(h.Name) {
					t.Fatalf("the header %q: %q passes", h.Name, h.Value)
				}
			}
		}
	})
}
