package spec

import (
	"strings"

	"github.com/probefleet/probefleet/internal/secret"
)

// Secret judges a secret before it is sealed; afterwards nobody can. The last member of
// the pointer says what it is: password, token, body_secret, query_secret, send_secret,
// or the secret of a header. It is nil when nothing is wrong.
func Secret(pointer string, text secret.Text) *Problem {
	clear := text.Reveal()
	code, message := "", ""
	switch pointer[strings.LastIndexByte(pointer, '/')+1:] {
	case "password":
		switch {
		case len(clear) > MaxCredential:
			code, message = CodeTooLong, "a password has at most 1024 bytes"
		case strings.ContainsFunc(clear, isControl):
			code, message = CodeInvalidText, "a password has no control characters in it (RFC 7617)"
		}
	case "token":
		switch {
		case len(clear) > MaxHeaderValue:
			code, message = CodeTooLong, "a token has at most 8192 bytes"
		case strings.ContainsFunc(clear, func(r rune) bool { return r <= ' ' || r > '~' }):
			code, message = CodeInvalidText, "a token is printable ASCII without spaces; leave out the word Bearer"
		}
	case "body_secret", "send_secret":
		if len(clear) > MaxBody {
			code, message = CodeTooLong, "at most 65536 bytes can be sent"
		}
	case "query_secret":
		switch {
		case len(clear) > MaxURL:
			code, message = CodeTooLong, "a secret part of a query has at most 2048 bytes"
		case strings.ContainsFunc(clear, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) || strings.HasPrefix(clear, "?") || strings.HasPrefix(clear, "&"):
			code, message = CodeInvalidText, "write a secret part of a query as it stands in a url, such as token=abc, without the ? or & before it"
		}
	default:
		code, message = lineMistake(clear)
	}
	if code == "" {
		return nil
	}
	return &Problem{Pointer: pointer, Code: code, Message: message}
}
