package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
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

func TestFilesAreCompressedForWhoTakesIt(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("export const a = 1;", 1000)
	served := handler(fstest.MapFS{
		"index.html":          {Data: []byte("<!doctype html>page")},
		"assets/index-abc.js": {Data: []byte(script)},
		"icons/ok.png":        {Data: []byte("picture")},
	})
	for _, c := range []struct{ path, takes, coding, media, body string }{
		{"/assets/index-abc.js", "br, gzip", "gzip", "text/javascript; charset=utf-8", script},
		{"/assets/index-abc.js", "GZIP;q=0.5", "gzip", "text/javascript; charset=utf-8", script},
		{"/assets/index-abc.js", "gzip;q=0.0, br", "", "text/javascript; charset=utf-8", script},
		{"/assets/index-abc.js", "", "", "text/javascript; charset=utf-8", script},
		{"/targets/7", "gzip", "gzip", "text/html; charset=utf-8", "<!doctype html>page"},
		{"/icons/ok.png", "gzip", "", "image/png", "picture"},
	} {
		for range 2 { // made, and kept
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://localhost"+c.path, nil)
			r.Header.Set("Accept-Encoding", c.takes)
			served.ServeHTTP(w, r)
			body := io.Reader(w.Body)
			if c.coding != "" && w.Body.Len() > len(c.body)/10 && len(c.body) > 1000 {
				t.Errorf("%s: %d bytes of %d", c.path, w.Body.Len(), len(c.body))
			}
			if w.Header().Get("Content-Encoding") == "gzip" {
				unpacked, err := gzip.NewReader(w.Body)
				if err != nil {
					t.Fatal(err)
				}
				body = unpacked
			}
			text, err := io.ReadAll(body)
			h := w.Header()
			if err != nil || w.Code != 200 || string(text) != c.body || h.Get("Content-Encoding") != c.coding || h.Get("Content-Type") != c.media {
				t.Errorf("%s for %q: %d, %d bytes, %v, %v", c.path, c.takes, w.Code, len(text), h, err)
			}
			if packed := c.media != "image/png"; (h.Get("Vary") == "Accept-Encoding") != packed {
				t.Errorf("%s: Vary %q", c.path, h.Get("Vary"))
			}
		}
	}
}

// What a browser puts in the place of text React can neither change nor take away: a number would stand still.
func TestBrowsersLeaveTheWordsAlone(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("index.html")
	for _, want := range []string{`<html lang="en" translate="no">`, `<meta name="google" content="notranslate" />`} {
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("no %s: %v", want, err)
		}
	}
}
