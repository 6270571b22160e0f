package maintenancestore

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/verdict"
)

// part is a time in which a window was the same: it holds by these terms then, and only then.
type part struct {
	name        string
	text        string // its terms, as they are stored
	terms       maintenance.Window
	schedule    *maintenance.Schedule
	from, until time.Time                // zero: there is no such bound
	carried     map[int64][]verdict.Span // when targets carried one of its tags, as far as that was read
}

// earlier is a part that is over, as it is stored.
type earlier struct {
	Name    string          `json:"name"`
	Terms   json.RawMessage `json:"terms"`
	UntilMS int64           `json:"until_ms"`
}

// readParts takes in what it was, as it is stored, and what it is.
func (w *Window) readParts(terms, past string) {
	var all []earlier
	if err := database.ReadJSON(past, &all); err != nil { // since when it is as it is, is not known either
		w.Unread = err.Error()
		w.parts = []part{{name: w.Name, schedule: maintenance.Never()}}
		return
	}
	w.parts = make([]part, 0, len(all)+1)
	for _, e := range all {
		until := time.UnixMilli(e.UntilMS).UTC()
		w.parts = append(w.parts, w.readPart(e.Name, string(e.Terms), w.ChangedAt, until))
		w.ChangedAt = until
	}
	w.parts = append(w.parts, w.readPart(w.Name, terms, w.ChangedAt, time.Time{}))
	w.Terms = w.parts[len(all)].terms
}

// readPart reads one; what cannot be read holds nobody, and is noted.
func (w *Window) readPart(name, text string, from, until time.Time) part {
	p := part{name: name, text: text, from: from, until: until}
	err := database.ReadJSON(text, &p.terms)
	if err == nil {
		var mistakes []spec.Problem
		if p.schedule, mistakes = maintenance.Stored(p.terms); len(mistakes) > 0 {
			err = errors.New(mistakes[0].Message)
		}
	}
	if err != nil {
		w.Unread, p.terms, p.schedule = err.Error(), maintenance.Window{}, maintenance.Never()
	}
	return p
}

// pastAt is what is stored of what it was when it becomes another one. Of several changes at one
// instant the last one counts.
func (w *Window) pastAt(now time.Time) (string, error) {
	all := make([]earlier, 0, len(w.parts))
	for _, p := range w.parts {
		until := p.until
		if until.IsZero() {
			if until = time.UnixMilli(now.UnixMilli()); !until.After(p.from) { // also by a clock that was put back
				break
			}
		}
		all = append(all, earlier{p.name, json.RawMessage(p.text), until.UnixMilli()})
	}
	if len(all) > MostChanges {
		return "", ErrTooOften
	}
	encoded, err := json.Marshal(all)
	return string(encoded), err
}

// began is when it began to hold what it holds now, of which its terms of now name a beginning: not
// before they counted, unless it held the same until then.
func (w *Window) began(from time.Time) time.Time {
	for i := len(w.parts) - 1; i > 0 && from.Before(w.parts[i].from); i-- {
		p, before := &w.parts[i], &w.parts[i-1]
		span, held := before.schedule.At(p.from.Add(-1))
		if !held || !reflect.DeepEqual(before.terms.Scope, p.terms.Scope) {
			return p.from
		}
		from = span.From
	}
	return from
}

// held says whether it has held before an instant.
func (p *part) held(before time.Time) bool {
	if !p.until.IsZero() && p.until.Before(before) {
		before = p.until
	}
	if p.from.IsZero() {
		return p.schedule.Begins().Before(before)
	}
	if _, holds := p.schedule.At(p.from); holds {
		return p.from.Before(before)
	}
	next, found := p.schedule.Next(p.from)
	return found && next.From.Before(before)
}

// between is when it holds, whatever target, in [from, to).
func (p *part) between(from, to time.Time) []verdict.Span {
	if p.from.After(from) {
		from = p.from
	}
	if !p.until.IsZero() && p.until.Before(to) {
		to = p.until
	}
	if !from.Before(to) {
		return nil
	}
	return p.schedule.Between(from, to)
}

// carry notes that a target carried one of its tags; what came before began before.
func (p *part) carry(id int64, span verdict.Span) {
	if p.carried == nil {
		p.carried = map[int64][]verdict.Span{}
	}
	spans := p.carried[id]
	last := len(spans) - 1
	switch {
	case last < 0 || !spans[last].To.IsZero() && spans[last].To.Before(span.From):
		p.carried[id] = append(spans, span)
	case spans[last].To.IsZero():
	case span.To.IsZero() || span.To.After(spans[last].To):
		spans[last].To = span.To
	}
}

// carriedAt is what was known at an instant of who carried its tags.
func (p *part) carriedAt(at time.Time) map[int64][]verdict.Span {
	carried := make(map[int64][]verdict.Span, len(p.carried))
	for id, spans := range p.carried {
		for _, span := range spans {
			if span.From.After(at) {
				continue
			}
			if span.To.After(at) {
				span.To = time.Time{}
			}
			carried[id] = append(carried[id], span)
		}
	}
	return carried
}
