package assertion

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// withoutValues leaves out of a URL what may be secret: user and password, the
// values in its query, the fragment.
func withoutValues(link string) string {
	link, _, _ = strings.Cut(link, "#")
	link, query, asked := strings.Cut(link, "?")
	if scheme, rest, ok := strings.Cut(link, "//"); ok {
		host, way, hasWay := strings.Cut(rest, "/")
		if at := strings.LastIndexByte(host, '@'); at >= 0 {
			host = host[at+1:]
		}
		if link = scheme + "//" + host; hasWay {
			link += "/" + way
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

const (
	secretMark = "[secret]"
	cutMark    = "…"
)

// shown makes text fit for a message: secrets hidden, printable, at most limit bytes.
func shown[T string | []byte](text T, secrets []string, limit int) string {
	out := make([]byte, 0, min(len(text), limit)+utf8.UTFMax)
	for at := 0; at < len(text); {
		piece, size := secretMark, secretAt(text[at:], secrets)
		if size == 0 {
			next := string(text[at:min(len(text), at+utf8.UTFMax)])
			var r rune
			r, size = utf8.DecodeRuneInString(next)
			piece = printable(r, next[:size])
		}
		if len(out)+len(piece) > limit {
			return cutTo(out, limit)
		}
		out = append(out, piece...)
		at += size
	}
	return string(out)
}

// hide puts the mark in place of all secrets.
func hide(text string, secrets []string) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		size := secretAt(text[at:], secrets)
		if size > 0 {
			out.WriteString(secretMark)
			at += size
			continue
		}
		out.WriteByte(text[at])
		at++
	}
	return out.String()
}

// printable is a rune as it may be shown.
func printable(r rune, raw string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == utf8.RuneError && len(raw) == 1:
		return "?"
	case !unicode.IsPrint(r):
		return " "
	}
	return raw
}

// cutTo makes room for the mark of what is left out.
func cutTo(out []byte, limit int) string {
	for len(out) > 0 && len(out)+len(cutMark) > limit {
		_, size := utf8.DecodeLastRune(out)
		out = out[:len(out)-size]
	}
	return string(out) + cutMark
}

// secretAt is how many bytes at the start of text are secret: those of all secrets
// that begin here, or within one another.
func secretAt[T string | []byte](text T, secrets []string) int {
	end := longestAt(text, secrets)
	for i := 1; i < end; i++ {
		end = max(end, i+longestAt(text[i:], secrets))
	}
	return end
}

func longestAt[T string | []byte](text T, secrets []string) int {
	longest := 0
	for _, secret := range secrets {
		if len(secret) > longest && len(secret) <= len(text) && string(text[:len(secret)]) == secret {
			longest = len(secret)
		}
	}
	return longest
}
