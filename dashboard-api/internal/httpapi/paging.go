package httpapi

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// Page are the parameters of every list.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"how many items at most"`
	Cursor string `query:"cursor" maxLength:"200" doc:"next_cursor of the page before"`
}

// list is the answer of every list.
type list[T any] struct {
	Items      []T              `json:"items" nullable:"false"`
	NextCursor nullable[string] `json:"next_cursor" doc:"null on the last page"`
}

type listOutput[T any] struct{ Body list[T] }

// pageOf makes the answer of a list by ids from what was found: one more than asked for means that there
// is more.
func pageOf[S, T any](found []S, limit int, body func(S) T, id func(S) int64) *listOutput[T] {
	return pageBy(found, limit, body, func(last S) nullable[string] { return idCursor(id(last)) })
}

// pageBy is pageOf for a list with cursors of its own.
func pageBy[S, T any](found []S, limit int, body func(S) T, cursor func(last S) nullable[string]) *listOutput[T] {
	out := &listOutput[T]{Body: list[T]{Items: []T{}}}
	for i, one := range found {
		if i == limit {
			out.Body.NextCursor = cursor(found[i-1])
			break
		}
		out.Body.Items = append(out.Body.Items, body(one))
	}
	return out
}

// Between is a half-open range of slots.
type Between struct {
	From time.Time `query:"from" doc:"first instant, RFC 3339; by default a day before to"`
	To   time.Time `query:"to" doc:"first instant that is not included; by default now"`
}

// The longest ranges, in days. Figures are kept, and cost, less than what they were made of.
const (
	longestRange   = 100
	longestFigures = 5*366 + 1
)

// resolve fills the defaults in.
func (b Between) resolve(now time.Time) (from, to time.Time, err error) {
	return b.upTo(longestRange, now)
}

func (b Between) upTo(days int, now time.Time) (from, to time.Time, err error) {
	from, to = b.From, b.To
	if to.IsZero() {
		to = now
	}
	if from.IsZero() {
		from = to.Add(-24 * time.Hour)
	}
	switch {
	case !from.Before(to):
		return from, to, mistakes([]Mistake{{Parameter: "from", Code: codeInvalidRange, Message: "from must be before to"}})
	case to.Sub(from) > time.Duration(days)*24*time.Hour:
		return from, to, mistakes([]Mistake{{Parameter: "from", Code: codeInvalidRange, Message: fmt.Sprintf("a range is at most %d days long", days)}})
	}
	return from.UTC(), to.UTC(), nil
}

func badCursor() error {
	return mistakes([]Mistake{{Parameter: "cursor", Code: codeInvalidParameter, Message: "this is not a next_cursor of this list"}})
}

// Cursors are opaque to callers: a letter for the list, and where it goes on.
func idCursor(id int64) nullable[string] { return some(encodeCursor("t", strconv.FormatInt(id, 10))) }

func readIDCursor(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	text, ok := decodeCursor("t", cursor)
	id, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		return 0, badCursor()
	}
	return id, nil
}

func slotCursor(at time.Time, region string) nullable[string] {
	return some(encodeCursor("r", fmt.Sprintf("%d.%s", at.UnixMilli(), region)))
}

func readSlotCursor(cursor string) (*resultstore.Cursor, error) {
	if cursor == "" {
		return nil, nil
	}
	text, ok := decodeCursor("r", cursor)
	millis, region, cut := strings.Cut(text, ".")
	at, err := strconv.ParseInt(millis, 10, 64)
	if !ok || !cut || err != nil {
		return nil, badCursor()
	}
	return &resultstore.Cursor{ScheduledAt: time.UnixMilli(at).UTC(), Region: region}, nil
}

func encodeCursor(list, where string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + where))
}

func decodeCursor(list, cursor string) (string, bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(string(text), list)
}
