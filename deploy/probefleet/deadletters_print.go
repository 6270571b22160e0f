package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// replayWords are the states of a replay, for people.
func replayWords(l checkstream.Letter) string {
	switch l.Replay {
	case checkstream.ReplayNone:
		return "-"
	case checkstream.ReplayRunning:
		return fmt.Sprintf("running, try %d", l.ReplayTries)
	case checkstream.ReplayGivenUp:
		return fmt.Sprintf("given up after %d tries", l.ReplayTries)
	default:
		if l.ReplayTries > 0 {
			return fmt.Sprintf("asked, %d tries failed", l.ReplayTries)
		}
		return string(l.Replay)
	}
}

// printLetters writes a table. Nothing in it is trusted: letters hold what others sent.
func printLetters(out io.Writer, letters []checkstream.Letter) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tWHEN\tREGION\tTARGET\tSLOT\tREASON\tDELIVERIES\tREPLAY")
	for _, l := range letters {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%d\t%s\n",
			l.ID, second(l.At), plain(l.Region), l.TargetID, second(l.ScheduledAt), short(plain(l.Reason)), l.Deliveries, replayWords(l))
	}
	_ = table.Flush()
}

func printLetter(out io.Writer, l checkstream.Letter) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(table, "%s\t"+format+"\n", append([]any{name}, args...)...)
	}
	line("id", "%s", l.ID)
	line("when", "%s", second(l.At))
	line("region", "%s", plain(l.Region))
	line("prober", "%s", plain(l.Prober))
	line("reason", "%s", plain(l.Reason))
	line("deliveries", "%d", l.Deliveries)
	line("entry", "%s", plain(l.EntryID))
	line("target", "%d", l.TargetID)
	line("slot", "%s", l.ScheduledAt.UTC().Format(time.RFC3339Nano))
	line("replay", "%s", replayWords(l))
	if !l.ReplayAsked.IsZero() {
		line("asked at", "%s", second(l.ReplayAsked))
	}
	if c := l.Check; c != nil {
		line("check", "%s %s", plain(string(c.Kind)), plain(c.URL))
		line("interval", "%v, timeout %v, spec version %d", c.Interval, c.Timeout, c.SpecVersion)
		line("regions", "%s", plain(strings.Join(c.Regions, ", ")))
	} else {
		line("check", "this version cannot read it")
	}
	if r := l.Row; r != nil {
		line("row", "%s, refused by the store", r.Status)
		line("  why", "%s", plain(strings.Trim(string(r.Failure)+" "+string(r.Reason), " ")))
		line("  message", "%s", plain(r.Message))
		line("  checked at", "%s by %s, attempt %d", second(r.CheckedAt), plain(r.Prober), r.Attempt)
		line("  http status", "%d", r.HTTPStatus)
		line("  took", "%v, address %s", time.Duration(r.TotalUS)*time.Microsecond, r.Address)
	}
	raw := l.Raw
	if raw == "" {
		raw = "nothing is left of the entry"
	}
	if l.Cut {
		raw += " (cut: the entry was larger)"
	}
	line("raw", "%s", raw)
	_ = table.Flush()
}

// plain gives text that came from elsewhere as it is when it is one line of printable
// characters, and quoted otherwise: nothing in it may steer a terminal or forge a line.
func plain(text string) string {
	for _, c := range text {
		if !strconv.IsPrint(c) || c == '\uFFFD' {
			return strconv.Quote(text)
		}
	}
	return text
}

// short is as much of a text as has room in a line.
func short(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

func second(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

type listJSON struct {
	Items    []letterJSON `json:"items"`
	Matching int          `json:"matching"`
	Dropped  int64        `json:"dropped"`
	Replayed int64        `json:"replayed"`
	Purged   int64        `json:"purged"`
}

type letterJSON struct {
	ID          string                  `json:"id"`
	At          time.Time               `json:"at"`
	Region      string                  `json:"region"`
	Prober      string                  `json:"prober"`
	Entry       string                  `json:"entry"`
	TargetID    int64                   `json:"target_id"`
	ScheduledAt time.Time               `json:"scheduled_at"`
	Reason      string                  `json:"reason"`
	Deliveries  int64                   `json:"deliveries"`
	Replayable  bool                    `json:"replayable"`
	Replay      checkstream.ReplayState `json:"replay"`
	ReplayTries int                     `json:"replay_tries"`
	ReplayAsked *time.Time              `json:"replay_asked_at,omitempty"`
	Kind        uptime.Kind             `json:"kind,omitempty"`
	URL         string                  `json:"url,omitempty"`
	Row         *rowJSON                `json:"row,omitempty"`
	Raw         string                  `json:"raw"`
	Cut         bool                    `json:"cut"`
}

// rowJSON has the names the API uses.
type rowJSON struct {
	Status     uptime.Status  `json:"status"`
	Failure    uptime.Failure `json:"failure"`
	Reason     uptime.Reason  `json:"reason"`
	Message    string         `json:"message"`
	HTTPStatus int            `json:"http_status"`
	TotalUS    uint32         `json:"total_us"`
	CheckedAt  time.Time      `json:"checked_at"`
	Attempt    uint8          `json:"attempt"`
	Prober     string         `json:"prober"`
	Address    string         `json:"address"`
}

func toJSON(letters []checkstream.Letter) []letterJSON {
	out := make([]letterJSON, len(letters))
	for i, l := range letters {
		out[i] = letterJSON{
			ID: l.ID, At: l.At, Region: l.Region, Prober: l.Prober, Entry: l.EntryID, TargetID: l.TargetID, ScheduledAt: l.ScheduledAt,
			Reason: l.Reason, Deliveries: l.Deliveries, Replayable: l.Replayable(), Replay: l.Replay, ReplayTries: l.ReplayTries, Raw: l.Raw, Cut: l.Cut,
		}
		if l.Check != nil {
			out[i].Kind, out[i].URL = l.Check.Kind, l.Check.URL
		}
		if r := l.Row; r != nil {
			out[i].Row = &rowJSON{r.Status, r.Failure, r.Reason, r.Message, r.HTTPStatus, r.TotalUS, r.CheckedAt, r.Attempt, r.Prober, r.Address.String()}
		}
		if !l.ReplayAsked.IsZero() {
			out[i].ReplayAsked = &l.ReplayAsked
		}
	}
	return out
}

func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
