package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Policy is who may use a route. The zero value is no policy: such a route does not start.
type Policy int

// Policies, each including the ones after it: what an owner may, and so on down.
const (
	undeclared Policy = iota
	Public            // anyone, without an account
	Viewer            // any account or key
	Editor            // may change targets
	Owner             // may change accounts and keys
)

func (p Policy) String() string {
	return [...]string{"undeclared", "public", "viewer", "editor", "owner"}[p]
}

// router is the mux that huma registers on. It accepts only routes that were
// declared with a policy, and puts the check of that policy in front of them, so
// no way of registering a route leads around it.
type router struct {
	mux      *http.ServeMux
	api      huma.API
	policies map[string]Policy                  // by "METHOD /path"
	ids      map[string]string                  // of operations, likewise
	actions  map[string]map[string]http.Handler // what can be done with the same thing, by pattern without the word, then by word
	errs     []error
	guard    func(Policy, string, http.Handler) http.Handler
	again    func(ctx context.Context, policy Policy, pattern string) error // judges who is asking once more
	toError  func(context.Context, error) error
}

func newRouter(config huma.Config, guard func(Policy, string, http.Handler) http.Handler, toError func(context.Context, error) error) *router {
	r := &router{mux: http.NewServeMux(), policies: map[string]Policy{}, ids: map[string]string{}, actions: map[string]map[string]http.Handler{}, guard: guard, toError: toError}
	r.api = humago.New(r, config)
	return r
}

// HandleFunc is what huma calls for each operation.
func (r *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	policy := r.policies[pattern]
	if policy == undeclared {
		r.errs = append(r.errs, fmt.Errorf("route %q has no policy: declare who may use it in routes.go", pattern))
		return
	}
	served := named(r.ids[pattern], r.guard(policy, pattern, http.HandlerFunc(handler)))
	if action := actionPattern.FindStringSubmatch(pattern); action != nil { // the mux knows no part of a segment
		r.action(action[1], action[2], action[3], served)
		return
	}
	r.mux.Handle(pattern, served)
}

// named tells a request of which operation it is.
func named(id string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		next.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), keyOperation, id)))
	})
}

func operationOf(ctx context.Context) string {
	id, _ := ctx.Value(keyOperation).(string)
	return id
}

// actionPattern is a route that does something with what its last segment names: POST /things/{id}:do.
var actionPattern = regexp.MustCompile(`^(\w+ .*/\{(\w+)\}):(\w+)$`)

// action has the requests served whose last segment ends in the action's word.
func (r *router) action(pattern, parameter, word string, next http.Handler) {
	if r.actions[pattern] != nil {
		r.actions[pattern][word] = next
		return
	}
	words := map[string]http.Handler{word: next}
	r.actions[pattern] = words
	r.mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) {
		value := req.PathValue(parameter)
		at := strings.LastIndexByte(value, ':')
		next := words[value[at+1:]]
		if at < 0 || next == nil {
			r.noRoute(w, req)
			return
		}
		req.SetPathValue(parameter, value[:at])
		next.ServeHTTP(w, req)
	})
}

// ServeHTTP serves a request by the declared routes.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.mux.ServeHTTP(w, req) }

func (r *router) declare(policy Policy, op *huma.Operation) string {
	pattern := op.Method + " " + op.Path
	op.Responses = map[string]*huma.Response{"default": {
		Description: "A problem",
		Content:     map[string]*huma.MediaType{problemType: {Schema: r.api.OpenAPI().Components.Schemas.Schema(typeOf[Problem](), true, "Problem")}},
	}}
	if policy == undeclared {
		return pattern // refused by HandleFunc
	}
	r.policies[pattern], r.ids[pattern] = policy, op.OperationID
	op.Metadata = map[string]any{"policy": policy}
	op.Extensions = map[string]any{"x-policy": policy.String()}
	if policy != Public {
		op.Extensions["x-scope"] = scopeOf(policy, pattern)
		op.Security = []map[string][]string{{"key": {}}, {"cookie": {}}}
	}
	return pattern
}

// operation is one line of the route table.
type operation struct {
	method, path string
	policy       Policy
	id, summary  string
	status       int // of success; 0 is 200, or 204 without a body
}

// add registers a handler with typed input and output.
func add[I, O any](r *router, o operation, handler func(context.Context, *I) (*O, error)) {
	op := o.huma()
	pattern := r.declare(o.policy, &op)
	huma.Register(r.api, op, func(ctx context.Context, in *I) (*O, error) {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		// A body may take its time to come: who may write is who may when it is there.
		if o.method != http.MethodGet && o.policy != Public && r.again != nil {
			if err := r.again(ctx, o.policy, pattern); err != nil {
				return nil, err
			}
		}
		out, err := handler(ctx, in)
		if err != nil {
			return nil, r.toError(ctx, err)
		}
		return out, nil
	})
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// answers documents what a GET that answers with bytes answers, by media type.
func (r *router) answers(path string, content map[string]reflect.Type) {
	media := map[string]*huma.MediaType{}
	for name, t := range content {
		media[name] = &huma.MediaType{Schema: r.api.OpenAPI().Components.Schemas.Schema(t, true, "")}
	}
	r.api.OpenAPI().Paths[path].Get.Responses["200"].Content = media
}

// streams documents what a route that writes its own answer sends, by media type: lines.
func (r *router) streams(method, path string, media ...string) {
	content := map[string]*huma.MediaType{}
	for _, name := range media {
		content[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	op := r.api.OpenAPI().Paths[path].Get
	if method == http.MethodPost {
		op = r.api.OpenAPI().Paths[path].Post
	}
	op.Responses["200"] = &huma.Response{Description: "OK", Content: content}
}

// raw registers a handler that writes its own answer; huma only documents it.
func raw(r *router, o operation, handler http.Handler) {
	op := o.huma()
	pattern := r.declare(o.policy, &op)
	op.Responses["200"] = &huma.Response{Description: "OK"}
	for _, found := range pathParameter.FindAllStringSubmatch(o.path, -1) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: found[1], In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	if o.method == http.MethodPost {
		op.RequestBody = &huma.RequestBody{Description: "any text", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}
	}
	r.api.OpenAPI().AddOperation(&op)
	r.HandleFunc(pattern, handler.ServeHTTP)
}

func (o operation) huma() huma.Operation {
	most, patience := int64(maxBody), bodyPatience
	if o.path == importPath { // a file, as it was exported
		most, patience = maxImportBody, importPatience
	}
	return huma.Operation{
		Method: o.method, Path: o.path, OperationID: o.id, Summary: o.summary, DefaultStatus: o.status,
		SkipValidateBody: true, // decode does, with exact codes and pointers
		MaxBodyBytes:     most + 1,
		BodyReadTimeout:  patience,
	}
}

// finish answers what no route matches under /api, and reports every route that was refused.
func (r *router) finish() error {
	r.mux.HandleFunc("/api/", r.noRoute)
	return errors.Join(r.errs...)
}

func (r *router) noRoute(w http.ResponseWriter, req *http.Request) {
	if allowed := r.allowed(req); len(allowed) > 0 {
		p := problem(http.StatusMethodNotAllowed, "method_not_allowed", req.Method+" is not possible here")
		for _, method := range allowed {
			p.headers = http.Header{"Allow": append(p.headers["Allow"], method)}
		}
		p.write(w, req)
		return
	}
	problem(http.StatusNotFound, codeNotFound, "there is no such route").write(w, req)
}

// allowed are the methods that do have a route at the request's path.
func (r *router) allowed(req *http.Request) []string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := req.Clone(req.Context())
		probe.Method = method
		if _, pattern := r.mux.Handler(probe); pattern != "/api/" && pattern != "" && (r.policies[pattern] != undeclared || strings.Contains(req.URL.Path, ":")) {
			methods = append(methods, method)
		}
	}
	return methods
}

// patterns lists the declared routes.
func (r *router) patterns() []string { return slices.Sorted(maps.Keys(r.policies)) }
