package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestTagsOfTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/","tags":["Team:DB","prod","PROD"]}`, as(editorKey))
	if made.Code != http.StatusCreated || !strings.Contains(made.text, `"tags":["prod","team:db"]`) {
		t.Fatalf("%d %s", made.Code, made.text)
	}
	b.create(`{"url":"https://example.org/","tags":["prod"]}`)
	b.create(`{"url":"https://example.net/"}`)
	listed := func(query string) (names []string) {
		t.Helper()
		var list struct{ Items []targetJSON }
		b.do("GET", "/api/v1/targets?"+query, "", as(viewerKey)).into(t, &list)
		for _, target := range list.Items {
			names = append(names, target.Name)
		}
		return names
	}
	for query, want := range map[string][]string{
		"tag=prod": {"example.com", "example.org"}, "tag=Prod&tag=team:db": {"example.com"}, "tag=prod&search=org": {"example.org"}, "tag=none": nil, "": {"example.com", "example.org", "example.net"},
	} {
		if got := listed(query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if p := b.do("GET", "/api/v1/targets?tag=a%20b", "", as(viewerKey)).problem(t); p.Status != http.StatusUnprocessableEntity || p.Errors[0].Parameter != "tag" {
		t.Errorf("%+v", p)
	}
	if got := b.do("GET", "/api/v1/live/snapshot", "", as(viewerKey)); !strings.Contains(got.text, `"tags":["prod","team:db"]`) || !strings.Contains(got.text, `"tags":[]`) {
		t.Errorf("%s", got.text)
	}
	for body, want := range map[string]string{
		`{"tags":["ok","not ok"]}`: "/tags/1 invalid_text",
		`{"tags":[""]}`:            "/tags/0 invalid_text",
		fmt.Sprintf(`{"tags":["a"%s]}`, strings.Repeat(`,"a"`, 20)): "/tags too_long",
	} {
		p := b.do("PATCH", "/api/v1/targets/1", body, as(editorKey)).problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer+" "+p.Errors[0].Code != want {
			t.Errorf("%s: %+v", body, p)
		}
	}
	for _, c := range [][2]string{{`{"name":"x"}`, `"tags":["prod","team:db"]`}, {`{"tags":["web"]}`, `"tags":["web"]`}, {`{"tags":null}`, `"tags":[]`}} {
		if got := b.do("PATCH", "/api/v1/targets/1", c[0], as(editorKey)); got.Code != http.StatusOK || !strings.Contains(got.text, c[1]) {
			t.Errorf("%s: %d %s", c[0], got.Code, got.text)
		}
	}
	if got := listed("tag=web"); got != nil {
		t.Errorf("%q", got)
	}
}
