// Package web holds the dashboard, built by Vite into dist and embedded here.
package web

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed all:dist
var dist embed.FS

// policy is the content policy of the pages: scripts, styles, fonts and data come
// from this host alone, nothing is inline but style attributes, nobody may frame
// them. 'self' covers the websocket in every current browser.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const unbuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Probefleet</title>
<h1>The dashboard is not built into this program</h1>
<p>The API under <code>/api/v1</code> works. For the pages, run <code>make build</code> and start the new program.</p>
</html>
`

// Handler serves the dashboard: files as they are, and index.html for every other
// path, since pages have addresses of their own.
func Handler() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		files = dist // "dist" is a valid path: cannot happen
	}
	return handler(files)
}

func handler(files fs.FS) http.Handler {
	index, err := fs.ReadFile(files, "index.html")
	built := err == nil
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		switch {
		case name != "" && name != "index.html" && serveFile(w, r, files, name):
		case looksLikeFile(name):
			http.Error(w, "there is no such file", http.StatusNotFound) // an old asset must fail, not be a page
		case !built:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(unbuilt))
		default:
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, "index.html", time.Time{}, bytes.NewReader(index))
		}
	})
}

func secure(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

func serveFile(w http.ResponseWriter, r *http.Request, files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	if err != nil || info.IsDir() || strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return false
	}
	if strings.HasPrefix(name, "assets/") {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // Vite puts a hash into these names
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	return true
}

func looksLikeFile(name string) bool {
	return strings.HasPrefix(name+"/", "assets/") || name != "" && strings.HasPrefix(path.Base(name), ".")
}
