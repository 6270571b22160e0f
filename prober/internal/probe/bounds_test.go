package probe

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// zipped is text as gzip.
func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// emptyBlocks is the beginning of a gzip stream that decodes to nothing for ever (RFC 1951
// §3.2.4).
func emptyBlocks(n int) []byte {
	head := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	return append(head, bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, n)...)
}

// A coding within another must not make more work than the bytes on the wire are worth: what
// lies between them is bounded too.
func TestCodingInACodingIsBounded(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for name, c := range map[string]struct {
		blocks int
		want   uptime.Failure
	}{
		"much between": {1 << 20, uptime.FailureTooLarge},
		"little":       {1 << 10, uptime.FailureProtocol}, // its end is missing
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := zipped(t, emptyBlocks(c.blocks))
			check := checkOf(servePlain(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip, gzip")
				_, _ = w.Write(body)
			})))
			check.Spec = uptime.Spec{Assertions: []uptime.Assertion{{Source: "body", Op: "contains", Value: "x"}}}.Text()
			verify(t, New(options(l)).Look(t.Context(), check), c.want, 200)
		})
	}
}

// servePlain serves over HTTP/1.1.
func servePlain(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// What is read over HTTP/3 is bounded on the wire too.
func TestHTTP3BodyIsBoundedOnTheWire(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	sent := make(chan int, 10)
	blocks := emptyBlocks(6000)
	url := startHTTP3(t, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		total, err := w.Write(blocks)
		for err == nil {
			var n int
			n, err = w.Write(blocks[10:])
			total += n
		}
		sent <- total
	}))
	check := checkOf(url)
	check.Timeout = 3 * time.Second
	check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}.Text()
	o := New(options(l)).Look(t.Context(), check)
	if n := <-sent; n > 1<<20 {
		t.Errorf("%d bytes were taken: %v %v", n, o.Failure, o.Message)
	}
}

// A body that does not come is a timeout over every protocol.
func TestSlowBodyIsATimeout(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, strings.Repeat("x", 50))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for name, c := range map[string]struct {
		url     string
		version uptime.HTTPVersion
	}{
		"HTTP/1.1": {servePlain(t, handler), ""},
		"HTTP/2":   {urlOf(t, l, "h2") + "/drip/100/100ms", uptime.HTTP2},
		"HTTP/3":   {startHTTP3(t, l, handler), uptime.HTTP3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf(c.url)
			check.Timeout = time.Second
			check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: c.version}}.Text()
			begin := time.Now()
			o := New(options(l)).Look(t.Context(), check)
			verify(t, o, uptime.FailureTimeout, 200)
			endsInTime(t, check, begin)
		})
	}
}
