package spec

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Validate gives every mistake in what a target asks for; none when it can be checked.
// The URL is judged by URL, and secrets, which are sealed here, by Secret; this is
// whether the spec fits them. An empty kind or URL is one that is not known: what
// depends on it is not judged.
func Validate(kind uptime.Kind, link string, s uptime.Spec) []Problem {
	j := &judge{kind: kind, spec: s}
	if link != "" {
		j.url, _ = url.Parse(link)
	}
	j.parts()
	j.expect()
	j.family()
	j.http()
	j.tcp()
	j.tls()
	j.dns()
	j.webSocket()
	j.heartbeat()
	j.assertions()
	j.size()
	return j.found
}

// judge collects the mistakes of one spec.
type judge struct {
	kind  uptime.Kind
	url   *url.URL // nil: not known
	spec  uptime.Spec
	found []Problem
}

// problem notes a mistake; of each field the first counts.
func (j *judge) problem(pointer, code, format string, args ...any) {
	if !slices.ContainsFunc(j.found, func(p Problem) bool { return p.Pointer == pointer }) {
		j.found = append(j.found, Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
	}
}

// scheme is the URL's, or "" while it is not known.
func (j *judge) scheme() string {
	if j.url == nil {
		return ""
	}
	return strings.ToLower(j.url.Scheme)
}

// parts judges which parts go with the kind.
func (j *judge) parts() {
	for _, part := range []struct {
		name  string
		of    uptime.Kind
		given bool
	}{
		{"http", uptime.KindHTTP, j.spec.HTTP != nil},
		{"tcp", uptime.KindTCP, j.spec.TCP != nil},
		{"dns", uptime.KindDNS, j.spec.DNS != nil},
		{"websocket", uptime.KindWebSocket, j.spec.WebSocket != nil},
		{"heartbeat", uptime.KindHeartbeat, j.spec.Heartbeat != nil},
		{"expect", uptime.KindHTTP, len(j.spec.Expect.Status) > 0},
	} {
		if part.given && j.kind != "" && j.kind != part.of {
			j.problem("/"+part.name, CodeNotOfKind, "%s goes with targets of kind %s, this one is of kind %s: set it to null", part.name, part.of, j.kind)
		}
	}
}

func (j *judge) expect() {
	if len(j.spec.Expect.Status) > maxStatusRanges {
		j.problem("/expect/status", CodeTooLong, "at most %d status ranges", maxStatusRanges)
	}
}

// family judges whether the addresses a visit may use are there at all.
func (j *judge) family() {
	switch j.spec.Family {
	case uptime.FamilyAny, uptime.FamilyV4, uptime.FamilyV6:
	default:
		j.problem("/family", CodeUnknownValue, "a family is 4 or 6; leave it out for both")
		return
	}
	if j.url == nil || j.spec.Family == uptime.FamilyAny {
		return
	}
	addr, err := netip.ParseAddr(j.url.Hostname())
	if err == nil && addr.Unmap().Is4() != (j.spec.Family == uptime.FamilyV4) {
		j.problem("/family", CodeFamilyMismatch, "the url has a literal address of the other family")
	}
}

func (j *judge) tcp() {
	part := j.spec.TCP
	if part == nil {
		return
	}
	j.sent("/tcp/send", part.Send)
	if part.Send != "" && part.SendSecret != "" {
		j.problem("/tcp/send_secret", CodeConflict, "a tcp target sends send or send_secret, not both")
	}
	switch part.StartTLS {
	case uptime.StartTLSNone, uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP:
	default:
		j.problem("/tcp/starttls", CodeUnknownValue, "starttls is smtp, imap or ftp; leave it out for none")
	}
}

// sent judges what is sent as it is.
func (j *judge) sent(pointer, text string) {
	if len(text) > MaxBody {
		j.problem(pointer, CodeTooLong, "at most %d bytes can be sent", MaxBody)
	}
}

func (j *judge) tls() {
	part := j.spec.TLS
	if part == nil {
		return
	}
	if why := j.withoutTLS(); why != "" {
		j.problem("/tls", CodeNotOfKind, "%s", why)
	}
	if name := part.ServerName; name != "" && (isAddress(name) || !asciiName(name) || endsInNumber(name)) {
		j.problem("/tls/server_name", CodeInvalidName, "a server name is a host name in ASCII, such as www.example.com")
	}
}

// withoutTLS says why a check has no use for TLS settings, or "". An http URL has:
// it may be redirected to https.
func (j *judge) withoutTLS() string {
	switch j.kind {
	case uptime.KindTCP:
		if j.spec.TCP == nil || j.spec.TCP.StartTLS == uptime.StartTLSNone {
			return "tls goes with a tcp target that has starttls; for TLS from the start use a tls:// url"
		}
	case uptime.KindDNS:
		if j.spec.DNS == nil || j.spec.DNS.Transport != uptime.DNSOverTLS && j.spec.DNS.Transport != uptime.DNSOverHTTPS {
			return "tls goes with a dns target whose transport is tls or https"
		}
	case uptime.KindICMP:
		return "pings have no TLS: set tls to null"
	case uptime.KindHeartbeat:
		return "nothing is visited for a heartbeat: set tls to null"
	case uptime.KindGRPC:
		if j.scheme() == "grpc" {
			return "tls goes with grpcs:// urls"
		}
	case uptime.KindWebSocket:
		if j.scheme() == "ws" {
			return "tls goes with wss:// urls"
		}
	}
	return ""
}

func (j *judge) dns() {
	if part := j.spec.DNS; part != nil {
		switch part.Transport {
		case uptime.DNSOverUDP, uptime.DNSOverTCP, uptime.DNSOverTLS, uptime.DNSOverHTTPS:
		default:
			j.problem("/dns/transport", CodeUnknownValue, "a transport is tcp, tls or https; leave it out for UDP")
		}
		if part.Transport != uptime.DNSOverUDP && j.scheme() == "dns" && j.url.Host == "" {
			j.problem("/dns/transport", CodeConflict, "a transport goes with a url that names a server, such as dns://192.0.2.1/example.com: how a prober asks its own is its operator's choice")
		}
	}
}

func (j *judge) assertions() {
	if j.kind == "" {
		return // nearly every mistake depends on it
	}
	for _, found := range assertion.Validate(j.spec.Assertions, j.kind) {
		pointer := "/assertions"
		if found.Index >= 0 {
			pointer += "/" + strconv.Itoa(found.Index)
		}
		if found.Field != "" {
			pointer += "/" + found.Field
		}
		j.problem(pointer, found.Code, "%s", found.Message)
	}
	j.secured()
	if j.kind == uptime.KindWebSocket {
		j.answers()
	}
}

// secured judges what is asserted of TLS: without any it would fail at every visit.
func (j *judge) secured() {
	why := j.withoutTLS()
	for i, a := range j.spec.Assertions[:min(len(j.spec.Assertions), assertion.MaxAssertions)] {
		if why != "" && (a.Source == uptime.SourceCertificate || a.Source == uptime.SourceTLSVersion) {
			j.problem("/assertions/"+strconv.Itoa(i)+"/source", CodeConflict, "this check sees no TLS: %s", why)
		}
	}
}

// answers judges what is asserted of the answer to a websocket's message: there is none to a
// ping, and none at all is a timeout.
func (j *judge) answers() {
	sends := j.spec.WebSocket != nil && j.spec.WebSocket.Send != ""
	for i, a := range j.spec.Assertions[:min(len(j.spec.Assertions), assertion.MaxAssertions)] {
		at := "/assertions/" + strconv.Itoa(i)
		switch {
		case a.Source != uptime.SourceReceived:
		case !sends:
			j.problem(at+"/source", CodeConflict, "received is the answer to what a websocket sends, and this one sends nothing: give it a message in websocket.send, or leave this assertion out")
		case a.Op == uptime.OpAbsent:
			j.problem(at+"/op", CodeConflict, "a websocket that sends waits for the answer, so that none is a timeout: assert what the answer is to hold")
		}
	}
}

// size caps what travels with every check. It points at the largest part.
func (j *judge) size() {
	size := len(j.spec.Text())
	if size <= MaxSpec {
		return
	}
	largest, most := "", 0
	for _, part := range []struct {
		pointer string
		value   any
	}{
		{"/assertions", j.spec.Assertions}, {"/http", j.spec.HTTP}, {"/tcp", j.spec.TCP}, {"/websocket", j.spec.WebSocket},
	} {
		if text, err := json.Marshal(part.value); err == nil && len(text) > most {
			largest, most = part.pointer, len(text)
		}
	}
	j.problem(largest, CodeTooLong, "what this target asks for is %d bytes as JSON, with its secrets sealed; at most %d are possible: shorten this part", size, MaxSpec)
}
