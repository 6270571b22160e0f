package spec

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

const pointerURL = "/url"

func urlProblem(code, format string, args ...any) *Problem {
	return &Problem{Pointer: pointerURL, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Kinds are all kinds of checks.
func Kinds() []uptime.Kind {
	return []uptime.Kind{uptime.KindHTTP, uptime.KindTCP, uptime.KindTLS, uptime.KindDNS, uptime.KindICMP, uptime.KindGRPC, uptime.KindWebSocket, uptime.KindHeartbeat}
}

// kindOf gives the kind of check that URLs of a scheme ask for, or "".
func kindOf(scheme string) uptime.Kind {
	switch strings.ToLower(scheme) {
	case "http", "https":
		return uptime.KindHTTP
	case "tcp":
		return uptime.KindTCP
	case "tls":
		return uptime.KindTLS
	case "dns":
		return uptime.KindDNS
	case "icmp":
		return uptime.KindICMP
	case "grpc", "grpcs":
		return uptime.KindGRPC
	case "ws", "wss":
		return uptime.KindWebSocket
	case "heartbeat":
		return uptime.KindHeartbeat
	}
	return ""
}

// URL judges a target's URL and gives it as it is to be stored: the host in ASCII,
// and whatever is not of the web in its one spelling. open are the private ranges that
// some prober may dial. The kind is known as soon as the scheme is, also with a problem.
func URL(text string, open []netip.Prefix) (cleaned string, kind uptime.Kind, bad *Problem) {
	text = strings.TrimSpace(text)
	scheme, _, _ := strings.Cut(text, ":")
	kind = kindOf(scheme)
	if len(text) > MaxURL {
		return "", kind, urlProblem(CodeTooLong, "a url has at most %d bytes", MaxURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) || !utf8.ValidString(text) {
		return "", kind, urlProblem(CodeInvalidURL, "a url has no spaces or control characters in it")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", kind, urlProblem(CodeInvalidURL, "this is not a url: write it like https://example.com/health")
	case kind == "":
		return "", kind, urlProblem(CodeURLScheme, "urls of these schemes can be checked: http, https, tcp, tls, dns, icmp, grpc, grpcs, ws, wss; heartbeat is for jobs that ping")
	case u.User != nil:
		return "", kind, urlProblem(CodeURLCredentials, "a url must not hold a user name or password: it would be shown to everyone who can see the target")
	case (kind == uptime.KindHTTP || kind == uptime.KindWebSocket) && holdsSecret(u.RawQuery):
		return "", kind, urlProblem(CodeURLSecret, "a value in the query of this url goes by the name of a secret: a url is stored as it is and shown to everyone who can see the target. %s, or give the value another name if it is none", elsewhere(kind))
	case kind == uptime.KindHeartbeat:
		cleaned, bad = heartbeatName(u)
	case kind == uptime.KindDNS:
		cleaned, bad = question(u, open)
	default:
		cleaned, bad = place(text, kind, u, open)
	}
	if bad == nil && len(cleaned) > MaxURL {
		bad = urlProblem(CodeTooLong, "a url has at most %d bytes, written in ASCII", MaxURL)
	}
	if bad != nil {
		cleaned = ""
	}
	return cleaned, kind, bad
}

// holdsSecret says whether a query has a value whose name tells that it is a secret.
func holdsSecret(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if clear, err := url.QueryUnescape(name); err == nil {
			name = clear
		}
		if value != "" && redact.Name(name) {
			return true
		}
	}
	return false
}

// elsewhere says where a secret goes that stood in a URL.
func elsewhere(kind uptime.Kind) string {
	if kind == uptime.KindWebSocket {
		return "Send the secret in a header (headers with secret)"
	}
	return "Leave it out and write it as the secret part of the query (http/query_secret), or send the secret in a header (headers with secret, token, password)"
}

// place judges a URL that says where to connect to.
func place(text string, kind uptime.Kind, u *url.URL, open []netip.Prefix) (string, *Problem) {
	host := u.Hostname()
	if port := u.Port(); host == "" || u.Opaque != "" || strings.HasSuffix(u.Host, ":") || port != "" && !goodPort(port) {
		return "", urlProblem(CodeInvalidURL, "a url needs a host, and a port from 1 to 65535 if any")
	}
	if message := shape(text, kind, u); message != "" {
		return "", urlProblem(CodeInvalidURL, "%s", message)
	}
	ascii, bad := cleanHost(host, open)
	if bad != nil {
		return "", bad
	}
	if ascii != host {
		u.Host = strings.Replace(u.Host, host, ascii, 1) // probers dial the name as the DNS knows it
	}
	if kind != uptime.KindHTTP && kind != uptime.KindWebSocket {
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}).String(), nil
	}
	if ascii == host {
		return text, nil
	}
	return u.String(), nil
}

// shape says what is wrong with the parts of a URL for its kind, or "".
func shape(text string, kind uptime.Kind, u *url.URL) string {
	bare := (u.Path == "" || u.Path == "/") && !strings.ContainsAny(text, "?#")
	switch kind {
	case uptime.KindTCP:
		if u.Port() == "" || !bare {
			return "write a tcp target as tcp://HOST:PORT"
		}
	case uptime.KindTLS:
		if !bare {
			return "write a tls target as tls://HOST or tls://HOST:PORT"
		}
	case uptime.KindICMP:
		if u.Port() != "" || !bare {
			return "write an icmp target as icmp://HOST: pings have no port"
		}
	case uptime.KindGRPC:
		if u.Port() == "" || strings.ContainsAny(text, "?#%") || !goodService(u.Path) {
			return "write a grpc target as grpc://HOST:PORT or grpc://HOST:PORT/package.Service, with grpcs:// over TLS"
		}
	case uptime.KindWebSocket:
		if strings.Contains(text, "#") {
			return "the url of a websocket has no fragment (RFC 6455)"
		}
	}
	return ""
}

// goodService says whether a path names a service of gRPC; empty is the server as a whole.
func goodService(path string) bool {
	return len(path) <= 1+MaxService && strings.Trim(strings.ToLower(path), "abcdefghijklmnopqrstuvwxyz0123456789._-/") == "" && !strings.Contains(path, "//")
}
