package notify

import (
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSecret = 4096
	maxURL    = 2048
	minSecret = 6 // shorter ones could not be told from other text in what providers answer
)

// judge collects what is wrong with a configuration.
type judge struct{ found []Problem }

func (j *judge) add(field, code, format string, args ...any) {
	for _, p := range j.found {
		if p.Field == field {
			return // one a field: the first says it
		}
	}
	j.found = append(j.found, Problem{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

// secret judges a secret that is needed, or may be left out.
func (j *judge) secret(field string, s Secret, needed bool) {
	switch text := s.Reveal(); {
	case text == "" && needed:
		j.add(field, CodeRequired, "this is needed")
	case text == "":
	case len(text) < minSecret || len(text) > maxSecret:
		j.add(field, CodeInvalidText, "a secret here has %d to %d bytes", minSecret, maxSecret)
	case !plain(text):
		j.add(field, CodeInvalidText, "there are spaces at the ends of it, or signs in it that cannot be sent")
	}
}

// text judges a text that is needed, or may be left out, of at most so many characters.
func (j *judge) text(field, text string, most int, needed bool) {
	switch {
	case text == "" && needed:
		j.add(field, CodeRequired, "this is needed")
	case text == "":
	case utf8.RuneCountInString(text) > most:
		j.add(field, CodeInvalidText, "this has at most %d characters", most)
	case !plain(text):
		j.add(field, CodeInvalidText, "there are spaces at the ends of it, or signs in it that cannot be sent")
	}
}

func plain(text string) bool {
	return strings.TrimSpace(text) == text && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// url judges a web address without credentials in front of its host.
func (j *judge) url(field, text string, schemes ...string) {
	if text == "" {
		j.add(field, CodeRequired, "this is needed")
		return
	}
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || !plain(text) || u.Hostname() == "" || u.User != nil || u.Fragment != "" || !hasScheme(u, schemes) {
		j.add(field, CodeInvalidURL, "want an address that begins with %s://, without credentials before its host and without a fragment", strings.Join(schemes, ":// or "))
	}
}

func hasScheme(u *url.URL, schemes []string) bool {
	for _, scheme := range schemes {
		if u.Scheme == scheme {
			return true
		}
	}
	return false
}

// oneOf judges a word of a closed set.
func (j *judge) oneOf(field, text string, words ...string) {
	for _, word := range words {
		if text == word {
			return
		}
	}
	j.add(field, CodeInvalidValue, "want one of: %s", strings.Join(words, ", "))
}

// address judges an e-mail address.
func (j *judge) address(field, text string) {
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || !plain(text) || len(text) > 254 {
		j.add(field, CodeInvalidEmail, "want an e-mail address such as ops@example.com")
	}
}

// hostOf is the host of an address, with its port.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
