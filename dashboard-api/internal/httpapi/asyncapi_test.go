package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Every reference of the document leads somewhere, and every message has a schema.
func TestTheLiveDescriptionIsWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.do("GET", "/api/asyncapi.json", "")
	var document map[string]any
	got.into(t, &document)
	if document["asyncapi"] != "3.0.0" {
		t.Fatalf("%.200s", got.text)
	}
	references := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, item := range v {
				if ref, is := item.(string); is && key == "$ref" {
					references++
					var at any = document
					for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
						inner, _ := at.(map[string]any)
						at = inner[part]
					}
					if at == nil {
						t.Errorf("%s leads nowhere", ref)
					}
				}
				walk(item)
			}
		}
	}
	walk(document)
	if references < 42 { // 14 messages: in the channel, in an operation, their payload
		t.Errorf("only %d references", references)
	}
}

// What a hub says is what the description says.
func TestDeltasAreAsDescribed(t *testing.T) {
	t.Parallel()
	hub := live.New(live.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = hub.Run(ctx) }()
	registry := liveSchemas()
	next := func(channel, schema string, do func()) {
		t.Helper()
		sub, _, _, err := hub.Subscribe(channel, nil)
		if err != nil {
			t.Fatal(err)
		}
		do()
		for deadline := time.After(hang); ; {
			changed := hub.Changed()
			if message := sub.Poll(); message != nil {
				var v any
				if err := json.Unmarshal(message, &v); err != nil {
					t.Fatal(err)
				}
				var found huma.ValidateResult
				huma.Validate(registry, registry.SchemaFromRef("#/components/schemas/"+schema), huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, v, &found)
				for _, err := range found.Errors {
					t.Errorf("%s: %v in %s", schema, err, message)
				}
				return
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("%s says nothing", channel)
			}
		}
	}
	next("targets", "TargetDelta", func() {
		hub.Load([]uptime.Target{{ID: 1, Name: "a", URL: "https://x/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true}}, nil, []string{"eu"})
		hub.Apply([]uptime.Result{{TargetID: 1, Region: "eu", ScheduledAt: time.Now(), CheckedAt: time.Now(), Status: uptime.StatusDown, Failure: uptime.FailureTimeout, IngestedAt: time.Now()}})
	})
	next("target:1", "TargetDelta", func() { hub.Remove(1) })
	next("fleet", "RegionDelta", func() { hub.SetRegions([]string{"eu"}, []live.Region{{Region: "eu", Probers: 1, Live: true}}) })
	next("incidents", "IncidentDelta", func() {
		hub.Incidents([]live.Change{{ID: 1, Item: NewIncident(incidentstore.Incident{ID: 1, Severity: incidentstore.Down, FirstSlot: time.Now(), OpenedAt: time.Now()}, time.Now())}})
	})
	next("checks:abc", "CheckDelta", func() {
		hub.Check("abc", NewCheck(jobstore.Job{ID: "abc", State: jobstore.Queued, Kind: uptime.KindHTTP}))
	})
	next("page:main", "PageDelta", func() {
		now := time.Now()
		hub.Page("main", statuspage.Now{State: "up", EvidenceAt: &now, Tag: "a", Components: []statuspage.ComponentNow{{ID: 1, State: "up"}}})
	})
}

// schemaOf is what this test reads of a schema in the document.
type schemaOf struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	MaxLength  int
	Properties map[string]*schemaOf
}

// described is the document, as far as it is of what browsers say.
type described struct {
	Operations map[string]struct{ Messages []schemaOf }
	Components struct {
		Messages map[string]struct{ Payload schemaOf }
		Schemas  map[string]*schemaOf
	}
}

func lastPart(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// example is a value with everything that a schema has.
func (d *described) example(t *testing.T, s *schemaOf) any {
	t.Helper()
	switch {
	case s == nil:
		t.Fatal("there is no such schema")
	case s.Ref != "":
		return d.example(t, d.Components.Schemas[lastPart(s.Ref)])
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == huma.TypeString:
		return "some"
	case s.Type == huma.TypeInteger:
		return 7.0
	case s.Type == huma.TypeObject:
		all := map[string]any{}
		for name, property := range s.Properties {
			all[name] = d.example(t, property)
		}
		return all
	}
	t.Fatalf("the type %v in what browsers say: give an example of it here", s.Type)
	return nil
}

// fieldsOf are the fields of a message as it is written, and those of what is in it.
func fieldsOf(t reflect.Type) (all []string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
		for _, inner := range fieldsOf(t.Field(i).Type) {
			all = append(all, name+"."+inner)
		}
	}
	slices.Sort(all)
	return all
}

// keysOf are the same of an example.
func keysOf(v any) (all []string) {
	object, _ := v.(map[string]any)
	for name, value := range object {
		all = append(all, name)
		for _, inner := range keysOf(value) {
			all = append(all, name+"."+inner)
		}
	}
	slices.Sort(all)
	return all
}

// What browsers say by the document is what a node reads: the same messages with the same fields, in both
// directions, and as long.
func TestBrowsersSayWhatIsDescribed(t *testing.T) {
	t.Parallel()
	var d described
	newBench(t).do("GET", "/api/asyncapi.json", "").into(t, &d)
	read := map[string]reflect.Type{}
	for _, command := range live.Commands() {
		read[reflect.TypeOf(command).Name()] = reflect.TypeOf(command)
	}
	bounded := 0
	for _, message := range d.Operations["fromBrowser"].Messages {
		name := lastPart(message.Ref)
		schema := d.Components.Schemas[lastPart(d.Components.Messages[name].Payload.Ref)]
		example, _ := d.example(t, schema).(map[string]any)
		reads := func(said map[string]any) (any, error) {
			t.Helper()
			text, err := json.Marshal(said)
			if err != nil {
				t.Fatal(err)
			}
			return live.ReadCommand(text)
		}
		command, err := reads(example)
		if err != nil || reflect.TypeOf(command) != read[name] {
			t.Errorf("%s is described, and %v is read as %T, %v", name, example, command, err)
			continue
		}
		if keys, fields := keysOf(example), fieldsOf(read[name]); !slices.Equal(keys, fields) {
			t.Errorf("%s is described with %q, and read with %q", name, keys, fields)
		}
		again, err := json.Marshal(command)
		var kept map[string]any
		if err != nil || json.Unmarshal(again, &kept) != nil || !reflect.DeepEqual(kept, example) {
			t.Errorf("of %v is read %s, %v", example, again, err)
		}
		for field, property := range schema.Properties {
			if property.MaxLength == 0 {
				continue
			}
			bounded++
			for length, fits := range map[int]bool{property.MaxLength: true, property.MaxLength + 1: false} {
				said := maps.Clone(example)
				said[field] = strings.Repeat("é", length)
				if _, err := reads(said); (err == nil) != fits {
					t.Errorf("%s of %s with %d characters: %v", field, name, length, err)
				}
			}
		}
		delete(read, name)
	}
	if len(read) > 0 || bounded == 0 {
		t.Errorf("read, and not described: %v; %d fields have bounds", read, bounded)
	}
}

// TestLiveTypesCurrent keeps the dashboard's types those of the node.
func TestLiveTypesCurrent(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "web", "src", "api", "live.gen.ts")
	want := typeScript()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a source file
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the types say (%v): run make generate", path, err)
	}
}

// typeScript writes the types of the messages, and of what is in them.
func typeScript() string {
	schemas := liveSchemas().Map()
	var out strings.Builder
	out.WriteString("// Written by `make generate` from the types that the node speaks with. Do not edit.\n")
	browser, node := liveMessages()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		schema := schemas[name]
		fmt.Fprintf(&out, "\nexport interface %s {\n", name)
		for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
			optional := "?"
			if slices.Contains(schema.Required, field) {
				optional = ""
			}
			line := fmt.Sprintf("  %s%s: %s;\n", field, optional, typeOfSchema(schema.Properties[field]))
			if len(line) > 121 { // as the formatter has it
				line = strings.Replace(strings.ReplaceAll(line, " | ", "\n    | "), ": ", ":\n    | ", 1)
			}
			out.WriteString(line)
		}
		out.WriteString("}\n")
	}
	out.WriteString(unionOf("BrowserMessage", slices.Sorted(maps.Keys(browser))) + unionOf("NodeMessage", slices.Sorted(maps.Keys(node))))
	return out.String()
}

// unionOf writes a type that is one of several, in one line if that is not longer than the formatter's.
func unionOf(name string, of []string) string {
	if line := fmt.Sprintf("\nexport type %s = %s;\n", name, strings.Join(of, " | ")); len(line) <= 122 {
		return line
	}
	return fmt.Sprintf("\nexport type %s =\n  | %s;\n", name, strings.Join(of, "\n  | "))
}

func typeOfSchema(s *huma.Schema) string {
	var text string
	switch {
	case s.Ref != "":
		text = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("%q", v))
		}
		text = strings.Join(values, " | ")
	case s.Type == huma.TypeArray:
		if text = typeOfSchema(s.Items); strings.Contains(text, " ") {
			text = "(" + text + ")"
		}
		text += "[]"
	case s.Type == huma.TypeInteger || s.Type == huma.TypeNumber:
		text = "number"
	case s.Type == huma.TypeBoolean:
		text = "boolean"
	case s.Type == huma.TypeString:
		text = "string"
	case s.Type == huma.TypeObject && s.AdditionalProperties != nil:
		inner, _ := s.AdditionalProperties.(*huma.Schema)
		text = "Record<string, unknown>"
		if inner != nil {
			text = "Record<string, " + typeOfSchema(inner) + ">"
		}
	default:
		text = "unknown"
	}
	if s.Nullable {
		text += " | null"
	}
	return text
}
