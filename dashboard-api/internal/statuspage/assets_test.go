package statuspage_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
)

// What pages load is compressed for whoever takes that, and each of its two forms has a tag of its own.
func TestAssetsAreCompressed(t *testing.T) {
	t.Parallel()
	r := &rig{TB: t, pages: statuspage.New(statuspage.Options{})} // they need nothing
	tags := map[string]string{}
	for name, media := range map[string]string{
		"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "reader.js": "text/javascript; charset=utf-8",
		"icon-up.svg": "image/svg+xml", "icon-no_data.svg": "image/svg+xml",
	} {
		path := "/s/-/" + name + "?0123"
		plain := r.get(path)
		for accept, coding := range map[string]string{"": "", "br": "", "gzip;q=0": "", "identity": "", "gzip": "gzip", "br, GZIP;q=0.5": "gzip", "gzip, deflate, br, zstd": "gzip"} {
			takes := header("Accept-Encoding", accept)
			got := r.get(path, takes)
			h, size, body := got.Header(), got.Body.Len(), io.Reader(got.Body)
			if coding != "" {
				unpacked, err := gzip.NewReader(got.Body)
				if err != nil {
					t.Fatalf("%s for %q: %v", name, accept, err)
				}
				body = unpacked
			}
			text, err := io.ReadAll(body)
			if err != nil || got.Code != http.StatusOK || string(text) != plain.Body.String() || (size < plain.Body.Len()) != (coding != "") {
				t.Errorf("%s for %q: %d, %d bytes of %d, %v", name, accept, got.Code, size, plain.Body.Len(), err)
			}
			tag := h.Get("ETag")
			for header, want := range map[string]string{
				"Content-Encoding": coding, "Content-Type": media, "Content-Length": fmt.Sprint(size), "Vary": "Accept-Encoding", "Accept-Ranges": "", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
				"X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=31536000, immutable",
			} {
				if h.Get(header) != want {
					t.Errorf("%s for %q: %s %q, want %q", name, accept, header, h.Get(header), want)
				}
			}
			if !strings.HasPrefix(tag, `"`) || len(tag) < 10 || tags[tag] != "" && tags[tag] != name+coding {
				t.Errorf("%s for %q: the tag %s, which is that of %q", name, accept, tag, tags[tag])
			}
			tags[tag] = name + coding

			head := r.get(path, takes, method(http.MethodHead))
			if head.Code != http.StatusOK || head.Body.Len() != 0 || fmt.Sprint(head.Header()) != fmt.Sprint(h) {
				t.Errorf("%s for %q: HEAD is %d with %d bytes, %v and not %v", name, accept, head.Code, head.Body.Len(), head.Header(), h)
			}
			for _, condition := range []option{header("If-Range", tag), header("If-Range", `"other"`)} { // a part of one form must never be put to a part of the other
				if part := r.get(path, takes, header("Range", "bytes=0-9"), condition); part.Code != http.StatusOK || part.Body.Len() != size || part.Header().Get("ETag") != tag {
					t.Errorf("%s for %q: a range is %d with %d bytes", name, accept, part.Code, part.Body.Len())
				}
			}
			for known, want := range map[string]int{tag: 304, `"x", W/` + tag: 304, "*": 304, `"x"`: 200} {
				again := r.get(path, takes, header("If-None-Match", known))
				if a := again.Header(); again.Code != want || want == 304 && (again.Body.Len() > 0 || a.Get("Content-Encoding") != "" || a.Get("ETag") != tag || a.Get("Vary") != "Accept-Encoding") {
					t.Errorf("%s for %q: who has %s is answered %d, %d bytes, %v", name, accept, known, again.Code, again.Body.Len(), a)
				}
			}
		}
		if got := r.get(path, header("Accept-Encoding", "gzip"), header("If-None-Match", plain.Header().Get("ETag"))); got.Code != http.StatusOK {
			t.Errorf("%s: who has the other form is answered %d", name, got.Code)
		}
		if got := r.get("/s/-/" + name).Header().Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s without its hash may be kept: %q", name, got)
		}
	}
	if len(tags) != 10 {
		t.Errorf("%d tags of five files in two forms", len(tags))
	}
}

// They are compressed once: a compressor alone takes ten times what an answer may take here.
func TestAssetsAreCompressedOnce(t *testing.T) { // not parallel: what others allocate would be counted, too
	r := &rig{TB: t, pages: statuspage.New(statuspage.Options{})}
	ask := func() { r.get("/s/-/reader.js?0123", header("Accept-Encoding", "gzip")) }
	ask()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		ask()
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / 100; took > 100_000 {
		t.Errorf("an answer takes %d bytes", took)
	}
}
