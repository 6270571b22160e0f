package httpapi

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	opRotated = "heartbeat.rotated"

	longestKept = 8192 // bytes of a value that is kept whole
	shortenedTo = 1000 // runes of one that is not
)

// revisionChange is a field of a target that a write changed. Null: it was not set.
type revisionChange struct {
	Pointer   string `json:"pointer" example:"/interval_s"`
	From      any    `json:"from"`
	To        any    `json:"to"`
	Shortened bool   `json:"shortened,omitempty" doc:"only the beginning of a long value is kept, as text"`
}

type revisionBody struct {
	ID      int64            `json:"id"`
	At      instant          `json:"at"`
	Actor   string           `json:"actor" example:"user:1"`
	Action  string           `json:"action" enum:"target.created,target.updated,heartbeat.rotated"`
	Kept    bool             `json:"kept" doc:"false: which fields it changed was not kept, as before this was kept of any"`
	Changes []revisionChange `json:"changes" nullable:"false" doc:"secrets read [secret], before and after"`
}

// listRevisions reads the audit log, which only owners see as a whole: whoever may read a target may
// read how it came to be so.
func (a *api) listRevisions(ctx context.Context, in *struct {
	TargetPath
	Page
}) (*listOutput[revisionBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if _, err := a.Targets.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := a.Audit.AuditLog(ctx, accountstore.AuditQuery{
		Object: targetObject(in.ID), Actions: []string{"target." + opCreated, "target." + opUpdated, opRotated}, Changed: true, BeforeID: before, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, revisionBodyOf, func(e accountstore.AuditEntry) int64 { return e.ID }), nil
}

func revisionBodyOf(e accountstore.AuditEntry) revisionBody {
	body := revisionBody{ID: e.ID, At: instant(e.At), Actor: e.Actor, Action: e.Action, Changes: []revisionChange{}}
	body.Kept = e.Changes != "" && json.Unmarshal([]byte(e.Changes), &body.Changes) == nil
	return body
}

// revised is what the audit log keeps of a change: the fields, and never a secret.
func revised(changes []revisionChange) string {
	for i := range changes {
		c := &changes[i]
		c.From, c.To = c.short(c.From), c.short(c.To)
	}
	text, err := json.Marshal(orEmpty(changes))
	if err != nil {
		return "" // of what was read from JSON it cannot fail
	}
	return string(text)
}

func (c *revisionChange) short(value any) any {
	text, is := value.(string)
	if !is {
		encoded, err := json.Marshal(value)
		if err != nil || len(encoded) <= longestKept {
			return value
		}
		text = string(encoded)
	}
	if len(text) <= longestKept {
		return value
	}
	c.Shortened = true
	return string([]rune(text)[:shortenedTo]) + "…"
}

// revisionOf are the fields in which two targets differ. Parents are told by name.
func revisionOf(before, after uptime.Target, parents func(int64) string) []revisionChange {
	from, to := transferOf(before, parents(before.ParentID)), transferOf(after, parents(after.ParentID))
	conceal(&from, &to)
	conceal(&to, &from)
	was, is := plain(from), plain(to)
	for name, part := range was { // a part that comes or goes is told field by field
		if _, object := part.(map[string]any); object && is[name] == nil {
			is[name] = map[string]any{}
		}
		if _, object := is[name].(map[string]any); object && part == nil {
			was[name] = map[string]any{}
		}
	}
	var changes []revisionChange
	told := map[string]bool{}
	for _, c := range compare("", was, is) {
		changes, told[c.Pointer] = append(changes, revisionChange{Pointer: c.Pointer, From: c.From, To: c.To}), true
	}
	// What reads the same before and after may have changed where it is not shown.
	hidden, now := concealed(before.Spec), concealed(after.Spec)
	for _, pointer := range slices.Sorted(maps.Keys(now)) {
		if hidden[pointer] != now[pointer] && !told[pointer] {
			changes = append(changes, revisionChange{Pointer: pointer, From: redact.Secret, To: redact.Secret})
		}
	}
	slices.SortFunc(changes, func(a, b revisionChange) int { return strings.Compare(a.Pointer, b.Pointer) })
	return changes
}

// rescheduled is revisionOf for the schedule alone, at a price that 10,000 targets can pay.
func rescheduled(before, after uptime.Target) []revisionChange {
	var changes []revisionChange
	if before.Active != after.Active {
		changes = append(changes, revisionChange{Pointer: "/active", From: before.Active, To: after.Active})
	}
	if before.Interval != after.Interval {
		changes = append(changes, revisionChange{Pointer: "/interval_s", From: int64(before.Interval / time.Second), To: int64(after.Interval / time.Second)})
	}
	if !slices.Equal(before.Regions, after.Regions) {
		changes = append(changes, revisionChange{Pointer: "/regions", From: orEmpty(before.Regions), To: orEmpty(after.Regions)})
	}
	if before.Timeout != after.Timeout {
		changes = append(changes, revisionChange{Pointer: "/timeout_ms", From: before.Timeout.Milliseconds(), To: after.Timeout.Milliseconds()})
	}
	return changes
}

// conceal hides in one target what is likely to be a secret, and what the other keeps as one: it
// may have been written in clear by mistake.
func conceal(one, other *transferTarget) {
	if h, o := one.HTTP.value, other.HTTP.value; h != nil {
		var theirs httpPart
		if o != nil {
			theirs = *o
		}
		h.Headers = hiddenHeaders(h.Headers, theirs.Headers)
		if h.Body != "" && !theirs.BodySecret.IsZero() {
			h.Body = redact.Secret
		}
	}
	if w, o := one.WebSocket.value, other.WebSocket.value; w != nil {
		var theirs webSocketPart
		if o != nil {
			theirs = *o
		}
		w.Headers = hiddenHeaders(w.Headers, theirs.Headers)
	}
	if t, o := one.TCP.value, other.TCP.value; t != nil && o != nil && t.Send != "" && !o.SendSecret.IsZero() {
		t.Send = redact.Secret
	}
}

func hiddenHeaders(headers, theirs []headerPart) []headerPart {
	for i, h := range headers {
		secret := func(other headerPart) bool { return strings.EqualFold(other.Name, h.Name) && !other.Secret.IsZero() }
		if h.Value != "" && (redact.Name(h.Name) || slices.ContainsFunc(theirs, secret)) {
			headers[i].Value, headers[i].Secret = "", secretText{stored: true}
		}
	}
	return headers
}

// concealed is what is not shown of a spec, by where it is: to compare, and for nothing else.
func concealed(s uptime.Spec) map[string]string {
	headers := func(all []uptime.Header) string {
		var b strings.Builder
		for _, h := range all {
			b.WriteString(h.Name + "\x00" + h.Value + "\x00" + string(h.Secret) + "\x00")
		}
		return b.String()
	}
	var http uptime.HTTPSpec
	var tcp uptime.TCPSpec
	var socket uptime.WebSocketSpec
	if s.HTTP != nil {
		http = *s.HTTP
	}
	if s.TCP != nil {
		tcp = *s.TCP
	}
	if s.WebSocket != nil {
		socket = *s.WebSocket
	}
	return map[string]string{
		"/http/body_secret": string(http.BodySecret), "/http/query_secret": string(http.QuerySecret), "/http/password": string(http.Password), "/http/token": string(http.Token), "/http/headers": headers(http.Headers),
		"/tcp/send_secret": string(tcp.SendSecret), "/websocket/headers": headers(socket.Headers),
	}
}

// parentsOf gives what the parents of a target before and after a change are called.
func (a *api) parentsOf(ctx context.Context, changed ...uptime.Target) func(int64) string {
	names, err := a.parentNames(ctx, changed)
	return func(id int64) string {
		if err != nil && id != 0 { // the change has happened: it is told by their ids
			return targetObject(id)
		}
		return names[id]
	}
}
