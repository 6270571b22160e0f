package httpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/probefleet/probefleet/internal/checkstream"
)

// DeadLetters are the checks and rows that were given up.
type DeadLetters interface {
	List(ctx context.Context, after string, limit int) ([]checkstream.Letter, error)
	Get(ctx context.Context, id string) (checkstream.Letter, error)
	Ask(ctx context.Context, ids []string) (n int, err error)
}

// deadLetterBody leaves out what the entry held: it may be anything.
type deadLetterBody struct {
	ID          string            `json:"id"`
	Kind        string            `json:"kind" enum:"check,row" doc:"check: an entry of the stream of checks that nobody could run; row: a result that ClickHouse refused for good"`
	Region      string            `json:"region"`
	EntryID     string            `json:"entry_id" doc:"its id in the stream of checks"`
	TargetID    int64             `json:"target_id" doc:"0 when it cannot be told"`
	ScheduledAt nullable[instant] `json:"scheduled_at" doc:"the slot; null when it cannot be told"`
	Reason      string            `json:"reason" doc:"why it was given up"`
	Prober      string            `json:"prober" doc:"who gave it up"`
	Deliveries  int64             `json:"deliveries" doc:"how often a prober had taken it"`
	At          instant           `json:"at" doc:"when it was given up"`
	Replayable  bool              `json:"replayable" doc:"false: this version cannot read it"`
	Replay      string            `json:"replay" doc:"empty; asked: the next prober of its region takes it; running; or given_up: three probers took it and none finished. A letter that was replayed is gone"`
	AskedAt     nullable[instant] `json:"asked_at"`
	Tries       int               `json:"tries" doc:"how often a prober has taken it for a replay"`
}

func newDeadLetter(l checkstream.Letter) deadLetterBody {
	body := deadLetterBody{
		ID: l.ID, Kind: "check", Region: l.Region, EntryID: l.EntryID, TargetID: l.TargetID, Reason: l.Reason, Prober: l.Prober,
		Deliveries: l.Deliveries, At: instant(l.At), Replayable: l.Replayable(), Replay: string(l.Replay), AskedAt: maybeInstant(l.ReplayAsked), Tries: l.ReplayTries,
	}
	if l.ScheduledAt.Unix() > 0 { // one that cannot be read has none
		body.ScheduledAt = maybeInstant(l.ScheduledAt)
	}
	if l.Row != nil {
		body.Kind = "row"
	}
	return body
}

func (a *api) listDeadLetters(ctx context.Context, in *Page) (*listOutput[deadLetterBody], error) {
	after := ""
	if in.Cursor != "" {
		var ok bool
		if after, ok = decodeCursor("l", in.Cursor); !ok {
			return nil, badCursor()
		}
	}
	letters, err := a.DeadLetters.List(ctx, after, in.Limit+1)
	if err != nil {
		return nil, down("Redis", err)
	}
	return pageBy(letters, in.Limit, newDeadLetter, func(last checkstream.Letter) nullable[string] { return some(encodeCursor("l", last.ID)) }), nil
}

const mostLetters = 100 // in one request: each is looked at

// ReplayLettersInput names dead letters.
type ReplayLettersInput struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"100" nullable:"false" doc:"of dead letters"`
}

type replayLettersOutput struct {
	Body struct {
		Asked      int `json:"asked" doc:"that are to be run again, because of this request or one before"`
		Gone       int `json:"gone" doc:"that are not there any more: replayed, or removed"`
		Unreadable int `json:"unreadable" doc:"that this version cannot read: show them with probefleet dead-letters show, and purge them or upgrade"`
	}
}

// replayLetters asks the probers of the letters' regions to run them again. Those that wait
// for that already, or are being run, are left alone: asking twice is asking once.
func (a *api) replayLetters(ctx context.Context, in *struct{ Body document[ReplayLettersInput] }) (*replayLettersOutput, error) {
	var ids []string
	if p := read(in.Body, func(fields ReplayLettersInput, _ nulls) []Mistake {
		ids = fields.IDs
		switch {
		case len(ids) == 0:
			return []Mistake{needed("/ids")}
		case len(ids) > mostLetters:
			return []Mistake{{Pointer: "/ids", Code: codeTooLong, Message: fmt.Sprintf("at most %d dead letters at a time", mostLetters)}}
		}
		return nil
	}); p != nil {
		return nil, p
	}
	out := &replayLettersOutput{}
	var fresh []string
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		letter, err := a.DeadLetters.Get(ctx, id)
		switch {
		case errors.Is(err, checkstream.ErrNoLetter):
			out.Body.Gone++
		case err != nil:
			return nil, down("Redis", err)
		case !letter.Replayable():
			out.Body.Unreadable++
		case letter.Replay == checkstream.ReplayAsked || letter.Replay == checkstream.ReplayRunning:
			out.Body.Asked++
		default:
			fresh = append(fresh, letter.ID)
		}
	}
	if len(fresh) == 0 {
		return out, nil
	}
	n, err := a.DeadLetters.Ask(ctx, fresh)
	if err != nil {
		return nil, down("Redis", err)
	}
	out.Body.Asked += n
	out.Body.Gone += len(fresh) - n
	if n > 0 {
		object := "dead-letters"
		if len(fresh) == 1 {
			object = "dead-letter:" + fresh[0]
		}
		a.audit(ctx, "dead-letter.replayed", object, fmt.Sprintf("%d asked to be run again", n))
	}
	return out, nil
}
