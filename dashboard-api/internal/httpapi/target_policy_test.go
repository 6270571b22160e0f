package httpapi

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/verdict"
)

// policyJSON is a target's policy as callers see it.
type policyJSON struct{ Policy map[string]any }

// A policy is kept as it was written, through edits of everything else, and counts at once.
func TestPolicyOfATarget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/","policy":{"quorum":{"rule":"count","count":2},"down_after":3,"for_s":60,"degraded":{"latency_ms":500},"flapping":{"begin":1.2}}}`, as(editorKey))
	if got.Code != http.StatusCreated {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	want := verdict.Policy{Quorum: verdict.Quorum{Rule: verdict.QuorumCount, Count: 2}, DownAfter: 3, ForS: 60, Degraded: verdict.Degraded{LatencyMS: 500}, Flapping: verdict.Flapping{Begin: 1.2}}
	check := func(when string, want verdict.Policy) {
		t.Helper()
		if diff := cmp.Diff(want, b.hub.Watched()[0].Rules.Policy); diff != "" {
			t.Errorf("%s: judged by %s", when, diff)
		}
		if diff := cmp.Diff(want, verdict.Stored(b.stored()[0].Policy)); diff != "" {
			t.Errorf("%s: stored %s", when, diff)
		}
		var read struct{ Policy verdict.Policy }
		b.do("GET", "/api/v1/targets/1", "", as(viewerKey)).into(t, &read)
		if diff := cmp.Diff(want, read.Policy); diff != "" {
			t.Errorf("%s: answered %s", when, diff)
		}
	}
	check("created", want)
	patch := func(body string) {
		t.Helper()
		if got := b.do("PATCH", "/api/v1/targets/1", body, as(editorKey)); got.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", body, got.Code, got.text)
		}
	}
	patch(`{"name":"another","interval_s":30}`)
	check("renamed", want)
	patch(`{"policy":{"up_after":2,"quorum":null,"open_on":"degraded"}}`)
	check("replaced", verdict.Policy{UpAfter: 2, OpenOn: verdict.SeverityDegraded})
	var read policyJSON
	b.do("GET", "/api/v1/targets/1", "", as(viewerKey)).into(t, &read)
	if diff := cmp.Diff(map[string]any{"up_after": 2.0, "open_on": "degraded"}, read.Policy); diff != "" {
		t.Error(diff)
	}
	before := b.stored()[0].SpecVersion
	patch(`{"policy":null}`)
	check("default", verdict.Policy{})
	patch(`{"policy":{}}`)
	if after := b.stored()[0]; after.SpecVersion != before+1 || after.Policy != "" {
		t.Errorf("an edit of nothing: version %d after %d, %q", after.SpecVersion, before, after.Policy)
	}
}

// A changed policy plans the same slots: to the publisher it is the same schedule.
func TestPolicyIsNoPartOfTheSchedule(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/","interval_s":30,"regions":["eu"]}`)
	got := b.do("PATCH", "/api/v1/targets/1", `{"policy":{"down_after":2}}`, as(editorKey))
	var answer struct {
		PreviewCheckID string `json:"preview_check_id"`
	}
	got.into(t, &answer)
	if got.Code != http.StatusOK || answer.PreviewCheckID != "" {
		t.Errorf("a check was made for another policy: %s", got.text)
	}
	var versions []schedulestore.Version
	err := schedulestore.New(b.db).EachVersion(t.Context(), 0, func(v schedulestore.Version) error { versions = append(versions, v); return nil })
	if err != nil || len(versions) == 0 {
		t.Fatal(versions, err)
	}
	for _, v := range versions[1:] {
		if diff := cmp.Diff(versions[0].Schedule, v.Schedule); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMistakesInAPolicyPointAtTheirField(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	for policy, want := range map[string]Mistake{
		`{"quorum":{"rule":"count"}}`:          {Pointer: "/policy/quorum/count", Code: "out_of_range"},
		`{"quorum":{"rule":"most"}}`:           {Pointer: "/policy/quorum/rule", Code: "unknown_value"},
		`{"quorum":{"count":2}}`:               {Pointer: "/policy/quorum/count", Code: "conflict"},
		`{"quorum":{"n":2}}`:                   {Pointer: "/policy/quorum/n", Code: "unknown_field"},
		`{"down_after":11}`:                    {Pointer: "/policy/down_after", Code: "out_of_range"},
		`{"down_after":"3"}`:                   {Pointer: "/policy/down_after", Code: "invalid_type"},
		`{"up_after":1.5}`:                     {Pointer: "/policy/up_after", Code: "invalid_type"},
		`{"for_s":-1}`:                         {Pointer: "/policy/for_s", Code: "out_of_range"},
		`{"open_on":"up"}`:                     {Pointer: "/policy/open_on", Code: "unknown_value"},
		`{"degraded":{"certificate_days":-1}}`: {Pointer: "/policy/degraded/certificate_days", Code: "out_of_range"},
		`{"flapping":{"end":3}}`:               {Pointer: "/policy/flapping/end", Code: "out_of_range"},
		`[]`:                                   {Pointer: "/policy", Code: "invalid_type"},
	} {
		for method, path := range map[string]string{"POST": "/api/v1/targets", "PATCH": "/api/v1/targets/1"} {
			got := b.do(method, path, `{"url":"https://example.com/a","policy":`+policy+`}`, as(editorKey))
			p := got.problem(t)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != want.Pointer || p.Errors[0].Code != want.Code || p.Errors[0].Message == "" {
				t.Errorf("%s %s: %d %+v", method, policy, got.Code, p.Errors)
			}
		}
	}
	if all := b.stored(); len(all) != 1 || all[0].Policy != "" {
		t.Errorf("stored %+v", all)
	}
	if got := b.do("POST", "/api/v1/checks", `{"url":"https://example.com/","policy":{}}`, as(editorKey)); got.Code != http.StatusBadRequest || got.problem(t).Errors[0].Pointer != "/policy" {
		t.Errorf("a check on demand took a policy: %d %s", got.Code, got.text)
	}
}
