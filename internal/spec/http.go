package spec

import (
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/probefleet/probefleet/internal/uptime"
)

func (j *judge) http() {
	part := j.spec.HTTP
	if part == nil {
		return
	}
	if message := methodMistake(part.Method); message != "" {
		j.problem("/http/method", CodeInvalidMethod, "%s", message)
	}
	authorized := part.Username != "" || part.Password != "" || part.Token != ""
	j.headers("/http/headers", part.Headers, authorized)
	j.sent("/http/body", part.Body)
	if part.Body != "" && part.BodySecret != "" {
		j.problem("/http/body_secret", CodeConflict, "a request has a body or a body_secret, not both")
	}
	j.username(part.Username)
	if part.Token != "" && (part.Username != "" || part.Password != "") {
		j.problem("/http/token", CodeConflict, "a request has a user name and password or a token, not both")
	}
	if n := part.Redirects; n != nil && (*n < 0 || *n > MaxRedirects) {
		j.problem("/http/redirects", CodeOutOfRange, "from 0 to %d redirects can be followed", MaxRedirects)
	}
	j.version(part.Version)
}

// methodMistake says what is wrong with a method, or "".
func methodMistake(method string) string {
	switch {
	case method == "":
		return ""
	case len(method) > MaxMethod || !isToken(method):
		return "a method is a word of at most " + strconv.Itoa(MaxMethod) + " letters and hyphens, such as GET"
	case strings.ToUpper(method) != method:
		return "methods are written in capitals: get is another method than GET"
	case method == "CONNECT":
		return "CONNECT asks a proxy for a connection: use a tcp target"
	}
	return ""
}

// isToken says whether a text is a token (RFC 9110 §5.6.2).
func isToken(text string) bool { return httpguts.ValidHeaderFieldName(text) }

func (j *judge) username(name string) {
	switch {
	case len(name) > MaxCredential:
		j.problem("/http/username", CodeTooLong, "a user name has at most %d bytes", MaxCredential)
	case strings.ContainsFunc(name, isControl) || strings.Contains(name, ":"):
		j.problem("/http/username", CodeInvalidText, "a user name has no colons and no control characters in it (RFC 7617)")
	}
}

func (j *judge) version(version uptime.HTTPVersion) {
	switch version {
	case uptime.HTTP1, uptime.HTTPBest:
	case uptime.HTTP2, uptime.HTTP3:
		if j.scheme() == "http" {
			j.problem("/http/version", CodeConflict, "HTTP/%s is spoken over TLS only: use an https:// url", version)
		}
	default:
		j.problem("/http/version", CodeUnknownValue, "a version is 2, 3 or best; leave it out for HTTP/1.1")
	}
}

// headers judges the lines of a request. authorized says that the request gets an
// Authorization line from elsewhere.
func (j *judge) headers(pointer string, list []uptime.Header, authorized bool) {
	if len(list) > MaxHeaders {
		j.problem(pointer, CodeTooMany, "a request has at most %d headers of yours", MaxHeaders)
		return
	}
	seen := map[string]bool{}
	for i, h := range list {
		at, lower := pointer+"/"+strconv.Itoa(i), strings.ToLower(h.Name)
		switch {
		case len(h.Name) > MaxHeaderName:
			j.problem(at+"/name", CodeTooLong, "the name of a header has at most %d bytes", MaxHeaderName)
		case !isToken(h.Name):
			j.problem(at+"/name", CodeInvalidHeader, "the name of a header is letters, digits and hyphens, such as Accept-Language")
		case uptime.ReservedHeader(h.Name) || j.kind == uptime.KindWebSocket && strings.HasPrefix(lower, "sec-websocket-"):
			j.problem(at+"/name", CodeReservedHeader, "this header cannot be set: it decides how the request is read, or where it goes")
		case authorized && lower == "authorization":
			j.problem(at+"/name", CodeConflict, "the user name, password or token makes this header already")
		case seen[lower]:
			j.problem(at+"/name", CodeDuplicateHeader, "a header stands once: write several values in one line, separated by commas")
		}
		seen[lower] = true
		if h.Value != "" && h.Secret != "" {
			j.problem(at+"/secret", CodeConflict, "a header has a value or a secret, not both")
		}
		if code, message := lineMistake(h.Value); code != "" {
			j.problem(at+"/value", code, "%s", message)
		}
	}
}

// lineMistake says what is wrong with the value of a header.
func lineMistake(value string) (code, message string) {
	switch {
	case len(value) > MaxHeaderValue:
		return CodeTooLong, "the value of a header has at most " + strconv.Itoa(MaxHeaderValue) + " bytes"
	case !httpguts.ValidHeaderFieldValue(value):
		return CodeInvalidHeader, "the value of a header is one line without control characters"
	}
	return "", ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func (j *judge) webSocket() {
	part := j.spec.WebSocket
	if part == nil {
		return
	}
	j.sent("/websocket/send", part.Send)
	j.headers("/websocket/headers", part.Headers, false)
	if len(part.Subprotocols) > MaxSubprotocols {
		j.problem("/websocket/subprotocols", CodeTooMany, "at most %d subprotocols can be offered", MaxSubprotocols)
		return
	}
	seen := map[string]bool{}
	for i, name := range part.Subprotocols {
		if at := "/websocket/subprotocols/" + strconv.Itoa(i); !isToken(name) || len(name) > MaxHeaderName {
			j.problem(at, CodeInvalidName, "a subprotocol is a word without spaces and separators, such as graphql-ws")
		} else if seen[name] {
			j.problem(at, CodeInvalidName, "each subprotocol is offered once")
		}
		seen[name] = true
	}
}
