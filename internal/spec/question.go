package spec

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// recordTypes are those that may be asked for.
var recordTypes = [...]string{"A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT"}

const (
	questionForm    = "write a dns target as dns:///NAME?type=MX, or dns://SERVER/NAME?type=MX to ask a certain server"
	questionAddress = "a dns target asks for a name: the one of an address ends in in-addr.arpa or ip6.arpa"
)

// question judges the URL of a DNS question (RFC 4501) and gives its one spelling:
// dns://[SERVER[:PORT]]/NAME?type=TYPE. Without a type it is A.
func question(u *url.URL, open []netip.Prefix) (string, *Problem) {
	server, bad := questionServer(u, open)
	if bad != nil {
		return "", bad
	}
	name, message := questionName(u)
	if message != "" {
		return "", urlProblem(CodeInvalidURL, "%s", message)
	}
	kind, message := questionType(u.RawQuery)
	if message != "" {
		return "", urlProblem(CodeInvalidURL, "%s", message)
	}
	if u.Fragment != "" {
		return "", urlProblem(CodeInvalidURL, questionForm)
	}
	return "dns://" + server + "/" + name + "?type=" + kind, nil
}

// questionServer gives who is asked; empty: the prober's own resolvers.
func questionServer(u *url.URL, open []netip.Prefix) (string, *Problem) {
	host := u.Hostname()
	if port := u.Port(); strings.HasSuffix(u.Host, ":") || host == "" && u.Host != "" || port != "" && !goodPort(port) {
		return "", urlProblem(CodeInvalidURL, "the server is a host, with a port from 1 to 65535 if any")
	}
	if host == "" {
		return "", nil
	}
	ascii, bad := cleanHost(host, open)
	return strings.Replace(u.Host, host, ascii, 1), bad
}

func questionName(u *url.URL) (name, message string) {
	if name = strings.TrimPrefix(u.Path, "/"); u.Opaque != "" {
		unescaped, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return "", questionForm
		}
		name = unescaped
	}
	switch {
	case name == "":
		return "", questionForm
	case name == ".":
		return name, "" // the root
	case isAddress(name):
		return "", questionAddress
	}
	ascii, ok := toASCII(name)
	ascii = strings.TrimSuffix(ascii, ".")
	switch {
	case !ok:
		return "", "the name that is asked for is not a valid one"
	case isAddress(ascii): // it was typed with a dot at its end, or in other digits
		return "", questionAddress
	}
	return ascii, ""
}

// questionType reads the query: type=TYPE and class=IN, in any case and order.
func questionType(query string) (kind, message string) {
	seen := map[string]bool{}
	kind = "A"
	for element := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == ';' || r == '&' }) {
		name, value, _ := strings.Cut(element, "=")
		name, value = strings.ToLower(name), strings.ToUpper(value)
		switch {
		case seen[name]:
			return "", "a question has one " + knownElement(name)
		case name == "type" && slices.Contains(recordTypes[:], value):
			kind = value
		case name == "type":
			return "", "the type is one of: " + strings.Join(recordTypes[:], ", ")
		case name != "class" || value != "IN":
			return "", "a question has a type, such as type=MX, and no class but IN"
		}
		seen[name] = true
	}
	return kind, ""
}

// knownElement keeps what was given out of a sentence; only known ones can be repeated.
func knownElement(name string) string {
	if name == "type" {
		return "type"
	}
	return "class"
}
