package httpapi

import (
	"strconv"

	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

func item(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

func (m *merger) problem(p spec.Problem) { m.mistake(p.Pointer, p.Code, "%s", p.Message) }

// spec lays the parts of an input over those of the target: each replaces the one
// before as a whole, and null removes it.
func (m *merger) spec(in TargetInput, null nulls) {
	s := &m.target.Spec
	m.expect(in.Expect, null["expect"] || null["expect/status"])
	switch {
	case in.Family != nil:
		s.Family = uptime.Family(*in.Family)
	case null["family"]:
		s.Family = uptime.FamilyAny
	}
	if in.Assertions != nil || null["assertions"] {
		s.Assertions = nil
		for _, a := range in.Assertions {
			s.Assertions = append(s.Assertions, uptime.Assertion(a))
		}
	}
	replace(&s.HTTP, in.HTTP, null["http"], m.http)
	replace(&s.TCP, in.TCP, null["tcp"], m.tcp)
	replace(&s.TLS, in.TLS, null["tls"], func(p tlsPart, _ uptime.TLSSpec) uptime.TLSSpec { return uptime.TLSSpec(p) })
	replace(&s.DNS, in.DNS, null["dns"], func(p dnsPart, _ uptime.DNSSpec) uptime.DNSSpec { return uptime.DNSSpec(p) })
	replace(&s.WebSocket, in.WebSocket, null["websocket"], m.webSocket)
	replace(&s.Heartbeat, in.Heartbeat, null["heartbeat"], func(p heartbeatPart, _ uptime.HeartbeatSpec) uptime.HeartbeatSpec { return uptime.HeartbeatSpec(p) })
	for _, p := range spec.Validate(m.judgedKind, m.judgedURL, *s) {
		m.problem(p)
	}
}

// unreadable refuses to change how a target is visited when that is what cannot be read here: parts of it,
// secrets among them, would be lost or sent elsewhere unseen. Everything else can be changed.
func (m *merger) unreadable(in TargetInput, null nulls) {
	if m.target.Spec.Unread == "" {
		return
	}
	for _, part := range m.visit(in, null) {
		m.mistake("/"+part, codeUnreadable, "how this target is visited cannot be read by this release, and so not be changed: upgrade, or delete it and create it anew")
	}
}

// visit names the members of an input that say how a target is visited, those left out that say what it is already.
func (m *merger) visit(in TargetInput, null nulls) (given []string) {
	for _, part := range []struct {
		name  string
		given bool
	}{
		{"url", in.URL != nil && *in.URL != m.target.URL}, {"kind", in.Kind != nil && *in.Kind != string(m.target.Kind)},
		{"expect", in.Expect != nil || null["expect/status"]}, {"family", in.Family != nil}, {"assertions", in.Assertions != nil},
		{"http", in.HTTP != nil}, {"tcp", in.TCP != nil}, {"tls", in.TLS != nil}, {"dns", in.DNS != nil}, {"websocket", in.WebSocket != nil}, {"heartbeat", in.Heartbeat != nil},
	} {
		if part.given || null[part.name] {
			given = append(given, part.name)
		}
	}
	return given
}

// replace puts the part that was given in place of the one before, which it may look at
// for secrets to keep.
func replace[P, S any](part **S, in *P, null bool, stored func(in P, before S) S) {
	switch {
	case in != nil:
		var before S
		if *part != nil {
			before = **part
		}
		*part = unlessPlain(stored(*in, before))
	case null:
		*part = nil
	}
}

func (m *merger) http(in httpPart, before uptime.HTTPSpec) uptime.HTTPSpec {
	return uptime.HTTPSpec{
		Method: in.Method, Headers: m.headers("/http/headers", in.Headers, before.Headers), Body: in.Body,
		BodySecret:  m.secret("/http/body_secret", in.BodySecret, before.BodySecret),
		QuerySecret: m.secret("/http/query_secret", in.QuerySecret, before.QuerySecret), Username: in.Username,
		Password: m.secret("/http/password", in.Password, before.Password), Token: m.secret("/http/token", in.Token, before.Token),
		Redirects: in.Redirects, Cookies: in.Cookies, Compressed: in.Compressed, Version: in.Version,
	}
}

func (m *merger) tcp(in tcpPart, before uptime.TCPSpec) uptime.TCPSpec {
	return uptime.TCPSpec{Send: in.Send, SendSecret: m.secret("/tcp/send_secret", in.SendSecret, before.SendSecret), StartTLS: in.StartTLS}
}

func (m *merger) webSocket(in webSocketPart, before uptime.WebSocketSpec) uptime.WebSocketSpec {
	s := uptime.WebSocketSpec{Send: in.Send, Headers: m.headers("/websocket/headers", in.Headers, before.Headers)}
	if len(in.Subprotocols) > 0 {
		s.Subprotocols = in.Subprotocols
	}
	return s
}
