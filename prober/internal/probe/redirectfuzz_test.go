package probe

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

// judgeRedirect follows an answer if it leads elsewhere, and holds what must be true of the
// request that is made then.
func judgeRedirect(t *testing.T, h *httpVisitor, response *http.Response) {
	t.Helper()
	next, bad := redirect(response, h.first)
	if next == nil || !bad.none() {
		return
	}
	r, bad := h.follow(h.first, next, response.StatusCode, nil)
	if !bad.none() {
		if bad.reason != uptime.ReasonNone && bad.reason != uptime.ReasonRedirectBlocked {
			t.Fatalf("%+v", bad)
		}
		return
	}
	judgeRequest(t, h, r)
}

// judgeRequest holds that a request is one request, to one host, with nothing in it that was
// meant for another.
func judgeRequest(t *testing.T, h *httpVisitor, r *request) {
	t.Helper()
	reader := bufio.NewReader(bytes.NewReader(r.bytes))
	read, err := http.ReadRequest(reader)
	if err != nil {
		t.Fatalf("%q is no request: %v", r.bytes, err)
	}
	body, err := io.ReadAll(read.Body)
	rest, _ := io.ReadAll(reader)
	if err != nil || len(rest) > 0 || string(body) != r.body {
		t.Fatalf("%q is a body of %q, and then %q, %v", r.bytes, body, rest, err)
	}
	head, _, _ := bytes.Cut(r.bytes, []byte("\r\n\r\n"))
	lines := len(h.lines(r)) + 3 // the first one, Host, and Connection
	if r.body != "" || r.method == http.MethodPost || r.method == http.MethodPut || r.method == http.MethodPatch {
		lines++
	}
	if n := bytes.Count(head, []byte("\n")) + 1; n != lines || read.Host != r.at.header || read.Method != r.method || len(read.TransferEncoding) > 0 {
		t.Fatalf("%q has %d lines, should have %d, for %q", head, n, lines, r.at.header)
	}
	own := sameOrigin(r.at, h.first.at)
	if carries := read.Header.Get("X-Mine") != "" || read.Header.Get("Authorization") != "" || strings.Contains(r.body, canary); carries && !own || own != r.own {
		t.Fatalf("%q goes to %s, own: %v", r.bytes, r.url, r.own)
	}
	if r.at.port == 0 || r.at.host == "" || strings.ContainsAny(r.at.host, " \r\n\x00/?#@") || r.at.secure != (r.config != nil) {
		t.Fatalf("%+v", r.at)
	}
}

// FuzzRedirect follows redirects to anywhere, with cookies that were set on the way.
func FuzzRedirect(f *testing.F) {
	for _, location := range []string{
		"/next", "//b.test/", "https://a.test/x", "http://a.test:80/", "http://A.TEST/", "http://[::1%25eth0]:8080/a", "http://u:p@b.test/?q#f", "javascript:alert(1)", "file:///etc/passwd", "?", "#",
		"http://a.test\\@b.test/", "http:///x", "http://a.test:0/", "http://127.1/", "http://bücher.test/ü?ü", "http://b.test/%0d%0aX: y", "http://b.test/\r\nX: y", "gopher://b.test", "http:b.test", "http://a.test/ x", "?a b", "/y? HTTP/1.0",
	} {
		f.Add(location, "a=b; Path=/", uint16(302))
		f.Add(location, "sid=\"x y\"; Domain=b.test; Secure", uint16(308))
	}
	_, h := fuzzTarget(f, "POST", false)
	f.Fuzz(func(t *testing.T, location, cookie string, status uint16) {
		response := &http.Response{StatusCode: int(status), Header: http.Header{"Location": {location}}}
		next, bad := redirect(response, h.first)
		if next == nil || !bad.none() {
			return
		}
		if next.User != nil || next.Fragment != "" {
			t.Fatalf("%q leads to %s", location, next)
		}
		jar := newJar()
		for _, from := range []string{h.first.url, next.String()} {
			if u, err := parseTarget(from); err == nil {
				jar.SetCookies(u, (&http.Response{Header: http.Header{"Set-Cookie": {cookie}}}).Cookies())
			}
		}
		r, bad := h.follow(h.first, next, response.StatusCode, jar)
		if !bad.none() {
			return
		}
		if scheme := r.where().Scheme; scheme != "http" && scheme != "https" {
			t.Fatalf("%q leads to a URL of %q", location, scheme)
		}
		if r.where().User != nil {
			t.Fatalf("%q leads to %s", location, r.url)
		}
		judgeRequest(t, h, r)
		back := h.first.where()
		back.RawQuery = ""                          // of which nobody else knows what is secret
		further, bad := h.follow(r, back, 308, nil) // back again: what left the origin stays away
		if bad.none() && !r.own && (further.own || strings.Contains(string(further.bytes), canary)) {
			t.Fatalf("after %q the way back carries %q", location, further.bytes)
		}
	})
}

func newJar() *cookiejar.Jar {
	jar, _ := cookiejar.New(nil) // never an error
	return jar
}
