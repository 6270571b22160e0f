package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStatusPageExport(t *testing.T) {
	t.Parallel()
	answer := `{"made_at":"2026-03-01T12:00:00Z","files":{"index.html":"<!doctype html>","page.css":"a{}"}}`
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer k":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/api/v1/status-pages" && r.URL.Query().Get("cursor") == "":
			_, _ = io.WriteString(w, `{"items":[{"id":3,"slug":"draft"}],"next_cursor":"more"}`)
		case r.URL.Path == "/api/v1/status-pages":
			_, _ = io.WriteString(w, `{"items":[{"id":7,"slug":"main","published":true}],"next_cursor":""}`)
		case r.URL.Path == "/api/v1/status-pages/7/copy":
			_, _ = io.WriteString(w, answer)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(api.Close)
	dir := filepath.Join(t.TempDir(), "copy")
	export := func(slug string) (int, string) {
		code, out, errOut := probefleet("status-page", "export", slug, dir, "--api", api.URL, "--key", "k")
		return code, out + errOut
	}
	for range 2 { // the second replaces the first
		if code, said := export("main"); code != 0 || !strings.Contains(said, "2 files in "+dir+", as of 2026-03-01T12:00:00Z") {
			t.Fatalf("%d %s", code, said)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "page.css")); err != nil || string(text) != "a{}" {
		t.Errorf("%s %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	for slug, want := range map[string]string{"draft": "publish it first", "other": "no status page other"} {
		if code, said := export(slug); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", slug, code, said)
		}
	}
	answer = `{"made_at":"2026-03-01T12:00:00Z","files":{"index.html":"x","../evil":"x"}}`
	if code, said := export("main"); code == 0 || !strings.Contains(said, "no file of a page") {
		t.Errorf("%d %s", code, said)
	}
}
