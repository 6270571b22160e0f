package resolve

import "strings"

// normal gives a name as the cache knows it: lower case, no dot at its end.
func normal(host string) string {
	host = strings.TrimSuffix(host, ".")
	for i := range len(host) {
		if c := host[i]; c >= 'A' && c <= 'Z' {
			return strings.ToLower(host)
		}
	}
	return host
}

// misnamed says why a normal name cannot be asked for, "" when it can. Lengths are those
// of RFC 1035 §2.3.4. Characters are those of host names and the underscore, which real
// zones use; nothing else survives IDNA, and a backslash would be an escape.
func misnamed(host string) string {
	if host == "" {
		return "it is empty"
	}
	if len(host) > 253 {
		return "it is longer than 253 characters"
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" {
			return "a label is empty"
		}
		if len(label) > 63 {
			return "a label is longer than 63 characters"
		}
		for i := range len(label) {
			switch c := label[i]; {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			default:
				return "it has other characters than letters, digits, - and _"
			}
		}
	}
	return ""
}

// isLocalhost says whether a name is loopback by definition (RFC 6761 §6.3): it is not asked for.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// sameDomain says whether two names may well have the same name servers: they end in the
// same two labels.
func sameDomain(a, b string) bool { return domain(a) == domain(b) }

func domain(name string) string {
	if last := strings.LastIndexByte(name, '.'); last > 0 {
		return name[strings.LastIndexByte(name[:last], '.')+1:]
	}
	return name
}
