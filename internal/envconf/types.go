package envconf

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
)

// Secret is a text that prints as [redacted] everywhere: fmt, slog, JSON. Only
// Reveal gives it out, so a leak is a word one can search for.
type Secret struct{ value string }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal gives the text out.
func (s Secret) Reveal() string { return s.value }

// IsZero says whether no secret was set.
func (s Secret) IsZero() bool { return s.value == "" }

func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "[redacted]"
}

// Format covers every verb, so that %#v and %x redact too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue redacts in slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts in JSON and friends.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Bytes is a size in bytes.
type Bytes int64

// ParseBytes reads "500MiB", "64KiB", "1GiB" or a plain number of bytes.
func ParseBytes(text string) (Bytes, error) {
	units := []struct {
		suffix string
		size   int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}
	for _, unit := range units {
		digits, found := strings.CutSuffix(text, unit.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/unit.size {
			break
		}
		return Bytes(n * unit.size), nil
	}
	return 0, errors.New("not a size")
}
