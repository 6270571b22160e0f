package redact

import "strings"

// URL leaves out of a URL what may be secret: user and password, the
// values in its query, the fragment.
func URL(link string) string {
	link, _, _ = strings.Cut(link, "#")
	link, query, asked := strings.Cut(link, "?")
	if scheme, rest, ok := strings.Cut(link, "//"); ok {
		host, _, _ := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			link = scheme + "//" + rest[at+1:]
		}
	}
	if !asked {
		return link
	}
	var out strings.Builder
	out.WriteString(link)
	separator := byte('?')
	for part := range strings.SplitSeq(query, "&") {
		out.WriteByte(separator)
		separator = '&'
		name, _, valued := strings.Cut(part, "=")
		if valued {
			name += "=…"
		} else if name != "" {
			name = "…"
		}
		out.WriteString(name)
	}
	return out.String()
}
