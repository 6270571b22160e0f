package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

type option func(*http.Request)

func header(name, value string) option { return func(r *http.Request) { r.Header.Set(name, value) } }

func as(key string) option {
	if key == "" {
		return func(*http.Request) {}
	}
	return header("Authorization", "Bearer "+key)
}

// reply is an answer with its body read.
type reply struct {
	*httptest.ResponseRecorder
	text string
}

func (b *bench) do(method, path, body string, options ...option) reply {
	b.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(b.Context(), method, path, reader)
	if method == http.MethodPost || method == http.MethodPatch || method == http.MethodPut {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(r)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return reply{w, w.Body.String()}
}

func (r reply) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.text), v); err != nil {
		t.Fatalf("answer %d %q: %v", r.Code, r.text, err)
	}
}

func (r reply) problem(t testing.TB) Problem {
	t.Helper()
	if ct := r.Header().Get("Content-Type"); ct != problemType {
		t.Fatalf("answer %d has type %q: %s", r.Code, ct, r.text)
	}
	var p Problem
	r.into(t, &p)
	if p.Status != r.Code || p.RequestID == "" || p.RequestID != r.Header().Get("X-Request-Id") || p.Code == "" || p.Type != "urn:probefleet:problem:"+p.Code {
		t.Fatalf("malformed problem: %d %s", r.Code, r.text)
	}
	return p
}

// targetJSON is a target as callers see it.
type targetJSON struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	URL         string   `json:"url"`
	Kind        string   `json:"kind"`
	IntervalS   int64    `json:"interval_s"`
	TimeoutMS   int64    `json:"timeout_ms"`
	Regions     []string `json:"regions"`
	Active      bool     `json:"active"`
	Expect      struct{ Status []string }
	SpecVersion int64  `json:"spec_version"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"`
}

// create registers a target as an editor.
func (b *bench) create(body string) targetJSON {
	b.Helper()
	got := b.do("POST", "/api/v1/targets", body, as(editorKey))
	if got.Code != http.StatusCreated {
		b.Fatalf("create %s: %d %s", body, got.Code, got.text)
	}
	var target targetJSON
	got.into(b, &target)
	return target
}

func (b *bench) stored() []uptime.Target {
	b.Helper()
	all, err := b.targets.List(b.Context(), targetstore.Filter{Limit: 1000})
	if err != nil {
		b.Fatal(err)
	}
	return all
}
