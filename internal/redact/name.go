package redact

import (
	"slices"
	"strings"
)

// secretWords are what headers and JSON members have in their names whose values are
// never shown; in lower case, without what stands between words.
var secretWords = [...]string{
	"authorization", "authentication", "cookie", "token", "secret", "password", "passwd", "passphrase", "credential",
	"apikey", "accesskey", "privatekey", "signingkey", "authkey", "session", "signature", "bearer", "jwt", "csrf", "xsrf", "assertion",
}

// secretNames are such names as a whole.
var secretNames = [...]string{"auth", "xauth", "basicauth", "pwd", "pass", "sid", "otp", "pin"}

// Name says whether what goes by this name is likely to be a secret.
func Name(name string) bool {
	bare := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r | 0x20
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
	return slices.Contains(secretNames[:], bare) || slices.ContainsFunc(secretWords[:], func(word string) bool { return strings.Contains(bare, word) })
}
