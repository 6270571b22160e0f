package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marks that stand for what is not shown.
const (
	Secret = "[secret]"
	Cut    = "…"
)

// Text makes text fit for a message: secrets hidden, printable, at most limit bytes.
func Text[T string | []byte](text T, secrets []string, limit int) string {
	out := make([]byte, 0, min(len(text), limit)+utf8.UTFMax)
	for at := 0; at < len(text); {
		piece, size := Secret, secretAt(text[at:], secrets, false)
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

// Hide puts the mark in place of all secrets.
func Hide(text string, secrets []string) string { return hide(text, secrets, false) }

// HideCut is Hide for a text that may end within a secret: what one begins with is hidden
// at its end, too.
func HideCut(text string, secrets []string) string { return hide(text, secrets, true) }

func hide(text string, secrets []string, cut bool) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		size := secretAt(text[at:], secrets, cut)
		if size > 0 {
			out.WriteString(Secret)
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
	for len(out) > 0 && len(out)+len(Cut) > limit {
		_, size := utf8.DecodeLastRune(out)
		out = out[:len(out)-size]
	}
	return string(out) + Cut
}

// secretAt is how many bytes at the start of text are secret: those of all secrets
// that begin here, or within one another. In a text that was cut the last may be a part.
func secretAt[T string | []byte](text T, secrets []string, cut bool) int {
	end := longestAt(text, secrets, cut)
	for i := 1; i < end; i++ {
		end = max(end, i+longestAt(text[i:], secrets, cut))
	}
	return end
}

func longestAt[T string | []byte](text T, secrets []string, cut bool) int {
	longest := 0
	for _, secret := range secrets {
		n := len(secret)
		if cut {
			n = min(n, len(text))
		}
		if n > longest && n <= len(text) && string(text[:n]) == secret[:n] {
			longest = n
		}
	}
	return longest
}
