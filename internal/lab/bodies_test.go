package lab

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// answers reads what the plain and the TLS server answer to a path, to the end of
// the connection.
func answers(t *testing.T, l *Lab, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range []net.Conn{dial(t, l, "plain"), dialTLS(t, l, "tls")} {
		answer, err := ask(c, get(path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		all[map[bool]string{true: "plain", false: "tls"}[bare(c) == c]] = answer
	}
	return all
}

func TestBodies(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, want := range map[string]string{
		"/until-close/4": "\r\nConnection: close\r\n\r\n\x00\x00\x00\x00",
		"/length/9/2":    "\r\nContent-Length: 9\r\n\r\n\x00\x00",
		"/length/1/3":    "\r\nContent-Length: 1\r\n\r\n\x00\x00\x00",
		"/close":         "",
		"/malformed":     "this is not HTTP\r\n\r\n",
		"/cut":           "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf",
		"/cut-headers":   "\r\nX-Ha",
	} {
		for server, answer := range answers(t, l, path) {
			if !strings.HasSuffix(answer, want) || want == "" && answer != "" {
				t.Errorf("%s %s: %q", server, path, answer)
			}
		}
	}
	for path, want := range map[string]int{"/chunked/5000": 5000, "/until-close/70000": 70_000} {
		response, err := http.ReadResponse(bufio.NewReader(dialAnd(t, l, path)), nil)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		if err != nil || len(content) != want || response.ContentLength != -1 {
			t.Errorf("%s: %d bytes, length %d, %v", path, len(content), response.ContentLength, err)
		}
	}
}

// dialAnd asks the plain server for a path.
func dialAnd(t *testing.T, l *Lab, path string) net.Conn {
	t.Helper()
	c := dial(t, l, "plain")
	if _, err := io.WriteString(c, get(path)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestResets(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, most := range map[string]string{"/reset": "", "/reset-body": halfBody, "/reset-headers": halfHead, "/raw/reset/SFRUUA": "HTTP"} {
		for _, c := range []net.Conn{dial(t, l, "plain"), dialTLS(t, l, "tls")} {
			answer, err := ask(c, get(path))
			if !errors.Is(err, syscall.ECONNRESET) || !strings.HasPrefix(most, answer) {
				t.Errorf("%s: %q, %v", path, answer, err)
			}
		}
	}
}

// recorder keeps what was read below TLS.
type recorder struct {
	net.Conn
	seen []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.seen = append(r.seen, p[:n]...)
	return n, err
}

// TestCutRudely looks at the type of the last record, which TLS 1.3 would hide.
func TestCutRudely(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, want := range map[string]byte{"/cut": 21, "/cut-rudely": 23} { // an alert, application data
		below := &recorder{Conn: dial(t, l, "tls")}
		c := tls.Client(below, &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS12})
		if answer, err := ask(c, get(path)); err != nil || answer != halfBody {
			t.Errorf("%s: %q, %v", path, answer, err)
		}
		var last byte
		for rest := below.seen; len(rest) > 5; rest = rest[5+(int(rest[3])<<8|int(rest[4])):] {
			last = rest[0]
		}
		if last != want {
			t.Errorf("%s: the last record is of type %d", path, last)
		}
	}
}

// TestEndless reads some of what has no end, leaves, and looks at how much the
// lab was able to hand out: not much more.
func TestEndless(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for path, opening := range map[string]string{
		"/endless/chunked":  "HTTP/1.1 200 OK\r\n",
		"/endless/length":   "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nx",
		"/endless/close":    "HTTP/1.1 200 OK\r\n\r\nx",
		"/endless-chunk":    chunked + "3;x=x",
		"/endless-trailers": chunked + "3\r\nok\n\r\n0\r\nX-Trailer: x",
		"/endless-header":   "HTTP/1.1 200 OK\r\nX-Filler: x",
		"/endless-headers":  "HTTP/1.1 200 OK\r\nX-Filler: x",
		"/endless-interim":  earlyHints + earlyHints,
	} {
		c := dialAnd(t, l, path)
		answer := make([]byte, 1<<20)
		if _, err := io.ReadFull(c, answer); err != nil || !strings.HasPrefix(string(answer), opening) {
			t.Errorf("%s: %.200q, %v", path, answer, err)
		}
		_ = c.Close()
		sent := sentAtLeast(t, l, path, 1<<20)
		t.Logf("%s: read 1,048,576, sent %d", path, sent)
		if sent > 2<<20 {
			t.Errorf("%s: sent %d bytes to a client that read a MiB", path, sent)
		}
	}
}

func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	begin := time.Now()
	for server, answer := range answers(t, l, "/slow-headers/20/5ms") {
		if answer != "HTTP/1.1 200 OK\r\nX-Filler: "+strings.Repeat("x", 20)+"\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n" {
			t.Errorf("%s: %q", server, answer)
		}
	}
	if took := time.Since(begin); took < 200*time.Millisecond {
		t.Errorf("two times 20 waits of 5 ms took %v", took)
	}
	for _, answer := range answers(t, l, "/slow-headers/20/soon") {
		if !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
			t.Errorf("%q", answer)
		}
	}
}
