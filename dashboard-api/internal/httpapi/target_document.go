package httpapi

import (
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// TargetInput is what may be set on a target. On POST only url is required; on
// PATCH what is absent stays, and null goes back to the default.
type TargetInput struct {
	Name      *string      `json:"name,omitempty" maxLength:"120" doc:"Unique. Default: the host and path of the URL."`
	URL       *string      `json:"url,omitempty" maxLength:"2048" format:"uri" doc:"What to visit, without credentials: http(s)://HOST/PATH, tcp://HOST:PORT, tls://HOST, dns://[SERVER]/NAME?type=TYPE (RFC 4501), icmp://HOST, grpc(s)://HOST:PORT[/SERVICE] ws(s)://HOST/PATH or heartbeat://NAME. Of a heartbeat it can be left out." example:"https://example.com/"`
	Kind      *string      `json:"kind,omitempty" enum:"http,tcp,tls,dns,icmp,grpc,websocket,heartbeat" doc:"That of the url's scheme: it can be left out, and must not contradict."`
	IntervalS *int64       `json:"interval_s,omitempty" minimum:"10" maximum:"86400" doc:"Seconds between checks. Default 60."`
	TimeoutMS *int64       `json:"timeout_ms,omitempty" minimum:"100" maximum:"30000" doc:"Default: half the interval, at most 10 s."`
	Regions   []string     `json:"regions,omitempty" maxItems:"20" nullable:"true" doc:"Where from. Empty means every region."`
	Tags      []string     `json:"tags,omitempty" maxItems:"20" nullable:"true" doc:"1 to 40 of a-z, 0-9 and -_.:/ each; capitals are made small. Replaces the list of before. Maintenance windows and notification rules can be for them." example:"[\"prod\",\"team:db\"]"`
	ParentID  *int64       `json:"parent_id,omitempty" minimum:"1" doc:"The target that it depends on, such as a router: while that is down nobody is told that this one is. At most five in a row."`
	Active    *bool        `json:"active,omitempty" doc:"False pauses the checks. Default true."`
	Expect    *ExpectInput `json:"expect,omitempty" doc:"What counts as up, unless an assertion says something of the status. Of http targets."`

	Policy *verdict.Policy `json:"policy,omitempty" doc:"When it is down and when people hear of it. Replaces the one of before as a whole; null is the default."`

	Family     *string         `json:"family,omitempty" enum:"4,6" doc:"Visit only addresses of this family. Default both."`
	Assertions []assertionPart `json:"assertions,omitempty" maxItems:"20" nullable:"true" doc:"What the answer must be. Replaces the list of before."`
	HTTP       *httpPart       `json:"http,omitempty" doc:"The request of an http target. Like the parts below it replaces the part of before as a whole, and null removes it."`
	TCP        *tcpPart        `json:"tcp,omitempty" doc:"The talk of a tcp target."`
	TLS        *tlsPart        `json:"tls,omitempty" doc:"What the TLS handshake offers and demands, of any kind that has one."`
	DNS        *dnsPart        `json:"dns,omitempty" doc:"How a dns target is asked."`
	WebSocket  *webSocketPart  `json:"websocket,omitempty" doc:"The talk of a websocket target."`
	Heartbeat  *heartbeatPart  `json:"heartbeat,omitempty" doc:"When the job of a heartbeat target is to ping. Such a target has no interval_s, timeout_ms or regions."`
}

// ExpectInput is what a target must answer to be up.
type ExpectInput struct {
	Status []string `json:"status,omitempty" maxItems:"20" nullable:"true" doc:"Status codes and ranges. Default 200-399." example:"[\"200-399\"]"`
}

// targetBody is a target in answers.
type targetBody struct {
	ID          int64           `json:"id"`
	Name        string          `json:"name"`
	URL         string          `json:"url"`
	Kind        string          `json:"kind" enum:"http,tcp,tls,dns,icmp,grpc,websocket,heartbeat"`
	IntervalS   int64           `json:"interval_s"`
	TimeoutMS   int64           `json:"timeout_ms"`
	Regions     []string        `json:"regions" nullable:"false" doc:"empty means every region"`
	Tags        []string        `json:"tags" nullable:"false"`
	ParentID    nullable[int64] `json:"parent_id" doc:"the target that it depends on"`
	Active      bool            `json:"active"`
	Expect      expectBody      `json:"expect"`
	Policy      verdict.Policy  `json:"policy" doc:"when it is down and when people hear of it; empty: the default"`
	SpecVersion int64           `json:"spec_version" doc:"rises with every change; the ETag"`
	CreatedAt   instant         `json:"created_at"`
	UpdatedAt   instant         `json:"updated_at"`

	Family         string                  `json:"family" enum:",4,6" doc:"empty: both"`
	Assertions     []assertionPart         `json:"assertions" nullable:"false"`
	HTTP           nullable[httpPart]      `json:"http" doc:"null: nothing but the defaults, like the parts below"`
	TCP            nullable[tcpPart]       `json:"tcp"`
	TLS            nullable[tlsPart]       `json:"tls"`
	DNS            nullable[dnsPart]       `json:"dns"`
	WebSocket      nullable[webSocketPart] `json:"websocket"`
	Heartbeat      nullable[heartbeatPart] `json:"heartbeat"`
	Unreadable     string                  `json:"unreadable,omitempty" doc:"why this release cannot read how it is visited, if it cannot: the parts of that are left out here, and cannot be changed. Probers that cannot read it either say so of every slot"`
	PreviewCheckID string                  `json:"preview_check_id,omitempty" doc:"only in answers to writes that change how it is visited: the check on demand that shows what it comes to"`
}

type expectBody struct {
	Status []string `json:"status" nullable:"false" doc:"empty for kinds without status codes"`
}

// statusTexts are the ranges as they are written; never nil.
func statusTexts(ranges []uptime.StatusRange) []string {
	texts := make([]string, len(ranges))
	for i, r := range ranges {
		texts[i] = r.String()
	}
	return texts
}

// defaultStatus is what an empty expectation means.
const defaultStatus = "200-399"

func bodyOf(t uptime.Target) targetBody {
	body := targetBody{
		ID: t.ID, Name: t.Name, URL: t.URL, Kind: string(t.Kind), IntervalS: int64(t.Interval / time.Second), TimeoutMS: t.Timeout.Milliseconds(),
		Regions: orEmpty(t.Regions), Tags: orEmpty(t.Tags), Active: t.Active, Policy: verdict.Stored(t.Policy), SpecVersion: t.SpecVersion, CreatedAt: instant(t.CreatedAt), UpdatedAt: instant(t.UpdatedAt),
	}
	if t.ParentID != 0 {
		body.ParentID = some(t.ParentID)
	}
	s := t.Spec
	if _, err := s.Unread.Spec(); err != nil {
		body.Unreadable = err.Error()
	}
	body.Family, body.Assertions = string(s.Family), assertionsOf(s.Assertions)
	body.HTTP, body.WebSocket = httpOf(s.HTTP), webSocketOf(s.WebSocket)
	body.TCP = partOf(s.TCP, tcpOf)
	body.TLS = partOf(s.TLS, func(s uptime.TLSSpec) tlsPart { return tlsPart(s) })
	body.DNS = partOf(s.DNS, func(s uptime.DNSSpec) dnsPart { return dnsPart(s) })
	body.Heartbeat = partOf(s.Heartbeat, func(s uptime.HeartbeatSpec) heartbeatPart { return heartbeatPart(s) })
	body.Expect.Status = statusTexts(t.Spec.Expect.Status)
	if len(body.Expect.Status) == 0 && t.Kind == uptime.KindHTTP && body.Unreadable == "" {
		body.Expect.Status = []string{defaultStatus}
	}
	return body
}
