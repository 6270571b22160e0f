package probe

import (
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// keyring opens a target's secrets and remembers them, so that they are never shown.
type keyring struct {
	unseal func(uptime.Sealed) (secret.Text, error)
	opened []string
}

// open gives a secret, or what stands in clear where there is none.
func (k *keyring) open(sealed uptime.Sealed, clear string) (string, error) {
	if sealed == "" {
		return clear, nil
	}
	text, err := k.unseal(sealed)
	if err != nil {
		return "", err
	}
	k.note(text.Reveal())
	return text.Reveal(), nil
}

// header gives the value of a line. What stands behind the scheme of credentials (RFC 9110
// §11.4) is a secret by itself.
func (k *keyring) header(line uptime.Header) (string, error) {
	value, err := k.open(line.Secret, line.Value)
	if _, token, found := strings.Cut(value, " "); found && line.Secret != "" && len(token) >= leastPart {
		k.note(token)
	}
	return value, err
}

// note adds what must not show, in every spelling that answers may use.
func (k *keyring) note(text string) {
	if text == "" {
		return
	}
	k.opened = append(k.opened, text)
	quoted := strconv.Quote(text) // in errors of Go
	for _, other := range [...]string{
		inJSON(text, true), inJSON(text, false), quoted[1 : len(quoted)-1], url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text),
	} {
		if !slices.Contains(k.opened, other) {
			k.opened = append(k.opened, other)
		}
	}
}

// inJSON is how a text stands in JSON, between the quotes.
func inJSON(text string, escapeHTML bool) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	_ = encoder.Encode(text) // a text can be encoded
	return strings.TrimSuffix(strings.TrimPrefix(out.String(), `"`), "\"\n")
}

// leastPart is the length from which a part of a query or a body counts as a secret: shorter
// ones are in every text.
const leastPart = 4

// noteQuery adds what a URL's query holds under names that tell of secrets.
func (k *keyring) noteQuery(link string) {
	_, query, _ := strings.Cut(link, "?")
	query, _, _ = strings.Cut(query, "#")
	k.noteFields(query)
}

// noteBody adds what a secret body, a form or JSON, holds under such names: answers may
// repeat that alone.
func (k *keyring) noteBody(body string) {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	var document any
	if decoder.Decode(&document) != nil {
		k.noteFields(body)
		return
	}
	k.noteMember("", document)
}

func (k *keyring) noteMember(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for member, inner := range value {
			k.noteMember(member, inner)
		}
	case []any:
		for _, inner := range value {
			k.noteMember(name, inner)
		}
	case string:
		k.noteNamed(name, value)
	case json.Number:
		k.noteNamed(name, value.String())
	}
}

func (k *keyring) noteNamed(name, value string) {
	if redact.Name(name) && len(value) >= leastPart {
		k.note(value)
	}
}

func (k *keyring) noteFields(query string) {
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		k.noteNamed(name, value)
		if clear, err := url.QueryUnescape(value); err == nil && clear != value {
			k.noteNamed(name, clear)
		}
	}
}

// noteValues adds all values of a part of a query that is secret: answers may repeat one.
func (k *keyring) noteValues(query string) {
	for part := range strings.SplitSeq(query, "&") {
		name, value, found := strings.Cut(part, "=")
		if !found {
			value = name
		}
		if len(value) < leastPart {
			continue
		}
		k.note(value)
		if clear, err := url.QueryUnescape(value); err == nil && clear != value {
			k.note(clear)
		}
	}
}

// mostWords bounds the notes of one text: hiding costs as much as there is to hide.
const mostWords = 100

// noteWords adds the lines of a secret text, and the words of each: servers answer with parts
// of what they are told.
func (k *keyring) noteWords(text string) {
	left := mostWords
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, part := range append([]string{line}, strings.Fields(line)...) {
			if len(part) < leastPart || slices.Contains(k.opened, part) {
				continue
			}
			if left--; left < 0 {
				return
			}
			k.note(part)
		}
	}
}
