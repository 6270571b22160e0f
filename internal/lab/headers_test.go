package lab

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	for path, good := range map[string]func(http.Header) bool{
		"/headers/50000":      func(h http.Header) bool { return len(h.Get("X-Filler-0")) == 1000 && len(h) > 50 },
		"/many-headers/3000":  func(h http.Header) bool { return len(h["X"]) == 3000 },
		"/header-line/100000": func(h http.Header) bool { return len(h.Get("X-Filler")) == 100_000 },
		"/cookie/flood/500":   func(h http.Header) bool { return len(h["Set-Cookie"]) == 500 },
	} {
		response, err := client.Get(l.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || !good(response.Header) {
			t.Errorf("%s: %d with %d headers", path, response.StatusCode, len(response.Header))
		}
	}
}

func TestInterim(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for server, answer := range answers(t, l, "/interim/3") {
		if answer != earlyHints+goOn+earlyHints+plainOK {
			t.Errorf("%s: %q", server, answer)
		}
	}
}

// TestOdd: what is in the table arrives byte for byte, and then the end.
func TestOdd(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	names := Odd()
	if len(names) < 70 {
		t.Errorf("only %d names", len(names))
	}
	for _, name := range names {
		answer, err := ask(dial(t, l, "plain"), get("/odd/"+name))
		if want := oddAnswers()[name]; answer != want || want == "" || err != nil {
			t.Errorf("%s: %q instead of %q, %v", name, answer, want, err)
		}
	}
	for name, want := range map[string]string{
		"fold":               "\r\nX-A: a\r\n b\r\n",
		"length-and-chunked": "\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n0\r\n\r\n",
		"bare-lf":            "200 OK\nContent-Length: 3\n\nok\n",
		"body-204":           "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nok\n",
		"chunk-negative":     "\r\n\r\n-3\r\nok\n\r\n0\r\n\r\n",
	} {
		if !strings.Contains(oddAnswers()[name], want) {
			t.Errorf("%s: %q", name, oddAnswers()[name])
		}
	}
	// HEAD gets the same: a body where none may be.
	if answer, err := ask(dial(t, l, "plain"), "HEAD /odd/body-head HTTP/1.1\r\nHost: lab.test\r\n\r\n"); err != nil || !strings.HasSuffix(answer, "\r\n\r\nok\n") {
		t.Errorf("HEAD: %q, %v", answer, err)
	}
	if answer, err := ask(dial(t, l, "plain"), "HEAD /ok HTTP/1.1\r\nHost: lab.test\r\nConnection: close\r\n\r\n"); err != nil || !strings.HasSuffix(answer, "\r\n\r\n") || !strings.Contains(answer, "Content-Length: 3\r\n") {
		t.Errorf("HEAD: %q, %v", answer, err)
	}
}

func TestRaw(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	const text = "any \x00\xff bytes\r\n"
	for server, answer := range answers(t, l, "/raw/close/"+base64.URLEncoding.EncodeToString([]byte(text))) {
		if answer != text {
			t.Errorf("%s: %q", server, answer)
		}
	}
	c := dialAnd(t, l, "/raw/hang/"+base64.RawURLEncoding.EncodeToString([]byte(text)))
	got := make([]byte, len(text))
	if _, err := c.Read(got); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if answer, err := ask(dial(t, l, "plain"), get("/raw/close/*")); err != nil || !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
		t.Errorf("%q, %v", answer, err)
	}
}
