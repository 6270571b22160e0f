package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestProblemsAreGolden(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := header("X-Request-Id", "abc-123")
	for _, c := range []struct {
		name, method, path, body string
		options                  []option
		want                     string
	}{
		{"anonymous", "GET", "/api/v1/targets", "", nil,
			`{"type":"urn:probefleet:problem:unauthorized","title":"Unauthorized","status":401,"detail":"sign in, or send an API key: Authorization: Bearer KEY","code":"unauthorized","request_id":"abc-123","setup_needed":true}`},
		{"anonymous session", "GET", "/api/v1/session", "", nil,
			`{"type":"urn:probefleet:problem:unauthorized","title":"Unauthorized","status":401,"detail":"sign in, or send an API key: Authorization: Bearer KEY","code":"unauthorized","request_id":"abc-123","setup_needed":true}`},
		{"forbidden", "DELETE", "/api/v1/targets/1", "", []option{as(viewerKey)},
			`{"type":"urn:probefleet:problem:forbidden","title":"Forbidden","status":403,"detail":"this needs the role editor, yours is viewer","code":"forbidden","request_id":"abc-123"}`},
		{"not found", "GET", "/api/v1/targets/1", "", []option{as(viewerKey)},
			`{"type":"urn:probefleet:problem:not_found","title":"Not Found","status":404,"detail":"there is no such target","code":"not_found","request_id":"abc-123"}`},
		{"mistake", "POST", "/api/v1/targets", `{"url":"https://example.com/","interval_s":1}`, []option{as(editorKey)},
			`{"type":"urn:probefleet:problem:interval_out_of_range","title":"Unprocessable Entity","status":422,"detail":"an interval is from 10 to 86400 seconds","code":"interval_out_of_range","request_id":"abc-123","errors":[{"pointer":"/interval_s","code":"interval_out_of_range","message":"an interval is from 10 to 86400 seconds"}]}`},
		{"unknown field", "POST", "/api/v1/targets", `{"url":"https://example.com/","role":"owner"}`, []option{as(editorKey)},
			`{"type":"urn:probefleet:problem:unknown_field","title":"Bad Request","status":400,"detail":"there is no field \"role\" here, or it cannot be set","code":"unknown_field","request_id":"abc-123","errors":[{"pointer":"/role","code":"unknown_field","message":"there is no field \"role\" here, or it cannot be set"}]}`},
		{"malformed", "POST", "/api/v1/targets", `{"url"`, []option{as(editorKey)},
			`{"type":"urn:probefleet:problem:malformed_json","title":"Bad Request","status":400,"detail":"the body is not JSON: it ends too soon","code":"malformed_json","request_id":"abc-123","errors":[{"code":"malformed_json","message":"the body is not JSON: it ends too soon"}]}`},
		{"parameter", "GET", "/api/v1/targets?limit=5000", "", []option{as(viewerKey)},
			`{"type":"urn:probefleet:problem:invalid_parameter","title":"Unprocessable Entity","status":422,"detail":"expected number <= 1000","code":"invalid_parameter","request_id":"abc-123","errors":[{"parameter":"limit","code":"invalid_parameter","message":"expected number <= 1000"}]}`},
		{"no route", "GET", "/api/v1/nothing", "", nil,
			`{"type":"urn:probefleet:problem:not_found","title":"Not Found","status":404,"detail":"there is no such route","code":"not_found","request_id":"abc-123"}`},
		{"wrong method", "DELETE", "/api/v1/ledger", "", nil,
			`{"type":"urn:probefleet:problem:method_not_allowed","title":"Method Not Allowed","status":405,"detail":"DELETE is not possible here","code":"method_not_allowed","request_id":"abc-123"}`},
	} {
		got := b.do(c.method, c.path, c.body, append(c.options, id)...)
		if diff := cmp.Diff(c.want, strings.TrimSpace(got.text)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		got.problem(t)
	}
	if got := b.do("DELETE", "/api/v1/ledger", ""); got.Header().Get("Allow") != "GET" {
		t.Errorf("Allow: %v", got.Header()["Allow"])
	}
	if got := b.do("GET", "/api/v1/targets", "", header("X-Request-Id", "a b\"")); strings.Contains(got.Header().Get("X-Request-Id"), "a b") {
		t.Error("a request id of strange characters was taken over")
	}
}

func TestOutagesSayWhenToComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	down := func(path string) {
		t.Helper()
		got := b.do("GET", path, "", as(viewerKey))
		if p := got.problem(t); got.Code != http.StatusServiceUnavailable || p.Code != "unavailable" || got.Header().Get("Retry-After") == "" || strings.Contains(got.text, "secret") {
			t.Errorf("%s: %d %v %s", path, got.Code, got.Header(), got.text)
		}
	}
	b.results.err, b.ledger.err, b.fleet.err = errors.New("dial secret-host"), errors.New("dial secret-host"), errors.New("dial secret-host")
	for _, path := range []string{"/api/v1/targets/1/results", "/api/v1/targets/1/series", "/api/v1/targets/1/uptime", "/api/v1/targets:figures?ids=1", "/api/v1/results/latest?ids=1", "/api/v1/results/current",
		"/api/v1/targets/1/matrix", "/api/v1/targets/1/failures", "/api/v1/targets/1/histogram", "/api/v1/ledger", "/api/v1/fleet"} {
		down(path)
	}
	for _, path := range []string{"/api/v1/targets", "/api/v1/targets/1", "/api/v1/live/snapshot"} {
		if got := b.do("GET", path, "", as(viewerKey)); got.Code != http.StatusOK {
			t.Errorf("%s needs only the database: %d", path, got.Code)
		}
	}
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/v1/targets", "/api/v1/live/snapshot"} {
		down(path) // who is asking cannot be known: neither yes nor no
	}
}

func TestUnknownErrorsSayNothing(t *testing.T) {
	t.Parallel()
	p := problemOf(errors.New("password of the database is hunter2"))
	if p.Status != http.StatusInternalServerError || strings.Contains(p.Detail, "hunter2") || p.cause == nil {
		t.Errorf("%+v", p)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.do("POST", "/api/v1/targets", `{"url":"`+strings.Repeat("a", maxBody)+`"}`, as(editorKey))
	if got.Code != http.StatusRequestEntityTooLarge || got.problem(t).Code != "too_large" {
		t.Errorf("%d %.200s", got.Code, got.text)
	}
	got = b.do("POST", "/api/v1/targets", strings.Repeat(`{"a":`, 50_000)+`1`+strings.Repeat(`}`, 50_000), as(editorKey))
	if got.Code != http.StatusBadRequest {
		t.Errorf("deep nesting: %d %.200s", got.Code, got.text)
	}
}

func TestPanicIsOneRequestsProblem(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.results.rows = []uptime.Result{{}}
	handler := withRequestID(withRecovery(discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") })))
	b.handler = handler
	got := b.do("GET", "/api/v1/targets", "")
	if p := got.problem(t); got.Code != 500 || strings.Contains(got.text, "secret") || p.Code != "internal" {
		t.Errorf("%d %s", got.Code, got.text)
	}
}
