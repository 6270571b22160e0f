package checkstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Letter is an entry that was settled without a measurement that could be kept:
// nobody could read it, it killed whoever ran it, or the store refused its row.
type Letter struct {
	ID          string // of the letter
	Region      string
	EntryID     string
	TargetID    int64
	ScheduledAt time.Time // the slot; only its whole second when Check is nil
	Reason      string
	Prober      string // who gave it up
	Deliveries  int64
	At          time.Time      // when, by the clock of Redis
	Check       *uptime.Check  // nil when this program cannot read the entry
	Row         *uptime.Result // what the store refused; nil when there was no row
	Raw         string         // the entry's fields, quoted: safe to print; cut at 64 KiB
	Cut         bool           // the entry was larger than what is kept of it
	Replay      ReplayState
	ReplayAsked time.Time // zero: nobody asked
	ReplayTries int       // how often a prober has taken it
}

// Replayable says whether this program could replay the letter: it can read the check,
// or has the row.
func (l Letter) Replayable() bool { return l.Check != nil || l.Row != nil }

// ReplayState is how far the replay of a letter is.
type ReplayState string

// The states of a replay. A letter that was replayed is gone.
const (
	ReplayNone    ReplayState = ""
	ReplayAsked   ReplayState = "asked"    // the next prober of its region takes it
	ReplayRunning ReplayState = "running"  // a prober has it
	ReplayGivenUp ReplayState = "given_up" // three probers took it and none finished: ask again, or purge it
)

const (
	replayClaim = time.Minute // how long a prober has for a replay
	replayTries = 3

	maxReason = 1 << 10
	// rawPrefix marks the entry's own fields among the letter's.
	rawPrefix = "f:"
)

// newLetter reads a letter. It accepts anything: what cannot be read stays zero.
func newLetter(message redis.XMessage) Letter {
	field := func(name string) string { text, _ := message.Values[name].(string); return text }
	l := Letter{
		ID: message.ID, Region: field("region"), EntryID: field("id"), Reason: field("reason"), Prober: field("prober"),
		Cut: field("cut") != "",
	}
	l.Deliveries, _ = strconv.ParseInt(field("deliveries"), 10, 64) // for people only
	l.At, _ = parseLetterID(message.ID)
	raw, entry := make(map[string]any), fields{}
	for name, value := range message.Values {
		if own, ok := strings.CutPrefix(name, rawPrefix); ok {
			raw[own] = value
			entry = append(entry, own, value)
		}
	}
	l.Raw = quoteFields(raw)
	second, targetID, err := parseID(l.EntryID)
	if err == nil {
		l.TargetID, l.ScheduledAt = targetID, time.Unix(second, 0).UTC()
	}
	if err == nil && !l.Cut {
		if check, err := decodeCheck(targetID, second, entry); err == nil {
			l.Check, l.ScheduledAt = &check, check.ScheduledAt
		}
	}
	var row uptime.Result
	if text := field("row"); text != "" && json.Unmarshal([]byte(text), &row) == nil {
		l.Row = &row
	}
	return l
}

// parseLetterID reads the id Redis gave a letter.
func parseLetterID(id string) (at time.Time, err error) {
	first, second, ok := strings.Cut(id, "-")
	ms, err1 := strconv.ParseUint(first, 10, 63)
	_, err2 := strconv.ParseUint(second, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return time.Time{}, fmt.Errorf("letter id %.50q: want <ms>-<number>", id)
	}
	return time.UnixMilli(int64(ms)).UTC(), nil
}

func quoteFields(fields map[string]any) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		value, _ := fields[name].(string)
		if strconv.Quote(name) != `"`+name+`"` || strings.ContainsAny(name, " =") || name == "" {
			name = strconv.Quote(name)
		}
		b.WriteString(name + "=" + strconv.Quote(value))
	}
	return b.String()
}

// request adds what the hash of requests says: when it was asked for in ms, how often
// it was taken, until when in ms, and the region.
func (l *Letter) request(value any, now time.Time) {
	text, _ := value.(string)
	var asked, until int64
	var tries int
	if _, err := fmt.Sscan(text, &asked, &tries, &until); err != nil {
		return
	}
	l.ReplayAsked, l.ReplayTries = time.UnixMilli(asked).UTC(), tries
	switch {
	case now.UnixMilli() < until:
		l.Replay = ReplayRunning
	case tries >= replayTries:
		l.Replay = ReplayGivenUp
	default:
		l.Replay = ReplayAsked
	}
}

// encodeRow gives the row as it is kept in a letter, or "" and why it cannot be kept.
func encodeRow(row uptime.Result) (text, problem string) {
	b, err := json.Marshal(row)
	switch {
	case err != nil:
		return "", " (its row cannot be written: " + err.Error() + ")"
	case len(b) > maxField:
		return "", fmt.Sprintf(" (its row of %d bytes was too large to keep)", len(b))
	}
	return string(b), ""
}

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
