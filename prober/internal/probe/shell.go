package probe

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/uptime"
)

// maxShownSend is how much of what is sent a command shows.
const maxShownSend = 1 << 10

// shownEndpoint is the URL of an endpoint, for people.
func shownEndpoint(scheme string, to endpoint) string {
	if to.port == 0 {
		return scheme + "://" + hostHeader(to.host, "")
	}
	return scheme + "://" + hostHeader(to.host, strconv.Itoa(int(to.port)))
}

// tcpCommand is a line that makes much the same visit as a tcp target.
func tcpCommand(to endpoint, spec uptime.TCPSpec, secure *uptime.TLSSpec) string {
	line := "nc -v"
	sends := spec.Send != "" || spec.SendSecret != ""
	if !sends {
		line += " -w 10"
	}
	line += familyFlag(to.family) + " " + quoted(to.host) + " " + strconv.Itoa(int(to.port))
	if spec.StartTLS != uptime.StartTLSNone {
		line = handshakeCommand(to, secure, spec.StartTLS)
	}
	if !sends {
		return line
	}
	if spec.StartTLS != uptime.StartTLSNone {
		line = strings.TrimSuffix(line, " </dev/null") + " -quiet"
	}
	text := printfOf(spec.Send)
	if spec.SendSecret != "" {
		text = quoted("…")
	}
	return "printf " + text + " | " + line
}

// handshakeCommand is a line that makes much the same handshake.
func handshakeCommand(to endpoint, spec *uptime.TLSSpec, upgrade uptime.StartTLS) string {
	if spec == nil {
		spec = &uptime.TLSSpec{}
	}
	words := []string{"openssl s_client -connect", quoted(net.JoinHostPort(to.host, strconv.Itoa(int(to.port))))}
	name := to.host
	if spec.ServerName != "" {
		name = spec.ServerName
	}
	verify := "-verify_hostname"
	if net.ParseIP(name) != nil {
		verify = "-verify_ip"
	} else {
		words = append(words, "-servername", quoted(name))
	}
	if !spec.SkipVerify {
		words = append(words, "-verify_return_error", verify, quoted(name))
	}
	if upgrade != uptime.StartTLSNone {
		words = append(words, "-starttls", quoted(string(upgrade)))
	}
	return strings.Join(words, " ") + familyFlag(to.family) + " </dev/null"
}

// familyFlag is how nc, openssl, ping and curl are told an address family.
func familyFlag(family uptime.Family) string {
	if family == uptime.FamilyAny {
		return ""
	}
	return " -" + string(family)
}

// printfOf is one word for a POSIX shell, on one line, that printf turns into the text.
func printfOf(text string) string {
	var out strings.Builder
	for i := range min(len(text), maxShownSend) {
		switch c := text[i]; {
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\\':
			out.WriteString(`\\`)
		case c == '%':
			out.WriteString(`%%`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	if len(text) > maxShownSend {
		out.WriteString("…")
	}
	return quoted(out.String())
}

// shownSend is what a command shows of a text that is sent.
func shownSend(text string) string {
	if len(text) <= maxShownSend {
		return text
	}
	return strings.ToValidUTF8(text[:maxShownSend], "") + "…"
}

// quoted makes one word for a POSIX shell of any text.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
