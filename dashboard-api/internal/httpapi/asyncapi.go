package httpapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
)

// Deltas of the channels, by what is in them.
type (
	// TargetDelta is a delta of targets and target:{id}.
	TargetDelta = live.Delta[TargetOp]
	// RegionDelta is a delta of fleet.
	RegionDelta = live.Delta[RegionOp]
	// IncidentDelta is a delta of incidents.
	IncidentDelta = live.Delta[IncidentOp]
	// CheckDelta is a delta of checks:{id}.
	CheckDelta = live.Delta[CheckOp]
	// PageDelta is a delta of page:{slug}.
	PageDelta = live.Delta[PageOp]

	// TargetOp is a change of a target.
	TargetOp = live.Op[int64, live.Target]
	// RegionOp is a change of a region.
	RegionOp = live.Op[string, live.Region]
	// IncidentOp is a change of an incident: what its timeline says may have changed, too.
	IncidentOp = live.Op[int64, Incident]
	// CheckOp is a change of a check on demand.
	CheckOp = live.Op[string, Check]
	// PageOp is a change of what a status page says.
	PageOp = live.Op[string, statuspage.Now]
)

// liveMessages are the messages of the websocket, by the name they have in the documents.
func liveMessages() (fromBrowser, fromNode map[string]reflect.Type) {
	fromBrowser = map[string]reflect.Type{}
	for _, command := range live.Commands() { // which a node reads what it is told by
		t := reflect.TypeOf(command)
		fromBrowser[t.Name()] = t
	}
	return fromBrowser, map[string]reflect.Type{
		"Welcome": typeOf[live.Welcome](), "OK": typeOf[live.OK](), "TargetDelta": typeOf[TargetDelta](), "RegionDelta": typeOf[RegionDelta](),
		"IncidentDelta": typeOf[IncidentDelta](), "CheckDelta": typeOf[CheckDelta](), "PageDelta": typeOf[PageDelta](), "Resync": typeOf[live.Resync](), "Err": typeOf[live.Err](), "Ping": typeOf[live.Ping](),
	}
}

// liveSchemas are the schemas of those messages, and of what is in them.
func liveSchemas() huma.Registry {
	names := map[reflect.Type]string{typeOf[TargetOp](): "TargetOp", typeOf[RegionOp](): "RegionOp", typeOf[IncidentOp](): "IncidentOp", typeOf[CheckOp](): "CheckOp", typeOf[PageOp](): "PageOp"}
	browser, node := liveMessages()
	for _, messages := range []map[string]reflect.Type{browser, node} {
		for name, t := range messages {
			names[t] = name
		}
	}
	registry := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		if name, found := names[t]; found {
			return name
		}
		return huma.DefaultSchemaNamer(t, hint)
	})
	for t, name := range names {
		registry.Schema(t, true, name)
	}
	return registry
}

// asyncAPI is the description of the websocket (AsyncAPI 3.0), made from the types that it
// speaks with.
func asyncAPI(version string) ([]byte, error) {
	type object = map[string]any
	browser, node := liveMessages()
	messages, refs := object{}, func(of map[string]reflect.Type) (list []object) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			list = append(list, object{"$ref": "#/channels/live/messages/" + name})
		}
		return list
	}
	inChannel := object{}
	for _, of := range []map[string]reflect.Type{browser, node} {
		for name := range of {
			messages[name] = object{"name": name, "payload": object{"$ref": "#/components/schemas/" + name}}
			inChannel[name] = object{"$ref": "#/components/messages/" + name}
		}
	}
	return json.Marshal(object{
		"asyncapi": "3.0.0",
		"info": object{"title": "Probefleet, live", "version": version, "description": "Changes as they happen. Take GET /api/v1/live/snapshot, then subscribe to targets from its epoch and seq. " +
			"Channels: targets, target:{id}, incidents, fleet, checks:{id} (or check:{id}), page:{slug}; whoever may see a status page reads its channel at /s/{slug}/live, too, and no other there. An account reads those of all pages, whoever else may see them: a page that is published is told as it is, one that is withdrawn is removed, and one that is not published says nothing until it is. Of the others than targets there is no snapshot: subscribe first, and read what there is after ok. Sequences have no gaps: from_seq of a delta is the seq of the one before. A position of another node is gone on from by its mark: ok has the sequence 0, and the first delta has what was missed. What a node cannot go on from is answered with recovered false, or resync: take a new snapshot.",
			"license": object{"name": "Apache-2.0"}},
		"defaultContentType": "application/json",
		"channels": object{"live": object{
			"address": "/api/v1/live", "messages": inChannel,
			"description": "Sub-protocol probefleet.v1.json; a bearer key, or the cookie of a session with an Origin of this host. Closed with 1012: come back at once; 4001: no longer allowed; 4008: too slow.",
			"bindings":    object{"ws": object{"method": "GET", "bindingVersion": "0.1.0"}},
		}},
		"operations": object{
			"fromBrowser": object{"action": "receive", "channel": object{"$ref": "#/channels/live"}, "messages": refs(browser)},
			"fromNode":    object{"action": "send", "channel": object{"$ref": "#/channels/live"}, "messages": refs(node)},
		},
		"components": object{
			"messages": messages, "schemas": liveSchemas().Map(),
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}},
		},
	})
}
