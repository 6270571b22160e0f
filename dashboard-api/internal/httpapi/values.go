package httpapi

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// instant is a time in answers: RFC 3339 in UTC with milliseconds.
type instant time.Time

// MarshalJSON writes the text.
func (i instant) MarshalJSON() ([]byte, error) {
	return time.Time(i).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}

// Schema describes it.
func (instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "string", Format: "date-time", Examples: []any{"2026-03-01T12:00:00.000Z"}}
}

// maybeInstant is null for the zero time.
func maybeInstant(t time.Time) nullable[instant] {
	if t.IsZero() {
		return nullable[instant]{}
	}
	return some(instant(t))
}

// nullable describes a value that may be null; OpenAPI 3.1 says so with a list of types.
type nullable[T any] struct{ value *T }

func some[T any](value T) nullable[T] { return nullable[T]{&value} }

// MarshalJSON writes the value or null.
func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// Schema is T's, or null.
func (nullable[T]) Schema(r huma.Registry) *huma.Schema {
	schema := r.Schema(reflect.TypeFor[T](), true, "")
	if schema.Ref != "" { // a reference cannot be widened, only wrapped
		return &huma.Schema{AnyOf: []*huma.Schema{schema, {Type: "null"}}}
	}
	copied := *schema
	copied.Nullable = true
	return &copied
}

// orEmpty writes [] where nothing is, never null.
func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// days writes for how long something is kept.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day != 0 {
		return strconv.Itoa(int(d/time.Hour)) + " hours"
	}
	return strconv.Itoa(int(d/day)) + " days"
}
