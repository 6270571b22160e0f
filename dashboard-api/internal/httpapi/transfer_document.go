package httpapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// transferTarget is all that is set of a target, so that an import of it says everything: null is the
// default. It has no id, and names its parent, since ids differ from one installation to another.
type transferTarget struct {
	URL        string                   `json:"url"`
	Name       string                   `json:"name"`
	Kind       string                   `json:"kind"`
	IntervalS  *int64                   `json:"interval_s,omitempty"` // heartbeats have none
	TimeoutMS  *int64                   `json:"timeout_ms,omitempty"`
	Regions    []string                 `json:"regions"`
	Tags       []string                 `json:"tags"`
	Parent     nullable[string]         `json:"parent"`
	Active     bool                     `json:"active"`
	Expect     nullable[expectBody]     `json:"expect"`
	Policy     nullable[verdict.Policy] `json:"policy"`
	Family     nullable[string]         `json:"family"`
	Assertions []assertionPart          `json:"assertions"`
	HTTP       nullable[httpPart]       `json:"http"`
	TCP        nullable[tcpPart]        `json:"tcp"`
	TLS        nullable[tlsPart]        `json:"tls"`
	DNS        nullable[dnsPart]        `json:"dns"`
	WebSocket  nullable[webSocketPart]  `json:"websocket"`
	Heartbeat  nullable[heartbeatPart]  `json:"heartbeat"`
	Unreadable string                   `json:"unreadable,omitempty"` // as in answers: an import refuses it
}

func transferOf(t uptime.Target, parent string) transferTarget {
	body := bodyOf(t)
	out := transferTarget{
		URL: body.URL, Name: body.Name, Kind: body.Kind, Regions: body.Regions, Tags: body.Tags, Active: body.Active, Assertions: body.Assertions,
		HTTP: body.HTTP, TCP: body.TCP, TLS: body.TLS, DNS: body.DNS, WebSocket: body.WebSocket, Heartbeat: body.Heartbeat, Unreadable: body.Unreadable,
	}
	if t.Kind != uptime.KindHeartbeat {
		seconds, millis := int64(t.Interval/time.Second), t.Timeout.Milliseconds()
		out.IntervalS, out.TimeoutMS = &seconds, &millis
	}
	if parent != "" {
		out.Parent = some(parent)
	}
	if len(t.Spec.Expect.Status) > 0 {
		out.Expect = some(body.Expect)
	}
	if t.Policy != "" {
		out.Policy = some(body.Policy)
	}
	if body.Family != "" {
		out.Family = some(body.Family)
	}
	return out
}

// importChange is a field that an import changes.
type importChange struct {
	Pointer string `json:"pointer"`
	From    any    `json:"from"`
	To      any    `json:"to"`
}

// fieldsChanged are the fields in which two targets differ. Secrets differ without being shown.
func fieldsChanged(before, after uptime.Target, parents func(int64) string) []importChange {
	found := compare("", plain(transferOf(before, parents(before.ParentID))), plain(transferOf(after, parents(after.ParentID))))
	if len(found) == 0 && !slices.Equal(before.Spec.Secrets(), after.Spec.Secrets()) {
		mark, _ := secretText{}.MarshalJSON() // cannot fail
		found = []importChange{{Pointer: "", From: json.RawMessage(mark), To: json.RawMessage(mark)}}
	}
	return found
}

// plain is a value as a reader of its JSON has it.
func plain(t transferTarget) map[string]any {
	var value map[string]any
	text, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		return nil // what was read from the store can be written
	}
	return value
}

// compare lists where two values differ, object by object; lists are compared as a whole.
func compare(at string, from, to any) []importChange {
	before, is := from.(map[string]any)
	after, as := to.(map[string]any)
	if is && as {
		var found []importChange
		all := maps.Clone(before)
		maps.Copy(all, after)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			found = append(found, compare(at+"/"+escapePointer(name), before[name], after[name])...)
		}
		return found
	}
	if reflect.DeepEqual(from, to) {
		return nil
	}
	return []importChange{{Pointer: at, From: from, To: to}}
}
