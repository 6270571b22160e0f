// Package web holds the dashboard, built by Vite into dist and embedded here.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
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

// Handler serves the dashboard: files as they are, compressed for whoever takes that, and
// index.html for every other path, since pages have addresses of their own.
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
	var packed packer
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		switch {
		case name != "" && name != "index.html" && serveFile(w, r, files, name, &packed):
		case looksLikeFile(name):
			http.Error(w, "there is no such file", http.StatusNotFound) // an old asset must fail, not be a page
		case !built:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(unbuilt))
		default:
			w.Header().Set("Cache-Control", "no-cache")
			packed.serve(w, r, "index.html", index)
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

func serveFile(w http.ResponseWriter, r *http.Request, files fs.FS, name string, packed *packer) bool {
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
	packed.serve(w, r, name, content)
	return true
}

// packer compresses every file once, when it is first asked for.
type packer struct{ files sync.Map } // of func() []byte, by name

func (p *packer) serve(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	if packs(name) {
		w.Header().Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			small, _ := p.files.LoadOrStore(name, sync.OnceValue(func() []byte { return pack(content) }))
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			w.Header().Set("Content-Encoding", "gzip")
			content = small.(func() []byte)()
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

func packs(name string) bool {
	switch path.Ext(name) {
	case ".html", ".js", ".css", ".svg", ".json":
		return true
	}
	return false
}

func pack(content []byte) []byte {
	var small bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // a level there is, into memory: neither can fail
	_, _ = zip.Write(content)
	_ = zip.Close()
	return small.Bytes()
}

// acceptsGzip says whether gzip is among the codings that are taken, and not with a weight of 0.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return q == "" || strings.Trim(strings.TrimPrefix(strings.TrimSpace(q), "q="), "0.") != ""
		}
	}
	return false
}

func looksLikeFile(name string) bool {
	return strings.HasPrefix(name+"/", "assets/") || name != "" && strings.HasPrefix(path.Base(name), ".")
}
