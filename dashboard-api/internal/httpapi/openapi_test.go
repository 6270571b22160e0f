package httpapi

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDescriptionListsEveryRoute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.do("GET", "/api/openapi.json", "")
	var document struct {
		OpenAPI string `json:"openapi"`
		Info    struct{ Title, Version string }
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Policy      string `json:"x-policy"`
			Security    []any
			Responses   map[string]struct {
				Description string
				Content     map[string]any
			}
			Parameters []struct {
				Name, In string
				Schema   any
			}
			RequestBody struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct {
			Schemas         map[string]any
			SecuritySchemes map[string]any
		}
	}
	got.into(t, &document)
	if document.OpenAPI != "3.1.0" || document.Info.Title == "" || document.Info.Version != "test" || got.Header().Get("Content-Type") != "application/json" {
		t.Errorf("not an OpenAPI 3.1 document: %.200s", got.text)
	}
	var listed []string
	ids, unasked := map[string]bool{}, maps.Clone(unkeyed)
	for path, operations := range document.Paths {
		for method, op := range operations {
			pattern := strings.ToUpper(method) + " " + path
			listed = append(listed, pattern)
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s has operation id %q", pattern, op.OperationID)
			}
			ids[op.OperationID] = true
			if op.Policy != policies[pattern].String() || (op.Policy == "public") != (len(op.Security) == 0) {
				t.Errorf("%s says policy %q and security %v", pattern, op.Policy, op.Security)
			}
			if _, found := op.Responses["default"].Content[problemType]; !found || len(op.Responses) < 2 {
				t.Errorf("%s says responses %v", pattern, op.Responses)
			}
			for _, parameter := range op.Parameters {
				if parameter.Name == "" || parameter.In == "" || parameter.Schema == nil {
					t.Errorf("%s has parameter %+v", pattern, parameter)
				}
			}
			if method == "post" {
				keyed := slices.ContainsFunc(op.Parameters, func(p struct {
					Name, In string
					Schema   any
				}) bool {
					return p.Name == "Idempotency-Key"
				})
				delete(unasked, path)
				if why := unkeyed[path]; keyed == (why != "") {
					t.Errorf("%s takes an Idempotency-Key: %v, %q", pattern, keyed, why)
				}
			}
			if strings.Contains(path, "{id}") && !slices.ContainsFunc(op.Parameters, func(p struct {
				Name, In string
				Schema   any
			}) bool {
				return p.Name == "id" && p.In == "path"
			}) {
				t.Errorf("%s does not describe its id", pattern)
			}
			if (method == "post" || method == "patch") && !takesNoDocument(path) {
				if body := op.RequestBody.Content["application/json"]; body.Schema["$ref"] == nil {
					t.Errorf("%s does not describe its body: %v", pattern, op.RequestBody)
				}
			}
		}
	}
	if len(unasked) > 0 {
		t.Errorf("there is no POST to %v", unasked)
	}
	slices.Sort(listed)
	if want := b.router.patterns(); !slices.Equal(listed, want) {
		t.Errorf("document lists %v, routes are %v", listed, want)
	}
	for _, ref := range regexp.MustCompile(`"\$ref":"([^"]*)"`).FindAllStringSubmatch(got.text, -1) {
		name, found := strings.CutPrefix(ref[1], "#/components/schemas/")
		if _, there := document.Components.Schemas[name]; !found || !there {
			t.Errorf("reference to %q leads nowhere", ref[1])
		}
	}
	checkTypes(t, "", json.RawMessage(got.text))
}

// unkeyed are the paths to which the same request may be sent again without a key, and why.
var unkeyed = map[string]string{
	"/api/v1/targets:batch":                            "says what is to be",
	"/api/v1/targets:import":                           "says what is to be",
	"/api/v1/dead-letters:replay":                      "says what is to be",
	"/api/v1/incidents/{id}:acknowledge":               "says what is to be",
	"/api/v1/regions/{region}/probers/{prober}:drain":  "says what is to be",
	"/api/v1/regions/{region}/probers/{prober}:resume": "says what is to be",
	"/api/v1/policies:replay":                          "only asks",
	"/api/v1/notification-rules:match":                 "only asks",
	"/api/v1/invitations":                              "answers a secret, and kept answers are not sealed",
	"/api/v1/keys":                                     "answers a secret, and kept answers are not sealed",
	"/api/v1/targets/{id}/heartbeat/token":             "answers a secret, and kept answers are not sealed",
	"/api/v1/session/second-factor":                    "answers a secret, and kept answers are not sealed",
	"/api/v1/setup":                                    "counts once, by its token or its session",
	"/api/v1/session":                                  "counts once, by its token or its session",
	"/api/v1/session:verify":                           "counts once, by its token or its session",
	"/api/v1/session/provider":                         "counts once, by its token or its session",
	"/api/v1/invitations:accept":                       "counts once, by its token or its session",
	"/api/v1/session/passkey:begin":                    "counts once, by its token or its session",
	"/api/v1/session/passkey:finish":                   "counts once, by its token or its session",
	"/api/v1/session/passkeys":                         "counts once, by its token or its session",
	"/api/v1/session/passkeys:finish":                  "counts once, by its token or its session",
	"/api/v1/session/passkeys/{id}:remove":             "counts once, by its token or its session",
	"/api/v1/session/second-factor:confirm":            "counts once, by its token or its session",
	"/api/v1/session/second-factor:remove":             "counts once, by its token or its session",
	"/api/v1/channels/{id}:test":                       "is sent again on purpose",
	"/api/v1/heartbeats/{token}":                       "is sent again on purpose",
	"/api/v1/heartbeats/{token}/{signal}":              "is sent again on purpose",
}

// checkTypes walks the schemas: every type is one that JSON Schema 2020-12 knows,
// and the 3.0 way of saying null is nowhere.
func checkTypes(t *testing.T, at string, raw json.RawMessage) {
	t.Helper()
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		if _, found := object["nullable"]; found && !strings.HasSuffix(at, "/properties") {
			t.Errorf("%s uses nullable, which 3.1 does not know", at)
		}
		for name, value := range object {
			checkTypes(t, at+"/"+name, value)
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, value := range list {
			checkTypes(t, at, value)
		}
	}
}
