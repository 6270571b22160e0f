package httpapi

import (
	"reflect"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The parts of a target's spec, as they are read and answered. On input a part
// replaces the whole one of before; null removes it.

type assertionPart struct {
	Source   uptime.Source   `json:"source" enum:"status,header,body,json,body_size,body_hash,latency,phase,certificate_days,redirect,protocol,tls_version,dns,rcode,address,received" doc:"what is looked at; what may be said of it is at /api/v1/assertions/rules"`
	Name     string          `json:"name,omitempty" maxLength:"256" doc:"which header, JSONPath (RFC 9535), phase or record type; only of sources that have several"`
	Op       uptime.Op       `json:"op" enum:"equals,not_equals,contains,not_contains,matches,not_matches,exists,absent,in,not_in,lt,lte,gt,gte"`
	Value    string          `json:"value,omitempty" maxLength:"1024" doc:"a text, read as the rule of the source and op says"`
	Severity uptime.Severity `json:"severity,omitempty" enum:"fail,degrade" doc:"what the target is when this does not hold: down (fail, the default) or degraded"`
}

type headerPart struct {
	Name   string     `json:"name" maxLength:"128" doc:"Not one that decides how the message is read (Host, Content-Length, …), and each once."`
	Value  string     `json:"value,omitempty" maxLength:"8192"`
	Secret secretText `json:"secret,omitzero" doc:"Instead of value: write-only, as [secret] when read. Written as [secret], that of the header of this name is kept."`
}

type httpPart struct {
	Method      string             `json:"method,omitempty" maxLength:"32" doc:"Default GET." example:"POST"`
	Headers     []headerPart       `json:"headers,omitempty" maxItems:"40" nullable:"false" doc:"Not sent to another origin after a redirect."`
	Body        string             `json:"body,omitempty" maxLength:"65536"`
	BodySecret  secretText         `json:"body_secret,omitzero" doc:"Instead of body: write-only, as [secret] when read; written as [secret] it is kept."`
	QuerySecret secretText         `json:"query_secret,omitzero" doc:"A part of the query that is secret, such as token=abc: it follows that of the url, and is not sent along to where a redirect leads. Write-only, as [secret] when read; written as [secret] it is kept."`
	Username    string             `json:"username,omitempty" maxLength:"1024" doc:"For basic authentication (RFC 7617)."`
	Password    secretText         `json:"password,omitzero" doc:"Write-only, as [secret] when read; written as [secret] it is kept."`
	Token       secretText         `json:"token,omitzero" doc:"Bearer token (RFC 6750), instead of user name and password. Write-only, as [secret] when read; written as [secret] it is kept."`
	Redirects   *int               `json:"redirects,omitempty" minimum:"0" maximum:"5" doc:"How many are followed. Default 5."`
	Cookies     bool               `json:"cookies,omitempty" doc:"Send cookies along that were set on the way."`
	Compressed  bool               `json:"compressed,omitempty" doc:"Ask for gzip, br and zstd."`
	Version     uptime.HTTPVersion `json:"version,omitempty" enum:"2,3,best" doc:"Default HTTP/1.1. 2 and 3 are that or failure, over TLS only; best is HTTP/2 where it is offered."`
}

type tcpPart struct {
	Send       string          `json:"send,omitempty" maxLength:"65536" doc:"Sent once the connection (and STARTTLS) is there; what comes back is judged by assertions on received."`
	SendSecret secretText      `json:"send_secret,omitzero" doc:"Instead of send, such as a line with a password: write-only, as [secret] when read; written as [secret] it is kept."`
	StartTLS   uptime.StartTLS `json:"starttls,omitempty" enum:"smtp,imap,ftp" doc:"The protocol whose upgrade to TLS is made first."`
}

type tlsPart struct {
	ServerName  string `json:"server_name,omitempty" maxLength:"253" doc:"Asked for and verified instead of the url's host."`
	SkipVerify  bool   `json:"skip_verify,omitempty" doc:"Believe whoever answers."`
	PostQuantum bool   `json:"post_quantum,omitempty" doc:"Also offer X25519MLKEM768."`
}

type dnsPart struct {
	Transport uptime.DNSTransport `json:"transport,omitempty" enum:"tcp,tls,https" doc:"Default UDP, repeated over TCP when the answer was cut."`
}

type heartbeatPart struct {
	PeriodS int64  `json:"period_s,omitempty" minimum:"10" maximum:"31622400" doc:"A ping is expected at most so long after the one before. Either this or cron."`
	Cron    string `json:"cron,omitempty" maxLength:"200" doc:"Or by five fields: minute, hour, day of the month, month, day of the week." example:"30 2 * * *"`
	Zone    string `json:"zone,omitempty" maxLength:"64" doc:"IANA time zone of the cron expression. Default UTC." example:"Europe/Berlin"`
	GraceS  int64  `json:"grace_s" minimum:"1" maximum:"2678400" doc:"How much later than expected a ping may come."`
}

type webSocketPart struct {
	Send         string       `json:"send,omitempty" maxLength:"65536" doc:"One text message; the first answer is judged by assertions on received. Without it there can be none of those, and with it none that wants no answer (absent)."`
	Headers      []headerPart `json:"headers,omitempty" maxItems:"40" nullable:"false"`
	Subprotocols []string     `json:"subprotocols,omitempty" maxItems:"10" nullable:"false"`
}

func assertionsOf(list []uptime.Assertion) []assertionPart {
	parts := make([]assertionPart, len(list))
	for i, a := range list {
		parts[i] = assertionPart(a)
	}
	return parts
}

func headersOf(list []uptime.Header) []headerPart {
	parts := make([]headerPart, len(list))
	for i, h := range list {
		parts[i] = headerPart{Name: h.Name, Value: h.Value, Secret: shownSecret(h.Secret)}
	}
	return parts
}

func httpOf(s *uptime.HTTPSpec) nullable[httpPart] {
	if s == nil {
		return nullable[httpPart]{}
	}
	return some(httpPart{
		Method: s.Method, Headers: headersOf(s.Headers), Body: s.Body, BodySecret: shownSecret(s.BodySecret), QuerySecret: shownSecret(s.QuerySecret), Username: s.Username, Password: shownSecret(s.Password),
		Token: shownSecret(s.Token), Redirects: s.Redirects, Cookies: s.Cookies, Compressed: s.Compressed, Version: s.Version,
	})
}

func tcpOf(s uptime.TCPSpec) tcpPart {
	return tcpPart{Send: s.Send, SendSecret: shownSecret(s.SendSecret), StartTLS: s.StartTLS}
}

func webSocketOf(s *uptime.WebSocketSpec) nullable[webSocketPart] {
	if s == nil {
		return nullable[webSocketPart]{}
	}
	return some(webSocketPart{Send: s.Send, Headers: headersOf(s.Headers), Subprotocols: s.Subprotocols})
}

// partOf shows a part that is the same inside and out.
func partOf[P, S any](s *S, show func(S) P) nullable[P] {
	if s == nil {
		return nullable[P]{}
	}
	return some(show(*s))
}

// unlessPlain gives nil for a part that asks for nothing: equal specs are equal texts.
func unlessPlain[S any](s S) *S {
	if reflect.ValueOf(s).IsZero() {
		return nil
	}
	return &s
}
