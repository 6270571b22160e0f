package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	built := handler(fstest.MapFS{
		"index.html":          {Data: []byte("<!doctype html>page")},
		"assets/index-abc.js": {Data: []byte("code")},
		"icons/ok.svg":        {Data: []byte("<svg/>")},
		".gitkeep":            {},
	})
	empty := handler(fstest.MapFS{".gitkeep": {}})
	for _, c := range []struct {
		handler        http.Handler
		method, path   string
		status         int
		contains, kept string
	}{
		{built, "GET", "/", 200, "page", "no-cache"},
		{built, "GET", "/targets/7?tab=checks", 200, "page", "no-cache"},
		{built, "GET", "/index.html", 200, "page", "no-cache"},
		{built, "HEAD", "/setup", 200, "", "no-cache"},
		{built, "GET", "/assets/index-abc.js", 200, "code", "public, max-age=31536000, immutable"},
		{built, "GET", "/assets/index-old.js", 404, "", ""},
		{built, "GET", "/assets/", 404, "", ""},
		{built, "GET", "/icons/ok.svg", 200, "<svg/>", "no-cache"},
		{built, "GET", "/.gitkeep", 404, "", ""},
		{built, "GET", "/../../etc/passwd", 200, "page", "no-cache"},
		{built, "POST", "/", 405, "", ""},
		{empty, "GET", "/", 503, "make build", "no-store"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, "http://localhost/", nil)
		r.URL.Path, _, _ = strings.Cut(c.path, "?")
		c.handler.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.contains) || w.Header().Get("Cache-Control") != c.kept {
			t.Errorf("%s %s: %d %q, kept %q", c.method, c.path, w.Code, w.Body.String(), w.Header().Get("Cache-Control"))
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: headers %v", c.method, c.path, w.Header())
		}
	}
}
