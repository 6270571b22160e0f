package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestParentsOfTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"icmp://router.example/"}`)
	child := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/","parent_id":1}`, as(editorKey))
	if child.Code != http.StatusCreated || !strings.Contains(child.text, `"parent_id":1`) {
		t.Fatalf("%d %s", child.Code, child.text)
	}
	b.create(`{"url":"https://example.org/"}`)
	for body, want := range map[string]string{`{"parent_id":2}`: "invalid_parent", `{"parent_id":1}`: "invalid_parent", `{"parent_id":99}`: "not_found", `{"parent_id":0}`: "not_found"} {
		p := b.do("PATCH", "/api/v1/targets/1", body, as(editorKey)).problem(t)
		if p.Status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Pointer+" "+p.Errors[0].Code != "/parent_id "+want {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if list := b.do("GET", "/api/v1/targets?parent_id=1", "", as(viewerKey)); !strings.Contains(list.text, `"id":2`) || strings.Contains(list.text, `"id":3`) {
		t.Errorf("%s", list.text)
	}
	if got := b.do("GET", "/api/v1/live/snapshot", "", as(viewerKey)); !strings.Contains(got.text, `"parent_id":1`) || !strings.Contains(got.text, `"parent_id":null`) {
		t.Errorf("%s", got.text)
	}
	if p := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey)).problem(t); p.Status != http.StatusConflict || p.Code != "target_has_children" {
		t.Errorf("%+v", p)
	}
	if got := b.do("PATCH", "/api/v1/targets/2", `{"parent_id":null}`, as(editorKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"parent_id":null`) {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Errorf("%d %s", got.Code, got.text)
	}
}
