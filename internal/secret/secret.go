// Package secret holds the one type for what must never be shown.
package secret

import (
	"fmt"
	"log/slog"
)

// Text is a text that prints as [redacted] everywhere: fmt, slog, JSON. Only
// Reveal gives it out, so a leak is a word one can search for.
type Text struct{ value string }

// New wraps a text.
func New(text string) Text { return Text{text} }

// Reveal gives the text out.
func (s Text) Reveal() string { return s.value }

// IsZero says whether no secret was set.
func (s Text) IsZero() bool { return s.value == "" }

func (s Text) String() string {
	if s.value == "" {
		return ""
	}
	return "[redacted]"
}

// Format covers every verb, so that %#v and %x redact too.
func (s Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue redacts in slog.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts in JSON and friends.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
